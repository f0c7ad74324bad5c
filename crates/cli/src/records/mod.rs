//! The path from bytes to keys: sources, records, keys, batches (docs/design/records.md).
//!
//! ```text
//! let mut records = Records::open(&args.records, &args.inputs)?;
//! loop {
//!     match records.next() {
//!         Event::Batch(batch, _) => for (record, key) in batch.iter() { .. },
//!         Event::Idle => out.flush()?,
//!         Event::Header(_) | Event::InputEnded { .. } | Event::Deadline => {}
//!         Event::Stopped | Event::End => break,
//!     }
//! }
//! ```
//! Problems with an input or a record are reported on standard error and counted; everything else
//! is read. [`Records::complete`] says whether there was any problem.

mod ahead;
mod answers;
mod args;
mod csv;
mod extraction;
mod feed;
mod found;
mod habit;
mod json;
mod key;
mod line;
mod near;
mod quotes;
mod selected;
mod shortfall;
mod source;
mod sources;
mod split;
mod splitter;
#[cfg(test)]
mod tests;
mod whole;

pub(crate) use answers::{Answers, Lookup};
pub(crate) use args::RecordArgs;
pub(crate) use extraction::{Extraction, KeysOf};
pub(crate) use found::Batch;
pub(crate) use habit::Habit;
pub(crate) use json::without_line;
pub(crate) use selected::{count_selected, is_selected};
pub(crate) use shortfall::add_no_shortfall;
pub(crate) use source::{PACKING_BYTES, check_not_output, for_tools, is_filter, packing};
pub(crate) use sources::{Source, common_label};
pub(crate) use whole::{Limits, count, insert_all};

use crate::failure::{Failure, Shown, note};
use crate::inputs::{is_stdin, name};
use crate::progress::Progress;
use crate::report::plural;
use crate::stop;
use ahead::Ahead;
use answers::Work;
use feed::{Block, Feed, Message, Waited};
use found::Found;
use habit::Habits;
use splitter::Splitter;
use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use whole::total_bytes;

/// How long a wait may last before signals are checked again.
const TICK: Duration = Duration::from_millis(50);

/// How many keys a filter processes at once. With this number, switching between keys and records
/// costs almost nothing, and 64 KiB of hashes fit into the L2 cache together with the block.
pub(crate) const HASHED: usize = 4096;

/// The byte order mark of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// How many skipped records of an input are reported individually.
const SHOWN: usize = 5;

