//! Progress on stderr: a bar on a terminal, a line every five seconds otherwise.

use std::io::{IsTerminal as _, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{grouped, stderr_line};
use crate::catalog::{Operation, Sink, SinkError};

/// How often a line is written when nobody watches a bar.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Bytes of sources that were read so far, of how many.
#[derive(Debug, Clone, Default)]
pub(super) struct Bytes {
    read: Arc<AtomicU64>,
    /// 0 when it is not known, as of URLs.
    total: u64,
}

impl Bytes {
    /// Counts toward the bytes of all sources.
    pub(super) fn of(total: u64) -> Self {
        Self {
            read: Arc::default(),
            total,
        }
    }

    /// Begins to count anew: what was read was in vain.
    pub(super) fn begin(&self) -> Self {
        self.read.store(0, Ordering::Relaxed);
        self.clone()
    }

    /// Counts what is read through a stream.
    pub(super) fn count(&self, inner: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Counted {
            inner,
            read: Arc::clone(&self.read),
        })
    }

    /// The share that was read, where it tells anything.
    fn share(&self) -> Option<f64> {
        let read = self.read.load(Ordering::Relaxed);
        (self.total > 0 && read > 0).then(|| (read as f64 / self.total as f64).min(1.0))
    }
}

struct Counted {
    inner: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A sink that counts what passes through it.
pub(super) struct Progress<'a> {
    inner: &'a mut dyn Sink,
    bytes: Bytes,
    bar: ProgressBar,
    started: Instant,
    last_line: Instant,
    count: u64,
    bars: bool,
}

/// Steps of the bar: thousandths of the bytes.
const BAR_STEPS: u64 = 1_000;

impl<'a> Progress<'a> {
    /// Counts operations on their way into `inner`, beside the bytes they are read from.
    pub(super) fn over(inner: &'a mut dyn Sink, bytes: Bytes) -> Self {
        let bars = std::io::stderr().is_terminal();
        let bar = if bars {
            ProgressBar::with_draw_target(Some(BAR_STEPS), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        let template = if bytes.total > 0 {
            "{bar:30} {percent:>3} %  {msg}, about {eta} left"
        } else {
            "{spinner} {msg}, {elapsed}"
        };
        // The template is a constant; should it be refused, the default style is as good.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let now = Instant::now();
        Self {
            inner,
            bytes,
            bar,
            started: now,
            last_line: now,
            count: 0,
            bars,
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }

    fn told(&self) -> String {
        let rate = self.count as f64 / self.started.elapsed().as_secs_f64().max(f64::EPSILON);
        format!(
            "{} operations read, {rate:.0} a second",
            grouped(self.count)
        )
    }

    /// What a line adds where nobody watches a bar: the share, and the time the rest takes at this rate.
    fn estimate(&self) -> String {
        self.bytes.share().map_or_else(String::new, |share| {
            let left = self.started.elapsed().as_secs_f64() * (1.0 - share) / share;
            format!(
                ", {:.0} % of the sources, about {left:.0} s left",
                share * 100.0
            )
        })
    }

    fn show(&mut self) {
        if self.bars {
            // The bar draws itself a few times a second, however often it is told.
            if self.count.is_multiple_of(256) {
                let share = self.bytes.share().unwrap_or(0.0);
                // A share lies in 0..=1.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0 to 1000"
                )]
                self.bar.set_position((share * BAR_STEPS as f64) as u64);
                self.bar.set_message(self.told());
            }
        } else if self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            stderr_line(&format!("{}{}", self.told(), self.estimate()));
        }
    }
}

impl Sink for Progress<'_> {
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError> {
        self.count += 1;
        self.show();
        self.inner.operation(operation)
    }

    fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), SinkError> {
        self.inner.rename(ordinal, name)
    }
}

/// Tells that the index is being written, until it is dropped: reading is over, and this takes long at a
/// million operations.
pub(super) struct Writing {
    bar: ProgressBar,
    /// Dropping it ends the thread that writes lines.
    _ended: mpsc::Sender<()>,
}

impl Writing {
    pub(super) fn begin() -> Self {
        let (ended, end) = mpsc::channel::<()>();
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner().with_message("writing the index");
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        } else {
            let started = Instant::now();
            std::thread::spawn(move || {
                while end.recv_timeout(LINE_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                    let seconds = started.elapsed().as_secs();
                    stderr_line(&format!("writing the index for {seconds} s"));
                }
            });
            ProgressBar::hidden()
        };
        Self { bar, _ended: ended }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_through_the_stream() {
        let bytes = Bytes::of(8);
        assert_eq!(bytes.share(), None);
        let mut stream = bytes.count(Box::new(&b"four"[..]));
        stream.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(bytes.share(), Some(0.5));
        // A source that grew meanwhile is not read more than whole.
        for _ in 0..3 {
            bytes
                .count(Box::new(&b"four"[..]))
                .read_to_end(&mut Vec::new())
                .unwrap();
        }
        assert_eq!(bytes.share(), Some(1.0));
        assert_eq!(Bytes::of(0).share(), None);
    }
}
