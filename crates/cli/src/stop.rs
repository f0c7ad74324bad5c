//! Signals that ask to stop. They raise a flag and nothing else: whoever loops looks at it, so that files and temporary files are left as they should be.

use crate::failure::Failure;
use signal_hook::SigId;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Set once a file is being written: what comes later is not heard.
static TOO_LATE: AtomicBool = AtomicBool::new(false);

struct Watch {
    /// The signal that came, or 0.
    raised: Arc<AtomicUsize>,
    /// Whether the next signal ends the process, and what sets it.
    again: Arc<AtomicBool>,
    arming: Vec<SigId>,
}

/// From now on the signals to interrupt and to terminate raise the flag instead of ending the process. The second one ends it: nobody should be deaf to an
/// interrupt because it waits to write to a pipe that nobody reads.
pub(crate) fn watch() {
    watching();
}

fn watching() -> &'static Watch {
    WATCH.get_or_init(|| {
        let (raised, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let mut arming = Vec::new();
        for signal in SIGNALS {
            // In this order: what ends the process looks at the flag before it is raised. A signal that cannot be caught ends the process, as ever.
            let _ = signal_hook::flag::register_conditional_default(*signal, Arc::clone(&again));
            arming.extend(signal_hook::flag::register(*signal, Arc::clone(&again)));
            let _ = signal_hook::flag::register_usize(*signal, Arc::clone(&raised), *signal as usize);
        }
        // A limit on the size of files is an error like a full disk, not the end.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        Watch { raised, again, arming }
    })
}

/// The last moment to stop before a file is written: an error if a signal has come. Later ones are not heard, because one in the middle would leave a temporary
/// file behind, and one after it would let the exit code deny what was written.
pub(crate) fn last_moment() -> Result<(), Failure> {
    let watch = watching();
    watch.arming.iter().for_each(|id| {
        signal_hook::low_level::unregister(*id);
    });
    watch.again.store(false, Ordering::SeqCst);
    if signal().is_some() {
        return Err(Failure::new("stopped by a signal; nothing was written"));
    }
    TOO_LATE.store(true, Ordering::SeqCst);
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
