//! Accounts for the records and inputs that were read and those that could not be read, and reports
//! the result at the end.

use super::{Habit, Records};
use crate::failure::{Failure, Shown, note};
use crate::report::{Report, plural};
use std::path::Path;
use std::process::ExitCode;

impl Records {
    /// The number of records read so far, without those that were skipped.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// The common form of the first keys.
    pub(crate) fn habit(&self) -> Option<Habit> {
        self.habits.habit()
    }

    /// Whether no record was skipped and no input failed.
    pub(crate) fn complete(&self) -> bool {
        self.skipped == 0 && self.failed_inputs == 0
    }

    /// The message if a signal asked to stop.
    pub(crate) fn stopped_message(&self) -> Option<String> {
        self.stopping.then(|| format!("stopped by a signal after {}", plural(self.read, self.noun)))
    }

    /// Whether a number of records may be printed. If nothing could be read, a script must not take
    /// 0 as an answer.
    pub(crate) fn has_answer(&self) -> bool {
        self.read > 0 || self.failed_inputs == 0 && !self.stopping
    }

    /// Returns an error if the result should not be written to a file: a signal came, or something
    /// went wrong and no record could be read.
    pub(crate) fn worth_writing(&self) -> Result<(), Failure> {
        if let Some(message) = self.stopped_message() {
            return Err(Failure::new(format_args!("{message}; nothing was written")));
        }
        if self.read == 0 && !self.complete() {
            let what = if self.skipped > 0 {
                if self.skipped == 1 {
                    format!("the only {} was skipped", self.noun)
                } else {
                    format!("all {} were skipped", plural(self.skipped, self.noun))
                }
            } else {
                format!("no {} could be read", self.noun)
            };
            return Err(Failure::new(format_args!("{what}; nothing was written")));
        }
        Ok(())
    }

    /// Reports what is missing in a file that was written from these records, and returns the exit
    /// code.
    pub(crate) fn told_shortfall(&self, file: &Path) -> ExitCode {
        if self.complete() {
            return ExitCode::SUCCESS;
        }
        let (noun, unread) = (self.noun, self.failed_inputs - self.doubtful_inputs);
        let was = |number: u64| if number == 1 { "was" } else { "were" };
        let skipped = (self.skipped > 0).then(|| format!("{} {} skipped", plural(self.skipped, noun), was(self.skipped)));
        let failed = (unread > 0).then(|| format!("{} could not be read completely, so {noun}s may be missing", plural(unread, "input")));
        let doubtful = self.doubtful_inputs;
        let doubt =
            (doubtful > 0).then(|| format!("{} {} damaged, so {noun}s may be wrong or missing", plural(doubtful, "input"), was(doubtful)));
        let problems: Vec<String> = skipped.into_iter().chain(failed).chain(doubt).collect();
        note(format_args!("{} was written, but {}", file.shown(), problems.join("; ")));
        ExitCode::from(2)
    }

    /// Adds fields about records and inputs that could not be read.
    pub(crate) fn add_shortfall(&self, report: &mut Report) {
        report.field("skipped", self.skipped).field("failed_inputs", self.failed_inputs);
    }
}

/// Adds the same fields as [`Records::add_shortfall`], for a run that has nothing to read.
pub(crate) fn add_no_shortfall(report: &mut Report) {
    report.field("skipped", 0).field("failed_inputs", 0);
}
