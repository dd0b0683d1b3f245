//! stdio: one JSON-RPC message a line.
//!
//! Owns: lines and their limit, requests that run beside each other, cancelling them, and ending with the
//! input. Must never write anything but messages to the output: logs go elsewhere.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id as TaskId, JoinSet};
use tokio::time::timeout;

use super::reply;
use super::{
    Answer, Dispatcher, Id, Message, Notification, Refusal, Request, Stop, Stopper, Subscription,
};
use crate::access::Caller;

/// Answers waiting for the output. Whoever finds it full waits: the client reads when it likes.
const ANSWERS_MAX: usize = 64;

/// Why serving ended other than by the end of the input.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The input failed.
    #[error("cannot read messages from the input")]
    Read(#[source] io::Error),
    /// The output failed; most often nobody reads it any more.
    #[error("cannot write messages to the output")]
    Write(#[source] io::Error),
}

/// Serves one client until its input ends or `stop` is said; then finishes what is in flight, within
/// `drain_deadline`, and ends the open subscriptions with their result.
pub async fn serve<R, W>(
    dispatcher: Arc<Dispatcher>,
    caller: Caller,
    input: R,
    output: W,
    mut stop: Stop,
    drain_deadline: Duration,
) -> Result<(), StdioError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (answers, queue) = mpsc::channel(ANSWERS_MAX);
    let mut writer = tokio::spawn(write(output, queue));
    let mut client = Client {
        line_bytes_max: dispatcher.settings().body_bytes_max,
        dispatcher,
        caller: Arc::new(caller),
        answers,
        running: Running::default(),
        ending: Stopper::new(),
    };
    let read = tokio::select! {
        read = client.read(BufReader::new(input)) => read,
        // Out here, so that it is heard even while the client does not take its answers.
        () = stop.stopping() => Ok(()),
        // The output is gone: nobody is left to answer.
        written = &mut writer => return finished(written),
    };
    let Client {
        answers,
        mut running,
        ending,
        ..
    } = client;
    drop(answers);
    ending.stop();
    let drained = timeout(drain_deadline, running.finish()).await;
    if drained.is_err() {
        tracing::warn!("calls in flight were cut off at the end of the input");
        running.tasks.shutdown().await;
    }
    // Every sender is gone: the writer ends when it has written what is queued.
    let written = if let Ok(written) = timeout(drain_deadline, &mut writer).await {
        finished(written)
    } else {
        writer.abort();
        Err(StdioError::Write(io::ErrorKind::TimedOut.into()))
    };
    read.and(written)
}

fn finished(written: Result<io::Result<()>, tokio::task::JoinError>) -> Result<(), StdioError> {
    match written {
        Ok(written) => written.map_err(StdioError::Write),
        Err(error) => Err(StdioError::Write(io::Error::other(error))),
    }
}

/// Writes whole lines, one after the other. A cancelled request can never leave half a line behind.
async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut queue: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(mut line) = queue.recv().await {
        line.push(b'\n');
        output.write_all(&line).await?;
        if queue.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}

/// What runs for the client, and under which id.
#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    by_id: HashMap<Id, AbortHandle>,
    ids: HashMap<TaskId, Id>,
}

impl Running {
    fn forget(&mut self, task: TaskId) {
        if let Some(id) = self.ids.remove(&task) {
            self.by_id.remove(&id);
        }
    }

    async fn ended(&mut self) {
        match self.tasks.join_next_with_id().await {
            Some(Ok((task, ()))) => self.forget(task),
            Some(Err(error)) => self.forget(error.id()),
            None => std::future::pending().await,
        }
    }

