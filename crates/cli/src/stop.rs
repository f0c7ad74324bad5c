//! Signals that ask to stop. They raise a flag and nothing else: whoever loops looks at it, so that files and temporary files are left as they should be.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

static RAISED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on the signals to interrupt and to terminate raise the flag instead of ending the process. The second one ends it: nobody should be deaf to an
/// interrupt because it waits to write to a pipe that nobody reads.
pub(crate) fn watch() {
    RAISED.get_or_init(|| {
        let raised = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            // In this order: what ends the process looks at the flag before it is raised. A signal that cannot be caught ends the process, as ever.
            let _ = signal_hook::flag::register_conditional_default(*signal, Arc::clone(&again));
            let _ = signal_hook::flag::register(*signal, Arc::clone(&again));
            let _ = signal_hook::flag::register_usize(*signal, Arc::clone(&raised), *signal as usize);
        }
        // A limit on the size of files is an error like a full disk, not the end.
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        raised
    });
}

#[cfg(unix)]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// The signal that asked to stop, if one did.
pub(crate) fn signal() -> Option<u8> {
    let raised = RAISED.get()?.load(Ordering::Relaxed);
    u8::try_from(raised).ok().filter(|signal| *signal > 0)
}
