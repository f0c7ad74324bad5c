//! Progress on standard error, only where a person looks at it.

use crate::report::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::time::Duration;

/// A running count with its rate.
pub(crate) struct Progress {
    bar: ProgressBar,
    pending: u64,
}

/// Steps between two looks at the clock.
const STRIDE: u64 = 1 << 14;

impl Progress {
    /// `what` is counted: "lines". With a `total` the time left is shown too.
    pub(crate) fn new(what: &str, total: Option<u64>) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress { bar: ProgressBar::hidden(), pending: 0 };
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(4));
        let template = match total {
            Some(_) => format!("{{human_pos}} of {{human_len}} {what}, {{rate}} a second, {{eta}} left"),
            None => format!("{{human_pos}} {what}, {{rate}} a second"),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.with_key("rate", whole_rate));
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress { bar, pending: 0 }
    }

    pub(crate) fn step(&mut self) {
        self.pending += 1;
        if self.pending == STRIDE {
            self.add(STRIDE);
            self.pending = 0;
        }
    }

    pub(crate) fn add(&self, steps: u64) {
        self.bar.inc(steps);
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