    async fn finish(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

struct Client {
    dispatcher: Arc<Dispatcher>,
    caller: Arc<Caller>,
    line_bytes_max: usize,
    answers: mpsc::Sender<Vec<u8>>,
    running: Running,
    /// Tells the subscriptions that the input has ended.
    ending: Stopper,
}

impl Client {
    async fn read<R: AsyncBufRead + Unpin>(&mut self, input: R) -> Result<(), StdioError> {
        let mut lines = Lines::new(input, self.line_bytes_max);
        loop {
            let line = tokio::select! {
                biased;
                () = self.running.ended() => continue,
                line = lines.next() => line.map_err(StdioError::Read)?,
            };
            match line {
                Line::End => return Ok(()),
                Line::TooLong => {
                    self.refuse(None, &Refusal::TooLarge(self.line_bytes_max))
                        .await;
                }
                Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {}
                Line::Whole(bytes) => self.take(&bytes).await,
            }
        }
    }

    async fn take(&mut self, bytes: &[u8]) {
        match Message::read(bytes) {
            Ok(Message::Request(request)) => self.begin(request).await,
            Ok(Message::Notification(notification)) => self.notified(&notification),
            Err((id, refusal)) => self.refuse(id.as_ref(), &refusal).await,
        }
    }

    async fn begin(&mut self, request: Request) {
        if self.running.by_id.contains_key(&request.id) {
            let why = "a request with this id is still running".to_owned();
            let refusal = Refusal::InvalidRequest(why);
            return self.refuse(Some(&request.id), &refusal).await;
        }
        if self.running.tasks.len() >= self.dispatcher.settings().stdio_requests_max {
            let refusal = Refusal::Busy("too many requests are running");
            return self.refuse(Some(&request.id), &refusal).await;
        }
        let id = request.id.clone();
        let run = run(
            Arc::clone(&self.dispatcher),
            Arc::clone(&self.caller),
            request,
            self.answers.clone(),
            self.ending.listener(),
        );
        let task = self.running.tasks.spawn(run);
        self.running.ids.insert(task.id(), id.clone());
        self.running.by_id.insert(id, task);
    }

    /// A cancelled request gets no answer.
    fn notified(&mut self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let id = notification.params.get("requestId").and_then(Id::read);
        if let Some(task) = id.and_then(|id| self.running.by_id.remove(&id)) {
            // Forgotten at once, not when the task has ended: the id may be used again.
            self.running.ids.remove(&task.id());
            task.abort();
        }
    }

    async fn refuse(&self, id: Option<&Id>, refusal: &Refusal) {
        send(&self.answers, reply::error(id, refusal)).await;
    }
}

/// One request, from its message to its answer in the queue.
async fn run(
    dispatcher: Arc<Dispatcher>,
    caller: Arc<Caller>,
    request: Request,
    answers: mpsc::Sender<Vec<u8>>,
    ending: Stop,
) {
    match dispatcher.request(request, None, &caller).await {
        Answer::Message { body, .. } => send(&answers, body).await,
        Answer::Accepted => {}
        Answer::Listen(subscription) => listen(subscription, &answers, ending).await,
    }
}

async fn listen(mut subscription: Subscription, answers: &mpsc::Sender<Vec<u8>>, mut ending: Stop) {
    send(answers, subscription.acknowledged()).await;
    loop {
        tokio::select! {
            biased;
            () = ending.stopping() => return send(answers, subscription.ended()).await,
            () = subscription.changed() => send(answers, subscription.tools_changed()).await,
        }
    }
}

/// Queues one line. When the writer is gone there is nobody to tell; serving ends on its own.
async fn send(answers: &mpsc::Sender<Vec<u8>>, body: Vec<u8>) {
    let _ = answers.send(body).await;
}

enum Line {
    Whole(Vec<u8>),
    /// Over the limit; all of it was read and thrown away.
    TooLong,
    End,
}

/// Lines of bounded length. What was read of a line is kept here, so that dropping the future loses nothing.
struct Lines<R> {
    input: R,
    bytes_max: usize,
    begun: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    fn new(input: R, bytes_max: usize) -> Self {
        Self {
            input,
            bytes_max,
            begun: Vec::new(),
            too_long: false,
        }
    }

    /// The next line without its end. Input that ends inside a line ends that line too.
    async fn next(&mut self) -> io::Result<Line> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                return Ok(if self.too_long || !self.begun.is_empty() {
                    self.take()
                } else {
                    Line::End
                });
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            if self.too_long || self.begun.len() + part.len() > self.bytes_max {
                self.too_long = true;
                self.begun = Vec::new();
            } else {
                self.begun.extend_from_slice(part);
            }
            let consumed = end.map_or(read.len(), |end| end + 1);
            self.input.consume(consumed);
            if end.is_some() {
                return Ok(self.take());
            }
        }
    }

    fn take(&mut self) -> Line {
        if std::mem::take(&mut self.too_long) {
            Line::TooLong
        } else {
            Line::Whole(std::mem::take(&mut self.begun))
        }
    }
}
