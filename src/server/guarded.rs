//! A connection under two deadlines that the HTTP library does not keep.
//!
//! Owns: cutting off a client that never says which HTTP it speaks, and one that stops taking what is sent
//! to it. Must never look at the bytes.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// After this many bytes it is decided whether a connection speaks HTTP/1 or HTTP/2, and the library's own
/// deadlines hold.
const HELLO_BYTES: usize = 24;

pub(super) struct Guarded<S> {
    inner: S,
    hello: Option<Pin<Box<Sleep>>>,
    hello_bytes: usize,
    stall_deadline: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Guarded<S> {
    pub(super) fn new(inner: S, hello_deadline: Duration, stall_deadline: Duration) -> Self {
        Self {
            inner,
            hello: Some(Box::pin(sleep(hello_deadline))),
            hello_bytes: 0,
            stall_deadline,
            stalled: None,
        }
    }

    /// Passes on the outcome of writing, unless nothing was taken for too long.
    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stalled = None;
            // Whoever is answered has said enough.
            self.hello = None;
            return outcome;
        }
        let deadline = self.stall_deadline;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(deadline)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(context, buffer);
        let Some(hello) = &mut self.hello else {
            return outcome;
        };
        if outcome.is_pending() {
            return match hello.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            };
        }
        self.hello_bytes += buffer.filled().len() - before;
        if self.hello_bytes >= HELLO_BYTES {
            self.hello = None;
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.written(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.written(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(context);
        match outcome {
            // Flushing a socket is always done; it says nothing about the client.
            Poll::Ready(_) => outcome,
            Poll::Pending => self.written(context, Poll::Pending),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_shutdown(context);
        self.written(context, outcome)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const SHORT: Duration = Duration::from_millis(30);
    const LONG: Duration = Duration::from_mins(10);

    #[tokio::test]
    async fn who_says_nothing_is_cut_off() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = Guarded::new(ours, SHORT, LONG);
        theirs.write_all(b"PRI * HT").await.unwrap();
        let error = ours.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn who_has_said_enough_is_not() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = Guarded::new(ours, SHORT, LONG);
        theirs.write_all(&[b'x'; HELLO_BYTES]).await.unwrap();
        ours.read_exact(&mut [0; HELLO_BYTES]).await.unwrap();
        let waited = tokio::time::timeout(SHORT * 4, ours.read_u8()).await;
        assert!(waited.is_err(), "still waiting, not cut off");
    }

    #[tokio::test]
    async fn who_takes_nothing_is_cut_off() {
        let (ours, theirs) = duplex(16);
        let mut ours = Guarded::new(ours, LONG, SHORT);
        let error = ours.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }
}
