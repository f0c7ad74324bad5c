//! Counting the lines of inputs, which may have no end.

use super::answer::{Answer, Asked};
use super::sizes::SizeArgs;
use super::sketch::{AnySketch, with_sketch};
use crate::failure::{Failure, Shown, warn};
use crate::filters;
use crate::lock::Lock;
use crate::output;
use crate::records::{self, Event, Habit, RecordArgs, Records};
use crate::stop;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use truebloom::Seed;
use truebloom::count_min::{ListedSketch, RowHashes, Sketch};

#[derive(clap::Args)]
pub(super) struct StreamArgs {
    /// Files of lines; with `-` or no file, read standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    asked: Asked,

    /// Print the list repeatedly: after this much time (10s, 5min, 1h) or this many records (1M)
    #[arg(long, value_name = "TIME|N", value_parser = every)]
    every: Option<Every>,

    /// Save the sketch, which consists of the counters and the list of keys, to a file
    #[arg(short = 'o', long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "save")]
    force: bool,

    /// Seed of the hash, up to 32 hexadecimal digits; random by default. Only sketches with the
    /// same seed can be merged
    #[arg(long, value_name = "HEX", value_parser = crate::cmd::create::seed)]
    seed: Option<Seed>,

    /// Hash with SipHash-1-3, for untrusted keys. Without this option, an attacker who has not seen
    /// the sketch can choose keys that share counters. The counts of these keys are then too high.
    /// Keep a saved sketch private: it contains the seed, which `count show --json` prints
    #[arg(long)]
    untrusted: bool,

    #[command(flatten)]
    size: SizeArgs,

    #[command(flatten)]
    records: RecordArgs,
}

/// The interval between two printed lists: a time, or a number of records.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Every {
    Time(Duration),
    Records(u64),
}

fn every(text: &str) -> Result<Every, String> {
    let wrong = || format!("`{text}` is neither a time (10s, 5min, 1h) nor a number (1000, 1M)");
    let records = || crate::args::count(text).ok().filter(|number| *number > 0).map(Every::Records).ok_or_else(wrong);
    crate::args::time(text).map(Every::Time).or_else(|_| records())
}

pub(super) fn run(args: &StreamArgs) -> Result<ExitCode, Failure> {
    if records::is_terminal(&args.inputs) {
        return Err(Failure::new("there is nothing to count: name files, or pipe lines in"));
    }
    // A list that is printed only at the end cannot be read as input, so the check is needed only
    // with --every.
    if args.every.is_some() {
        records::check_not_output(&args.inputs)?;
    }
    let lock = args.save.as_ref().map(|path| lock(args, path)).transpose()?;
    with_sketch!(empty(args)?, list => count(args, list, lock.as_ref()))
}

/// Locks the file to save to, which must not be one of the inputs.
fn lock(args: &StreamArgs, path: &Path) -> Result<Lock, Failure> {
    filters::check_not_input(path, &args.inputs, false)?;
    Lock::of_output(path, args.force)
}

/// An empty sketch to count with.
fn empty(args: &StreamArgs) -> Result<AnySketch, Failure> {
    let sizes = args.size.sizes(if args.asked.above.is_some() { 1 } else { args.asked.top })?;
    let hasher = filters::hasher(args.seed, args.untrusted)?;
    if args.size.two_hash {
        let sketch = Sketch::with_shape(sizes.shape, hasher).map_err(Failure::new)?;
        return Ok(AnySketch::TwoHash(listed(args, sketch, sizes.capacity)?));
    }
    let sketch = Sketch::with_shape(sizes.shape, hasher).map_err(Failure::new)?;
    Ok(AnySketch::Full(listed(args, sketch, sizes.capacity)?))
}

fn listed<R: RowHashes>(args: &StreamArgs, sketch: Sketch<R>, capacity: u64) -> Result<ListedSketch<R>, Failure> {
    let sketch = if args.size.conservative { sketch.with_conservative_update() } else { sketch };
    ListedSketch::new(sketch, capacity).map_err(Failure::new)
}

fn count<R: RowHashes>(args: &StreamArgs, mut list: ListedSketch<R>, lock: Option<&Lock>) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.save {
        args.records.extraction().keep(path, |label| list.set_label(label));
    }
    let mut records = Records::open(&args.records, &args.inputs)?;
    let mut reports = Reports { args, out: BufWriter::new(output::stdout()), printed: 0, next: None };
    records.wake_at(reports.next_time());
    reports.next = match args.every {
        Some(Every::Records(number)) => Some(number),
        _ => None,
    };
    loop {
        match records.next() {
            Event::Batch(batch, _) => {
                for (_, key) in batch.iter() {
                    list.add(key, 1);
                    if reports.next == Some(list.sketch().total()) {
                        reports.print(&list)?;
                    }
                }
            }
            Event::Deadline => {
                reports.print(&list)?;
                records.wake_at(reports.next_time());
            }
            Event::Header(_) | Event::Passed(_) | Event::Idle | Event::InputEnded { .. } => {}
            Event::Stopped | Event::End => break,
        }
    }
    if let Some(lock) = lock {
        // An endless stream ends only with a signal, so what was counted until then is saved.
        if records.stopped_message().is_none() {
            records.worth_writing()?;
        }
        lock.save(&stop::too_late(), |file| list.write_to(file))?;
    }
    let complete = reports.print(&list)?;
    finish(args, &records, complete)
}

fn finish(args: &StreamArgs, records: &Records, complete: bool) -> Result<ExitCode, Failure> {
    if let Some(habit @ Habit::SomeReturns) = records.habit() {
        warn(habit.hint());
    }
    if let Some(message) = records.stopped_message() {
        let saved = args.save.as_ref().map_or(String::new(), |path| format!("; {} contains all of them", path.shown()));
        return Err(Failure::new(format_args!("{message}{saved}")));
    }
    if !records.complete() {
        return Ok(args.save.as_ref().map_or(ExitCode::from(2), |path| records.told_shortfall(path)));
    }
    Ok(ExitCode::from(u8::from(!complete)))
}

/// Prints the list repeatedly while the inputs are read.
struct Reports<'a, W: Write> {
    args: &'a StreamArgs,
    out: W,
    printed: u64,
    /// The number of records after which the next list is due.
    next: Option<u64>,
}

impl<W: Write> Reports<'_, W> {
    fn print<R: RowHashes>(&mut self, list: &ListedSketch<R>) -> Result<bool, Failure> {
        let answer = Answer::of(list, &self.args.asked);
        if self.printed > 0 && !self.args.asked.json {
            self.out.write_all(b"\n")?;
        }
        answer.print(&self.args.asked, self.args.records.noun(), &mut self.out)?;
        self.out.flush()?;
        self.printed += 1;
        if let (Some(next), Some(Every::Records(number))) = (&mut self.next, self.args.every) {
            *next = next.saturating_add(number);
        }
        Ok(answer.is_complete())
    }

    fn next_time(&self) -> Option<Instant> {
        match self.args.every {
            Some(Every::Time(time)) => Instant::now().checked_add(time),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers() {
        assert_eq!(every("10s"), Ok(Every::Time(Duration::from_secs(10))));
        assert_eq!(every("1.5min"), Ok(Every::Time(Duration::from_secs(90))));
        assert_eq!(every("250ms"), Ok(Every::Time(Duration::from_millis(250))));
        assert_eq!(every("1M"), Ok(Every::Records(1_000_000)));
        for text in ["0", "0s", "-1s", "", "s", "1e400s", "1y", "infs", "NaNs"] {
            assert!(every(text).is_err(), "{text}");
        }
    }
}
