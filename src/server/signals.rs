//! What the operating system says: stop, and hang up.
//!
//! Owns: turning signals into a [`Stopper`] and a stream. Must never act on them itself.

use std::io;

use crate::mcp::Stopper;

/// Says stop at the first SIGTERM or SIGINT and "now" at the second. The signals are caught from the moment
/// this returns. Must be called inside a runtime.
#[cfg(unix)]
pub fn stop_on_signals(stopper: Stopper) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let mut said = false;
        loop {
            tokio::select! {
                Some(()) = terminate.recv() => {}
                Some(()) = interrupt.recv() => {}
                else => return,
            }
            if said {
                tracing::warn!("stopping at once");
                stopper.stop_now();
                return;
            }
            tracing::info!("stopping when what is in flight is finished");
            stopper.stop();
            said = true;
        }
    });
    Ok(())
}

/// Says stop at the first Ctrl-C and "now" at the second. Must be called inside a runtime.
#[cfg(not(unix))]
pub fn stop_on_signals(stopper: Stopper) -> io::Result<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopper.stop();
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            stopper.stop_now();
        }
    });
    Ok(())
}

/// Each SIGHUP since the last one asked for; several at once are one. Where there is no such signal, none.
#[derive(Debug)]
pub struct Hangups {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Hangups {
    /// Catches SIGHUP from now on. Must be called inside a runtime.
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            signal: signal(SignalKind::hangup())?,
        })
    }

    /// Catches nothing: there is no such signal here.
    #[cfg(not(unix))]
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one. Dropping the future loses nothing.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for ever.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// What asks a command to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Interrupt {
    /// The exit code shells expect: 128 and the number of the signal.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// Ctrl-C and SIGTERM for a command that does not serve.
#[derive(Debug)]
pub struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Interrupts {
    /// Catches both from now on. Must be called inside a runtime.
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Ctrl-C is caught when it is first waited for.
    #[cfg(not(unix))]
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Interrupt {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Interrupt::Interrupted,
            Some(()) = self.terminate.recv() => Interrupt::Terminated,
            else => std::future::pending().await,
        }
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> Interrupt {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Interrupt::Interrupted
    }
}
