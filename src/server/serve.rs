//! Binding, accepting, and stopping.
//!
//! Owns: the accept loop and every limit of a connection. Must never queue: beyond a limit the answer is a
//! quick 503.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Settings;
use super::gate::{self, Gate, RETRY_AFTER_SECONDS};
use super::guarded::Guarded;
use super::health;
use crate::mcp::Stop;

/// Connections the kernel holds until they are accepted.
const BACKLOG: u32 = 1024;

/// Bytes of a request head; also what one idle HTTP/1 connection may buffer.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The same for HTTP/2, after decompression. The protocol's own headers are below 1 KiB.
const H2_HEADERS_BYTES_MAX: u32 = 16 * 1024;

/// Requests of one HTTP/2 connection at the same time.
const H2_STREAMS_MAX: u32 = 128;

/// A silent HTTP/2 connection is asked this often whether anyone is there.
const H2_PING_INTERVAL: Duration = Duration::from_secs(20);

/// Connections over the limit that are being told so; beyond this they are just closed.
const REFUSALS_MAX: usize = 64;

/// How long telling one may take.
const REFUSAL_DEADLINE: Duration = Duration::from_secs(2);

/// What is read of a refused connection so that its client sees the answer, in bytes.
const REFUSAL_READ_BYTES_MAX: usize = 64 * 1024;

/// How long the last answers get to leave after the last call ended.
const FLUSH_DEADLINE: Duration = Duration::from_secs(5);

/// Pause after the system had no descriptor left for a connection: trying again at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The address cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another process has it.
    #[error("{0} is in use by another process; choose another port, or 0 for a free one")]
    InUse(SocketAddr),
    /// The operating system says no.
    #[error("cannot listen on {addr}")]
    Other {
        /// The address asked for.
        addr: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A bound socket that accepts nothing yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    addr: SocketAddr,
    settings: Settings,
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Everything in flight was finished.
    Clean,
    /// Something was cut off at a deadline, or because stopping at once was asked for.
    CutOff,
}

/// Binds the address of the settings. Must be called inside a runtime.
pub fn bind(settings: Settings) -> Result<Bound, BindError> {
    let addr = settings.listen;
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse(addr),
        _ => BindError::Other { addr, source },
    };
    let listener = listen(addr).map_err(failed)?;
    let addr = listener.local_addr().map_err(failed)?;
    Ok(Bound {
        listener,
        addr,
        settings,
    })
}

fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = match addr {
        SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
        SocketAddr::V6(_) => tokio::net::TcpSocket::new_v6()?,
    };
    // A restart must not wait for connections of the last run to be forgotten. (On Windows the same option
    // would let a second process take the port.)
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

impl Bound {
    /// The address that is listened on, with the port that was taken.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves `routes` until `stop` is said. Then `/readyz` turns false and new requests are refused, while
    /// those in flight are finished within the drain deadline. `ready` tells whether a generation serves.
    pub async fn serve(
        self,
        routes: Router,
        ready: impl Fn() -> bool + Send + Sync + 'static,
        mut stop: Stop,
    ) -> Drained {
        let gate = Gate::new(self.settings.requests_max, stop.clone());
        let app = routes
            .layer(middleware::from_fn_with_state(gate.clone(), gate::pass))
            .merge(health::routes(Arc::new(ready), stop.clone()));
        let mut loop_ = AcceptLoop::new(self.settings, app);
        let drain_deadline = loop_.settings.drain_deadline;
        let mut until = stop.clone();
        let calls = async {
            until.stopping().await;
            timeout(drain_deadline, gate.drained()).await.is_ok()
        };
        // Health is still told, and requests are still refused in words, until the last call has ended.
        let calls_ended = tokio::select! {
            ended = calls => ended,
            () = stop.now() => false,
            () = loop_.run(self.listener) => false,
        };
        let flushed = tokio::select! {
            flushed = loop_.finish() => flushed,
            () = stop.now() => false,
        };
        if calls_ended && flushed {
            Drained::Clean
        } else {
            Drained::CutOff
        }
    }
}

struct AcceptLoop {
    settings: Settings,
    app: Router,
    builder: auto::Builder<TokioExecutor>,
    graceful: GracefulShutdown,
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
    /// Dropping the loop drops the connections.
    connections: JoinSet<()>,
}

impl AcceptLoop {
    fn new(settings: Settings, app: Router) -> Self {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(settings.head_deadline)
            .max_buf_size(HEAD_BYTES_MAX);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(H2_STREAMS_MAX)
            .max_header_list_size(H2_HEADERS_BYTES_MAX)
            .keep_alive_interval(H2_PING_INTERVAL)
            .keep_alive_timeout(H2_PING_INTERVAL);
        let connections_max = settings.connections_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            app,
            builder,
            graceful: GracefulShutdown::new(),
            places: Arc::new(Semaphore::new(connections_max)),
            refusals: Arc::new(Semaphore::new(REFUSALS_MAX)),
            connections: JoinSet::new(),
            settings,
        }
    }

    /// Accepts for ever.
    async fn run(&mut self, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = self.connections.join_next() => continue,
            };
            match accepted {
                Ok((socket, _)) => self.take(socket),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn take(&mut self, socket: TcpStream) {
        // Answers are one write each; waiting to fill a packet only delays them. Failing costs no more.
        let _ = socket.set_nodelay(true);
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => self.begin(socket, place),
            Err(_) => {
                if let Ok(place) = Arc::clone(&self.refusals).try_acquire_owned() {
                    self.connections.spawn(refuse(socket, place));
                }
            }
        }
    }

    fn begin(&mut self, socket: TcpStream, place: OwnedSemaphorePermit) {
        let (head, stall) = (self.settings.head_deadline, self.settings.stall_deadline);
        let io = TokioIo::new(Guarded::new(socket, head, stall));
        let service = TowerToHyperService::new(self.app.clone());
        let connection = self.builder.serve_connection(io, service).into_owned();
        let connection = self.graceful.watch(connection);
        self.connections.spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                // A client that goes away in the middle is its own business.
                tracing::debug!(error = %error, "a connection ended early");
            }
        });
    }

    /// Ends idle connections, waits for the others to finish what they are sending.
    async fn finish(self) -> bool {
        let Self {
            graceful,
            mut connections,
            ..
        } = self;
        let finished = timeout(FLUSH_DEADLINE, graceful.shutdown()).await.is_ok();
        connections.shutdown().await;
        finished
    }
}

/// Tells a client over the limit to come back. Its request is read first, so that it hears the answer: a
/// socket closed with unread bytes is reset.
async fn refuse(mut socket: TcpStream, _place: OwnedSemaphorePermit) {
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nretry-after: {RETRY_AFTER_SECONDS}\r\n\
         content-type: text/plain; charset=utf-8\r\ncontent-length: 21\r\nconnection: close\r\n\r\n\
         too many connections\n"
    );
    let tell = async {
        let mut buffer = vec![0; 8 * 1024];
        let mut total = socket.read(&mut buffer).await?;
        socket.write_all(answer.as_bytes()).await?;
        socket.shutdown().await?;
        while total < REFUSAL_READ_BYTES_MAX {
            let read = socket.read(&mut buffer).await?;
            if read == 0 {
                break;
            }
            total += read;
        }
        Ok::<_, io::Error>(())
    };
    // However it ends, the connection is closed.
    let _ = timeout(REFUSAL_DEADLINE, tell).await;
}
