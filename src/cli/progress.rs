//! Progress on stderr: a bar on a terminal, a line every five seconds otherwise.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::{grouped, stderr_line};
use crate::catalog::{Operation, Sink, SinkError};

/// How often a line is written when nobody watches a bar.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// A sink that counts what passes through it.
pub(super) struct Progress<'a> {
    inner: &'a mut dyn Sink,
    bar: ProgressBar,
    started: Instant,
    last_line: Instant,
    count: u64,
    bars: bool,
}

impl<'a> Progress<'a> {
    /// Counts operations on their way into `inner`.
    pub(super) fn over(inner: &'a mut dyn Sink) -> Self {
        let bars = std::io::stderr().is_terminal();
        let bar = if bars {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        // The template is a constant; should it be refused, the default style is as good.
        if let Ok(style) = ProgressStyle::with_template(
            "{spinner} {human_pos} operations read, {per_sec}, {elapsed}",
        ) {
            bar.set_style(style);
        }
        let now = Instant::now();
        Self {
            inner,
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
}

impl Sink for Progress<'_> {
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError> {
        self.count += 1;
        self.bar.inc(1);
        if !self.bars && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            let rate = self.count as f64 / self.started.elapsed().as_secs_f64();
            stderr_line(&format!(
                "{} operations read, {rate:.0} a second",
                grouped(self.count)
            ));
        }
        self.inner.operation(operation)
    }

    fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), SinkError> {
        self.inner.rename(ordinal, name)
    }
}