/// An event while reading.
pub(crate) enum Event<'a> {
    /// Records with their keys, and the requested answers about the keys.
    Batch(Batch<'a>, &'a Answers),
    /// The first record of a CSV input, which names the columns.
    Header(&'a [u8]),
    /// Bytes without a key that are to be passed on unchanged; only if this was
    /// [requested](Records::passing).
    Passed(&'a [u8]),
    /// No input is available now, or a message must be written to standard error. This is a good
    /// moment to flush the output.
    Idle,
    /// An input has ended; `is_read` if it could be opened, and read to its end.
    InputEnded { is_read: bool },
    /// The time set with [`Records::wake_at`] has come.
    Deadline,
    /// A signal asked to stop, and all complete records that had been read by then have been
    /// processed.
    Stopped,
    /// All inputs have ended.
    End,
}

/// The records of all inputs.
pub(crate) struct Records {
    paths: Vec<PathBuf>,
    feed: Feed,
    splitter: Splitter,
    columns: ahead::Shared,
    noun: &'static str,
    block: Block,
    /// The position in the block at which reading continues, and the position at which the last
    /// batch of the block began.
    at: usize,
    from: usize,
    found: Found,
    work: Arc<Work>,
    answers: Answers,
    header: Vec<u8>,
    passed: Vec<u8>,
    passed_told: bool,
    /// The state of the current input: its index, whether none of it has been read yet, whether
    /// some of it cannot be read, and the number of records skipped in it.
    input: usize,
    untouched: bool,
    failed_here: bool,
    skipped_here: u64,
    /// The result of reading the current input, once its end was reached but some of its bytes have
    /// not been split yet.
    ending: Option<io::Result<()>>,
    /// Whether the splitter was already told that the input has ended, and has therefore returned
    /// the last record.
    flushed: bool,
    notes: VecDeque<String>,
    silent: bool,
    /// Whether a signal came; bytes that the reading thread had read by then are still processed.
    stopping: bool,
    stopped: bool,
    idle_told: bool,
    deadline: Option<Instant>,
    progress: Progress,
    /// The common form of the first keys that were read.
    habits: Habits,
    read: u64,
    skipped: u64,
    failed_inputs: u64,
    /// How many of these are compressed and damaged, so that some of their records may be wrong.
    doubtful_inputs: u64,
}

impl Records {
    /// Begins to read these inputs, or standard input if there are none. From now on, signals are
    /// caught.
    pub(crate) fn open(args: &RecordArgs, paths: &[PathBuf]) -> Result<Records, Failure> {
        Records::start(args, paths, false, Found::default(), Arc::new(|_, _| ()))
    }

    /// Like [`open`](Self::open), with work that the `--threads` threads do for every batch, in any
    /// order.
    pub(crate) fn answering(
        args: &RecordArgs,
        paths: &[PathBuf],
        work: impl Fn(Batch<'_>, &mut Answers) + Send + Sync + 'static,
    ) -> Result<Records, Failure> {
        Records::start(args, paths, false, Found::default(), Arc::new(work))
    }

    /// Like [`answering`](Self::answering), for subcommands that must not lose anything: records
    /// without keys are passed on, too, as records or as [`Event::Passed`].
    pub(crate) fn passing(
        args: &RecordArgs,
        paths: &[PathBuf],
        work: impl Fn(Batch<'_>, &mut Answers) + Send + Sync + 'static,
    ) -> Result<Records, Failure> {
        Records::start(args, paths, false, Found { passing: true, ..Found::default() }, Arc::new(work))
    }

    fn start(args: &RecordArgs, paths: &[PathBuf], silent: bool, found: Found, work: Arc<Work>) -> Result<Records, Failure> {
        let paths = or_stdin(paths);
        let splitter = args.splitter()?;
        stop::watch();
        let columns = ahead::Shared::new(Mutex::new(splitter.columns()));
        let splitters = (0..args.threads()).map(|_| args.splitter()).collect::<Result<Vec<_>, _>>()?;
        let ahead = if splitters.len() > 1 { Some(Ahead::start(splitters, splitter.ends(), &columns, found.passing, &work)) } else { None };
        let feed = ahead.transpose().and_then(|ahead| Feed::start(&paths, args.reading(), ahead));
        let feed = feed.map_err(|error| Failure::new(format_args!("cannot start a thread: {error}")))?;
        let progress =
            if args.shows_progress() && !silent { Progress::over_bytes(args.noun(), total_bytes(&paths)) } else { Progress::none() };
        Ok(Records {
            paths,
            feed,
            splitter,
            columns,
            noun: args.noun(),
            block: Block::default(),
            at: 0,
            from: 0,
            found,
            work,
            answers: Answers::default(),
            header: Vec::new(),
            passed: Vec::new(),
            passed_told: true,
            input: 0,
            untouched: true,
            failed_here: false,
            skipped_here: 0,
            ending: None,
            flushed: false,
            notes: VecDeque::new(),
            silent,
            stopping: false,
            stopped: false,
            idle_told: false,
            deadline: None,
            progress,
            habits: Habits::new(args.may_strip_returns()),
            read: 0,
            skipped: 0,
            failed_inputs: 0,
            doubtful_inputs: 0,
        })
    }

    /// The next event. All inputs have been read when this returns `End`.
    pub(crate) fn next(&mut self) -> Event<'_> {
        loop {
            if !std::mem::replace(&mut self.passed_told, true) {
                return Event::Passed(&self.passed);
            }
            if self.stopped && self.at == self.block.length {
                return Event::Stopped;
            }
            if stop::signal().is_some() && !self.stopping {
                self.stopping = true;
                self.feed.want_from(usize::MAX);
            }
            if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                self.deadline = None;
                return Event::Deadline;
            }
            if !self.notes.is_empty() {
                if self.told_idle_now() {
                    return Event::Idle;
                }
                self.notes.drain(..).for_each(note);
            }
            if self.find() {
                self.idle_told = false;
                // The last line of an input may lack its end, and thus a carriage return.
                if !self.flushed {
                    let mut habits = self.habits;
                    habits.examine(self.batch());
                    self.habits = habits;
                }
                self.read += self.found.with_keys();
                self.progress.at(self.feed.bytes_read(), self.read);
                return Event::Batch(self.batch(), &self.answers);
            }
            if self.take_header() {
                return Event::Header(&self.header);
            }
            if !self.notes.is_empty() || !self.passed_told || self.at < self.block.length {
                continue;
            }
            if self.ending.is_some() {
                if self.flushed {
                    return Event::InputEnded { is_read: self.end_input() };
                }
                continue;
            }
            match self.feed.poll() {
                Waited::For(message) => self.take(message),
                Waited::Over => return Event::End,
                Waited::TimedOut if self.stopping => match self.feed.wait(TICK) {
                    Waited::For(message) => self.take(message),
                    _ => self.stopped = true,
                },
                Waited::TimedOut if self.told_idle_now() => return Event::Idle,
                Waited::TimedOut => match self.feed.wait(self.patience()) {
                    Waited::For(message) => self.take(message),
                    Waited::Over => return Event::End,
                    Waited::TimedOut => {}
                },
            }
        }
    }

    /// Requests one `Deadline` event at this time.
    pub(crate) fn wake_at(&mut self, time: Option<Instant>) {
        self.deadline = time;
    }

    /// Returns true only for the first call after a batch, in which case the caller should return
    /// `Event::Idle`.
    fn told_idle_now(&mut self) -> bool {
        !std::mem::replace(&mut self.idle_told, true)
    }

    fn patience(&self) -> Duration {
        self.deadline.map_or(TICK, |deadline| TICK.min(deadline.saturating_duration_since(Instant::now())))
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Bytes(block) => {
                let old = std::mem::replace(&mut self.block, block);
                self.feed.recycle(old);
                self.at = 0;
                if std::mem::take(&mut self.untouched) {
                    self.note_mark();
                }
                *ahead::lock(&self.columns) = self.splitter.columns();
            }
            // The input may have ended because of the signal, so a line without its end may be
            // incomplete.
            Message::InputEnded(_) if self.stopping => self.stopped = true,
            Message::InputEnded(result) => self.ending = Some(result),
        }
    }

    /// Finds records in the rest of the block, or the last record of an input that has ended.
    /// Returns whether any record was found.
    fn find(&mut self) -> bool {
        self.split_again();
        self.found.clear();
        if self.at < self.block.length {
            if self.take_ahead() {
                return !self.found.spans.is_empty();
            }
            self.split();
        } else if self.ending.is_some() && !self.flushed {
            self.flush();
        }
        self.note_found();
        if self.found.spans.is_empty() {
            self.split_again();
            return false;
        }
        let mut answers = std::mem::take(&mut self.answers);
        (self.work)(self.batch(), &mut answers);
        self.answers = answers;
        true
    }

    /// Uses the results of other threads, if they are the next in order.
    fn take_ahead(&mut self) -> bool {
        let done = &mut *self.block.done;
        if done.part.is_empty() || self.at != done.part.start {
            return false;
        }
        if !done.follows(&self.splitter) {
            done.part = 0..0;
            return false;
        }
        (self.from, self.at) = (done.part.start, done.part.end);
        std::mem::swap(&mut self.found, &mut done.found);
        std::mem::swap(&mut self.answers, &mut done.answers);
        self.splitter.adopt(done.records, &mut self.found);
        self.note_found();
        true
    }

    fn split(&mut self) {
        self.from = self.at;
        let end = if self.at < self.block.done.part.start { self.block.done.part.start } else { self.block.length };
        let text = &self.block.bytes[self.from..end];
        match self.splitter.split(text, &mut self.found) {
            Ok(used) => self.at += used,
            Err(why) => self.abandon(&why),
        }
    }

    /// Finds the last record of an input, which may lack a terminator.
    fn flush(&mut self) {
        // The record before a failure may be incomplete.
        if let Some(Err(error)) = self.ending.take() {
            let is_damaged = error.kind() == source::DAMAGED;
            self.doubtful_inputs += u64::from(is_damaged);
            let has_header = self.splitter.has_header();
            let after = match self.splitter.abandon() {
                0 => String::new(),
                1 if has_header => ", after the header line".to_owned(),
                1 if is_damaged => format!(", after 1 {0}; this {0} may be wrong", self.noun),
                after if is_damaged => format!(", after {}; some of them may be wrong", plural(after, self.noun)),
                after => format!(", after {}", plural(after, self.noun)),
            };
            self.fail(&format_args!("{error}{after}"));
            (self.flushed, self.ending) = (true, Some(Ok(())));
            return;
        }
        self.ending = Some(Ok(()));
        self.splitter.finish(&mut self.found);
        self.flushed = self.found.again.is_none();
    }

    /// Ends the input; returns whether it was read completely.
    fn end_input(&mut self) -> bool {
        if self.skipped_here > SHOWN as u64 {
            let more = crate::report::count(self.skipped_here - SHOWN as u64);
            let fate = if self.found.passing { "printed unchanged" } else { "skipped" };
            let message = format!("{}: {more} more {fate}", self.input_name());
            self.note(message);
        }
        self.ending = None;
        self.habits.begin_input();
        (self.input, self.untouched, self.skipped_here, self.flushed) = (self.input + 1, true, 0, false);
        !std::mem::take(&mut self.failed_here)
    }

    /// Warns that a byte order mark is part of the first record. There is no warning if CSV columns
    /// have names, because the mark before the first name is removed.
    fn note_mark(&mut self) {
        let begins = self.block.bytes[..self.block.length].starts_with(MARK);
        if begins && !self.splitter.has_header() {
            let message = format!(
                "warning: {}: it begins with a UTF-8 byte order mark, which counts as part of its first {}; `sed '1s/^\\xEF\\xBB\\xBF//'` removes it",
                self.input_name(),
                self.noun
            );
            self.note(message);
        }
    }

    fn fail(&mut self, why: &dyn std::fmt::Display) {
        self.failed_inputs += 1;
        self.failed_here = true;
        let message = format!("{}: {why}", self.input_name());
        self.note(message);
    }

    fn note(&mut self, message: String) {
        if !self.silent {
            self.notes.push_back(message);
        }
    }

    fn input_name(&self) -> String {
        name(self.paths.get(self.input).map_or(Path::new("-"), PathBuf::as_path)).shown()
    }

    fn batch(&self) -> Batch<'_> {
        let text = if self.found.carried { self.splitter.carry() } else { &self.block.bytes[self.from..self.block.length] };
        Batch { spans: &self.found.spans, text, keys: &self.found.keys, numbers: &self.found.numbers }
    }

    fn take_header(&mut self) -> bool {
        self.splitter.take_header().map(|header| self.header = header).is_some()
    }

    /// Reports the problems that splitting has found.
    fn note_found(&mut self) {
        self.note_troubles(self.found.passing);
        if !self.found.passed.is_empty() {
            (self.passed, self.passed_told) = (std::mem::take(&mut self.found.passed), false);
        }
    }

    /// Reports the problems of records, which were passed on or skipped.
    fn note_troubles(&mut self, passed_on: bool) {
        let more = std::mem::take(&mut self.found.more_troubles);
        for trouble in std::mem::take(&mut self.found.troubles) {
            self.skipped += 1;
            self.skipped_here += 1;
            if self.skipped_here <= SHOWN as u64 {
                let fate = if passed_on { "printed unchanged" } else { "skipped" };
                let message = format!("{0}: {1} {2} {3}; this {1} was {fate}", self.input_name(), self.noun, trouble.record, trouble.why);
                self.note(message);
            }
        }
        self.skipped += more;
        self.skipped_here += more;
    }

    /// Splits the text again that was wrongly taken as part of a broken record. This is done only
    /// after the records of the current block have been used, because they refer to that block.
    fn split_again(&mut self) {
        if let Some(mut again) = self.found.again.take() {
            again.extend_from_slice(&self.block.bytes[self.at..self.block.length]);
            let old = std::mem::replace(&mut self.block, Block::of(again));
            self.feed.recycle(old);
            self.at = 0;
        }
    }

    /// Discards the rest of the current input, and the broken records that were found with it.
    fn abandon(&mut self, why: &str) {
        self.found.passed.clear();
        self.note_troubles(false);
        self.fail(&why);
        self.feed.want_from(self.input + 1);
        (self.block.length, self.at, self.flushed) = (0, 0, true);
        self.found.clear();
        self.splitter.abandon();
        // Blocks that were already read are discarded, too.
        while self.ending.is_none() && stop::signal().is_none() {
            match self.feed.wait(TICK) {
                Waited::For(Message::Bytes(block)) => self.feed.recycle(block),
                Waited::For(Message::InputEnded(_)) | Waited::Over => self.ending = Some(Ok(())),
                Waited::TimedOut => {}
            }
        }
    }
}

fn or_stdin(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() { vec![PathBuf::from("-")] } else { paths.to_vec() }
}

/// Whether the only input is a terminal, which is probably not intended.
pub(crate) fn is_terminal(paths: &[PathBuf]) -> bool {
    paths.iter().all(|path| is_stdin(path)) && io::stdin().is_terminal()
}
