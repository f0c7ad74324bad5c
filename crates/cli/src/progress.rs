//! Progress on standard error, only where a person looks at it, and only of work that takes longer than a second.

use crate::report::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A running count with its rate.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// When work began; none once the bar is shown, or if it never will be.
    began: Option<Instant>,
    what: &'static str,
}

const PATIENCE: Duration = Duration::from_secs(1);

impl Progress {
    /// `what` is counted: "random keys". With a `total` the time left is shown too.
    pub(crate) fn new(what: &'static str, total: Option<u64>) -> Progress {
        let template = match total {
            Some(_) => format!("{{human_pos}} of {{human_len}} {what}, {{rate}} a second, {{eta}} left"),
            None => format!("{{human_pos}} {what}, {{rate}} a second"),
        };
        Progress::styled(what, total, &template)
    }

    /// Of work in equal parts, with a name: its share and the time left.
    pub(crate) fn of_parts(name: &'static str, parts: u64) -> Progress {
        Progress::styled("", Some(parts), &format!("{name}: {{percent}}% of the experiments, {{eta}} left"))
    }

    /// Of reading so many bytes, if that is known, in which there are `what`s.
    pub(crate) fn over_bytes(what: &'static str, total: Option<u64>) -> Progress {
        let template = match total {
            Some(_) => "{msg}, {binary_bytes_per_sec}, {percent}%, {eta} left",
            None => "{msg}, {binary_bytes_per_sec}",
        };
        Progress::styled(what, total, template)
    }

    /// Nothing to see.
    pub(crate) fn none() -> Progress {
        Progress { bar: ProgressBar::hidden(), began: None, what: "" }
    }

    fn styled(what: &'static str, total: Option<u64>, template: &str) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::none();
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", whole_rate));
        }
        Progress { bar, began: Some(Instant::now()), what }
    }

    /// So many more are done.
    pub(crate) fn add(&mut self, steps: u64) {
        self.show_if_long();
        self.bar.inc(steps);
    }

    /// So many bytes are read, and so many things found in them.
    pub(crate) fn at(&mut self, bytes: u64, found: u64) {
        if self.show_if_long() {
            self.bar.set_message(format!("{} {}s", count(found), self.what));
        }
        self.bar.set_position(bytes);
    }

    /// Runs what writes to standard error without mixing it with the bar.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Shows the bar once work has taken long; whether it is shown.
    fn show_if_long(&mut self) -> bool {
        if self.began.is_some_and(|began| began.elapsed() >= PATIENCE) {
            self.began = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(4));
            self.bar.enable_steady_tick(Duration::from_millis(500));
        }
        !self.bar.is_hidden()
    }
}

/// Steps a second, without the decimals that nobody reads.
fn whole_rate(state: &ProgressState, text: &mut dyn fmt::Write) {
    // Standard error has nobody to tell of an error of its own.
    let _ = text.write_str(&count(state.per_sec() as u64));
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
