//! Progress on standard error, only on a terminal, and only for work that takes longer than a
//! second.
//!
//! There is at most one progress line, and other output takes precedence: messages are written
//! above it, and it is removed before an answer.

use crate::report::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The progress line, if one is shown.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs code that writes to the terminal above the progress line.
pub(crate) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Removes the progress line for good, because everything that is printed from now on is the
/// answer.
pub(crate) fn end() {
    if let Some(bar) = shown().take() {
        bar.finish_and_clear();
    }
}

/// A running count with its speed.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// When work began; `None` if the bar is already shown, or must never be shown.
    began: Option<Instant>,
    /// When the line was last changed, and the number of steps since then.
    changed: Instant,
    steps: u64,
    what: &'static str,
}

const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two changes of the line.
const FRAME: Duration = Duration::from_millis(250);

impl Progress {
    /// Progress of a count; `what` names what is counted: "random keys". If a `total` is given, the
    /// remaining time is shown, too.
    pub(crate) fn new(what: &'static str, total: Option<u64>) -> Progress {
        let template = match total {
            Some(_) => format!("{{human_pos}} of {{human_len}} {what}, {{rate}} per second, {{eta}} left"),
            None => format!("{{human_pos}} {what}, {{rate}} per second"),
        };
        Progress::styled(what, total, &template)
    }

    /// Progress of named work in equal parts: the finished share and the remaining time.
    pub(crate) fn of_parts(name: &'static str, parts: u64) -> Progress {
        Progress::styled("", Some(parts), &format!("{name}: {{percent}}% of the experiments, {{eta}} left"))
    }

    /// Shows how many bytes were read, out of `total` if that is known; `what` names the things
    /// that are found in them.
    pub(crate) fn over_bytes(what: &'static str, total: Option<u64>) -> Progress {
        let template = match total {
            Some(_) => "{msg}, {binary_bytes_per_sec}, {percent}%, {eta} left",
            None => "{msg}, {binary_bytes_per_sec}",
        };
        Progress::styled(what, total, template)
    }

    /// Progress that is never shown.
    pub(crate) fn none() -> Progress {
        Progress { bar: ProgressBar::hidden(), began: None, changed: Instant::now(), steps: 0, what: "" }
    }

    fn styled(what: &'static str, total: Option<u64>, template: &str) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::none();
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", whole_rate));
        }
        Progress { bar, began: Some(Instant::now()), changed: Instant::now(), steps: 0, what }
    }

    /// Adds completed steps.
    pub(crate) fn add(&mut self, steps: u64) {
        self.steps += steps;
        if self.is_due() {
            self.bar.inc(std::mem::take(&mut self.steps));
        }
    }

    /// Sets the number of bytes read, and of things found in them.
    pub(crate) fn at(&mut self, bytes: u64, found: u64) {
        if self.is_due() {
            self.bar.set_message(format!("{} {}s", count(found), self.what));
            self.bar.set_position(bytes);
        }
    }

    /// Whether the line should be changed now: the first change comes after some time, and later
    /// changes are slow enough to be read.
    fn is_due(&mut self) -> bool {
        if self.began.is_some_and(|began| began.elapsed() >= PATIENCE) {
            self.began = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(4));
            self.bar.enable_steady_tick(Duration::from_millis(500));
            *shown() = Some(self.bar.clone());
        } else if self.bar.is_hidden() || self.bar.is_finished() || self.changed.elapsed() < FRAME {
            return false;
        }
        self.changed = Instant::now();
        !self.bar.is_hidden()
    }
}

/// Progress of work that cannot be divided into steps: shows the name of the work and the elapsed
/// time.
pub(crate) struct Waiting {
    /// Dropping this value ends the thread that shows the line.
    ended: Option<mpsc::Sender<()>>,
    shows: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Starts showing `what`: "simulating guava".
    pub(crate) fn begin(what: String) -> Waiting {
        if !std::io::stderr().is_terminal() {
            return Waiting { ended: None, shows: None };
        }
        let (ended, is_ended) = mpsc::channel();
        let show = move || {
            // No message is ever sent: either the waiting time ends first, or the work does.
            if is_ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4)).with_message(what).with_elapsed(PATIENCE);
            if let Ok(style) = ProgressStyle::with_template("{msg}, {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(500));
            *shown() = Some(bar);
            let _ = is_ended.recv();
            end();
        };
        // If no thread can be started, no line is shown.
        Waiting { ended: Some(ended), shows: std::thread::Builder::new().name("progress".to_owned()).spawn(show).ok() }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.ended.take());
        // The thread removes the line before anything else is printed.
        self.shows.take().map(JoinHandle::join);
    }
}

/// Steps per second, without decimals.
fn whole_rate(state: &ProgressState, text: &mut dyn fmt::Write) {
    // An error of standard error itself cannot be reported.
    let _ = text.write_str(&count(state.per_sec() as u64));
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.began.is_none() && !self.bar.is_hidden() {
            end();
        }
    }
}
