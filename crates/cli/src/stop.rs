//! Signals that ask to stop. They raise a flag and nothing else: whoever loops looks at it, so that files and temporary files are left as they should be.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Set once a file is being written: what comes later is not heard.
static TOO_LATE: AtomicBool = AtomicBool::new(false);

struct Watch {
    /// The signal that came, or 0.
    raised: Arc<AtomicUsize>,
    /// Whether the next signal ends the process.
    again: Arc<AtomicBool>,
}

/// A second signal counts so long after the first: some programs, `timeout` among them, send one to the process and one more to its group.
const ONE_WISH: Duration = Duration::from_secs(1);

/// From now on the signals to interrupt and to terminate raise the flag instead of ending the process. A second one, a while later, ends it: nobody should be deaf
/// to an interrupt because it waits to write to a pipe that nobody reads.
pub(crate) fn watch() {
    watching();
}

fn watching() -> &'static Watch {
    WATCH.get_or_init(|| {
        let (raised, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in SIGNALS {
            // A signal that cannot be caught ends the process, as ever.
            let _ = signal_hook::flag::register_conditional_default(*signal, Arc::clone(&again));
            let _ = signal_hook::flag::register_usize(*signal, Arc::clone(&raised), *signal as usize);
        }
        // A limit on the size of files is an error like a full disk, not the end.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        let (first, second) = (Arc::clone(&raised), Arc::clone(&again));
        // Without a thread to spare, later signals are not heard.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || arm(&first, &second));
        Watch { raised, again }
    })
}

/// Lets the second signal end the process, a while after the first.
fn arm(first: &AtomicUsize, second: &AtomicBool) {
    while first.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(ONE_WISH / 10);
    }
    std::thread::sleep(ONE_WISH);
    second.store(true, Ordering::SeqCst);
    if TOO_LATE.load(Ordering::SeqCst) {
        second.store(false, Ordering::SeqCst);
    }
}

/// The last moment to stop before a file is written: an error if a signal has come. Later ones are not heard, because one in the middle would leave a temporary
/// file behind, and one after it would let the exit code deny what was written.
pub(crate) fn last_moment() -> Result<(), Failure> {
    let watch = watching();
    if signal().is_some() {
        return Err(Failure::new("stopped by a signal; nothing was written"));
    }
    // In this order, which `arm` undoes.
    TOO_LATE.store(true, Ordering::SeqCst);
    watch.again.store(false, Ordering::SeqCst);
    Ok(())
}

#[cfg(unix)]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// The signal that asked to stop, if one did in time.
pub(crate) fn signal() -> Option<u8> {
    if TOO_LATE.load(Ordering::SeqCst) {
        return None;
    }
    let raised = WATCH.get()?.raised.load(Ordering::SeqCst);
    u8::try_from(raised).ok().filter(|signal| *signal > 0)
}
