//! Ctrl-C and SIGTERM while an index is built.
//!
//! Owns: taking the unfinished build away and ending the process. Must never touch a generation that is
//! complete.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use tokio::sync::oneshot;

use super::output::stderr_line;
use crate::index;
use crate::server::Interrupts;

/// While this lives, a signal gives up the build in a directory and ends the process.
///
/// Writing an index takes long stretches that look at nothing else, so the signal is acted on beside them.
pub(super) struct Guard {
    is_interrupted: Arc<AtomicBool>,
    /// Dropped, it ends the thread.
    _lives: oneshot::Sender<()>,
}

impl Guard {
    /// Catches the signals from now on.
    pub(super) fn over_build_in(out: &Path) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let mut interrupts = {
            let _inside = runtime.enter();
            Interrupts::new().context("cannot catch signals")?
        };
        let (lives, mut over) = oneshot::channel::<()>();
        let is_interrupted = Arc::new(AtomicBool::new(false));
        let (out, told) = (out.to_path_buf(), Arc::clone(&is_interrupted));
        let wait = move || {
            let interrupt = runtime.block_on(async {
                tokio::select! {
                    interrupt = interrupts.next() => Some(interrupt),
                    _ = &mut over => None,
                }
            });
            if let Some(interrupt) = interrupt {
                told.store(true, Ordering::SeqCst);
                give_up(&out);
                std::process::exit(i32::from(interrupt.exit_code()));
            }
        };
        thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(wait)
            .context("cannot start a thread")?;
        Ok(Self {
            is_interrupted,
            _lives: lives,
        })
    }

    /// Passes on how the build ended. When a signal has taken it away this never returns: the process is
    /// about to end, and that its files are gone is not what went wrong.
    pub(super) fn settle<T>(&self, ended: T) -> T {
        while self.is_interrupted.load(Ordering::SeqCst) {
            thread::park();
        }
        ended
    }
}

fn give_up(out: &Path) {
    let what = if index::abandon_build(out) {
        "the unfinished index was taken away, what was there before is untouched"
    } else {
        "nothing was being written"
    };
    stderr_line(&format!("sezzlee: interrupted: {what}"));
}
