//! Two functions that need unsafe code. The first finds out which standard streams were closed
//! before Rust's runtime opened `/dev/null` in their place. The second keeps the runtime from
//! printing backtraces.
#![allow(unsafe_code, reason = "needed to run a function before the runtime starts, and to change the environment")]

/// Turns backtraces off. With `RUST_BACKTRACE` set, a failed allocation makes the runtime print a
/// backtrace while it holds a lock. Printing the backtrace needs memory, too. If this memory cannot
/// be allocated, the same thread waits for the lock forever. Without backtraces, the command prints
/// a message and exits with code 2; a panic still reports its file and line.
///
/// This function must be called first in `main`.
pub(crate) fn no_backtraces() {
    // SAFETY: `main` has just begun and there is no other thread that could read the environment
    // meanwhile.
    unsafe { std::env::remove_var("RUST_BACKTRACE") };
}

/// Explains aborts to the user. If memory cannot be allocated, the runtime prints a message and
/// aborts; this function adds a second message, which gives the cause and a remedy.
///
/// This function must be called before anything can abort.
#[cfg(unix)]
pub(crate) fn explain_aborts() {
    const WHY: &[u8] =
        b"truebloom: there is not enough memory, or the process was aborted; output that was not yet written is lost. Choose smaller sizes, or give the process more memory\n";
    let explain = || {
        // If standard error is closed, the user cannot be told.
        let _ = rustix::io::write(rustix::stdio::stderr(), WHY);
    };
    // SAFETY: a signal interrupts whatever runs; the action makes one system call on a stream that
    // is never closed, allocates nothing and takes no lock.
    let _ = unsafe { signal_hook::low_level::register(signal_hook::consts::SIGABRT, explain) };
}

#[cfg(not(unix))]
pub(crate) fn explain_aborts() {}

#[cfg(target_os = "linux")]
mod streams {
    use std::sync::atomic::{AtomicBool, Ordering};

    static STDIN: AtomicBool = AtomicBool::new(false);
    static STDOUT: AtomicBool = AtomicBool::new(false);

    extern "C" fn note() {
        use rustix::{io::fcntl_getfd, stdio};
        STDIN.store(fcntl_getfd(stdio::stdin()).is_err(), Ordering::Relaxed);
        STDOUT.store(fcntl_getfd(stdio::stdout()).is_err(), Ordering::Relaxed);
    }

    // SAFETY: the section holds pointers to functions of this type, which the loader calls once,
    // before `main`. `note` does not use the runtime: it makes two system calls and stores two
    // flags, allocates nothing and cannot panic.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static NOTE: extern "C" fn() = note;

    pub(crate) fn stdin_was_closed() -> bool {
        STDIN.load(Ordering::Relaxed)
    }

    pub(crate) fn stdout_was_closed() -> bool {
        STDOUT.load(Ordering::Relaxed)
    }
}

/// Systems other than Linux, where the state of the streams at the start is unknown.
#[cfg(not(target_os = "linux"))]
mod streams {
    pub(crate) fn stdin_was_closed() -> bool {
        false
    }

    pub(crate) fn stdout_was_closed() -> bool {
        false
    }
}

pub(crate) use streams::{stdin_was_closed, stdout_was_closed};
