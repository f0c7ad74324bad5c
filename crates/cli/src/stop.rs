//! Signals that ask the program to stop. The signals only set a flag: loops check it, so that files
//! are left in a proper state and no temporary files remain.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

static WATCH: OnceLock<Watch> = OnceLock::new();

struct Watch {
    /// The number of the last signal, or 0.
    raised: Arc<AtomicUsize>,
    /// Whether the next signal ends the process.
    again: Arc<AtomicBool>,
    rules: Mutex<Rules>,
}

#[derive(Default)]
struct Rules {
    /// The number of files that are being written; while there are any, no signal ends the process.
    shields: usize,
    /// Whether enough time has passed since the first signal for a second one to end the process.
    armed: bool,
    /// The value of `raised` at the moment from which signals no longer stop the program; `None`
    /// before this moment.
    too_late: Option<usize>,
}

impl Watch {
    fn change(&self, change: impl FnOnce(&mut Rules)) {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut rules);
        self.again.store(rules.armed && rules.shields == 0, Ordering::SeqCst);
    }
}

/// A second signal counts only if it comes at least this long after the first. Some programs, such
/// as `timeout`, send one signal to the process and another to its group.
const ONE_WISH: Duration = Duration::from_secs(1);

/// Gives a failed allocation the exit code of other errors: the standard library reports it on
/// standard error and aborts.
pub(crate) fn exit_when_aborting() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 2, Arc::new(AtomicBool::new(true)));
}

/// Makes the signals for interrupt and terminate set a flag instead of ending the process. After a
/// while, a second signal ends the process. Such a second signal stops a process that waits to
/// write to a full pipe whose reader does not read.
pub(crate) fn watch() {
    watching();
}

/// Makes a write that exceeds the limit on the size of files an error, like a full disk, instead of
/// the end of the process.
pub(crate) fn survive_size_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

fn watching() -> &'static Watch {
    WATCH.get_or_init(|| {
        let (raised, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in SIGNALS {
            // A signal that cannot be caught ends the process as usual.
            let _ = signal_hook::flag::register_conditional_default(*signal, Arc::clone(&again));
            let _ = signal_hook::flag::register_usize(*signal, Arc::clone(&raised), *signal as usize);
        }
        // If no thread can be started, a second signal has no effect.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(arm);
        Watch { raised, again, rules: Mutex::default() }
    })
}

/// Allows the second signal to end the process, a while after the first.
fn arm() {
    let raised = || WATCH.get().is_some_and(|watch| watch.raised.load(Ordering::SeqCst) != 0);
    while !raised() {
        std::thread::sleep(ONE_WISH / 10);
    }
    std::thread::sleep(ONE_WISH);
    watching().change(|rules| rules.armed = true);
}

/// While a shield exists, no signal ends the process, because that would leave a temporary file
/// behind.
#[derive(Debug)]
pub(crate) struct Shield(());

impl Drop for Shield {
    fn drop(&mut self) {
        watching().change(|rules| rules.shields -= 1);
    }
}

/// Makes a shield: until it is dropped, signals are recorded but do not end the process.
pub(crate) fn shield() -> Shield {
    watching().change(|rules| rules.shields += 1);
    Shield(())
}

/// Makes a shield before a file is written. This call is the last moment at which a signal can stop
/// the program: if one has come, the result is an error. Later signals are ignored, because the
/// exit code would otherwise contradict what was written.
pub(crate) fn last_moment() -> Result<Shield, Failure> {
    let shield = too_late();
    if signal().is_some() { Err(Failure::new("stopped by a signal; nothing was written")) } else { Ok(shield) }
}

/// Makes a shield for a subcommand that saves its results when a signal comes. The signal that was
/// already received still counts as the reason for stopping.
pub(crate) fn too_late() -> Shield {
    let (shield, watch) = (shield(), watching());
    watch.change(|rules| rules.too_late = rules.too_late.or(Some(watch.raised.load(Ordering::SeqCst))));
    shield
}

#[cfg(unix)]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// The signal that asked the program to stop, if it came in time.
pub(crate) fn signal() -> Option<u8> {
    let watch = WATCH.get()?;
    let too_late = watch.rules.lock().unwrap_or_else(PoisonError::into_inner).too_late;
    let raised = too_late.unwrap_or_else(|| watch.raised.load(Ordering::SeqCst));
    u8::try_from(raised).ok().filter(|signal| *signal > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test sends a second signal a second after the first. The second signal ends the process,
    /// except while a file is being written.
    #[test]
    fn no_signal_ends_the_process_while_a_file_is_written() {
        let ends = || watching().again.load(Ordering::SeqCst);
        let first = shield();
        watching().change(|rules| rules.armed = true);
        assert!(!ends(), "the second signal came during the save");
        let second = too_late();
        drop(first);
        assert!(!ends(), "another file is being written");
        drop(second);
        assert!(ends(), "an output that nobody reads can be left");
        assert!(!(shield(), ends()).1);
        // Signals that come now stop nothing, because the files have been written.
        watching().raised.store(15, Ordering::SeqCst);
        assert_eq!(signal(), None);
    }
}
