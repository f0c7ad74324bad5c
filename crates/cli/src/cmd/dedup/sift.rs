//! Lines are looked up in batches and printed in stretches.

use super::Args;
use super::filter::Filter;
use crate::records::{Batch, RecordArgs};
use std::io::{self, BufWriter, Write};
use std::time::{Duration, SystemTime};
use truebloom::{KeyHash, KeyHasher};

/// Keys whose bits are asked for before the first of them is looked up: the waits for memory
/// overlap, which makes it up to four times as fast.
const AHEAD: usize = 16;

/// The counts of this run.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Records with keys.
    pub(super) read: u64,
    /// Those of them that were new to what is remembered.
    pub(super) new: u64,
    pub(super) selected: u64,
}

/// What separates first occurrences from repeats, and where the selected ones go.
pub(super) struct Sift<'a, W: Write> {
    args: &'a Args,
    records: &'a RecordArgs,
    filter: Filter,
    out: BufWriter<W>,
    pub(super) tally: Tally,
    /// With --strict: the next line would have everything forgotten, so it was not taken.
    pub(super) full: bool,
    has_header: bool,
}

impl<'a, W: Write> Sift<'a, W> {
    pub(super) fn new(args: &'a Args, records: &'a RecordArgs, filter: Filter, out: W) -> Sift<'a, W> {
        let out = BufWriter::with_capacity(1 << 16, out);
        Sift { args, records, filter, out, tally: Tally::default(), full: false, has_header: false }
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(super) fn into_filter(self) -> Filter {
        self.filter
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Records, and the hashes of those that have keys.
    pub(super) fn batch(&mut self, batch: Batch<'_>, hashes: &[KeyHash]) -> io::Result<()> {
        self.filter.advance(now());
        let terminator = self.records.terminator();
        // The first of the selected lines that follow each other and are not printed yet.
        let mut stretch = None;
        hashes.iter().take(AHEAD).for_each(|hash| self.filter.prefetch(*hash));
        let mut keyed = 0;
        for index in 0..batch.len() {
            let hash = batch.key(index).and_then(|_| hashes.get(keyed));
            if self.args.strict && hash.is_some_and(|hash| self.would_overfill(*hash)) {
                self.full = true;
                return stretch.map_or(Ok(()), |begin| self.print(&batch, begin, index - 1));
            }
            if hash.is_some() {
                keyed += 1;
                hashes.get(keyed + AHEAD - 1).into_iter().for_each(|hash| self.filter.prefetch(*hash));
            }
            if self.selects(hash.copied()) {
                let begin = *stretch.get_or_insert(index);
                if self.args.only_key || !batch.joins_next(index, terminator) {
                    self.print(&batch, begin, index)?;
                    stretch = None;
                }
            } else if let Some(begin) = stretch.take() {
                self.print(&batch, begin, index - 1)?;
            }
        }
        stretch.map_or(Ok(()), |begin| self.print(&batch, begin, batch.len() - 1))
    }

    /// Whether a record is printed. One without a key is neither new nor a repeat, and would be
    /// lost if it were not printed with the new ones.
    #[inline]
    fn selects(&mut self, hash: Option<KeyHash>) -> bool {
        let Some(hash) = hash else { return self.args.keeps_first() };
        let is_new = self.filter.check_and_insert_hash(hash).is_new();
        let selected = if self.args.second {
            !is_new && self.filter.check_and_insert_hash(self.second(hash)).is_new()
        } else {
            is_new != self.args.repeated
        };
        self.tally.read += 1;
        self.tally.new += u64::from(is_new);
        self.tally.selected += u64::from(selected);
        selected
    }

    /// What stands for the second occurrence of a key: the hash of its hash.
    fn second(&self, hash: KeyHash) -> KeyHash {
        self.filter.hasher().hash(&u128::from(hash).to_le_bytes())
    }

    fn would_overfill(&self, hash: KeyHash) -> bool {
        self.filter.would_overfill(hash) || self.args.second && self.filter.would_overfill(self.second(hash))
    }

    fn print(&mut self, batch: &Batch<'_>, first: usize, last: usize) -> io::Result<()> {
        if self.args.is_silent() {
            return Ok(());
        }
        let text = match batch.key(first) {
            Some(key) if self.args.only_key => key,
            _ => batch.text_of(first, last),
        };
        self.out.write_all(text)?;
        self.out.write_all(self.records.terminator())
    }

    /// What is no record.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.args.is_silent() || !self.args.keeps_first() { Ok(()) } else { self.out.write_all(bytes) }
    }

    /// Selected CSV records are CSV again, so they keep the names of their columns: those of the
    /// first input.
    pub(super) fn header(&mut self, header: &[u8]) -> io::Result<()> {
        if std::mem::replace(&mut self.has_header, true) || self.args.is_silent() || self.args.only_key {
            return Ok(());
        }
        self.out.write_all(header)?;
        self.out.write_all(self.records.terminator())
    }
}

/// The time, by a clock that goes on while no process runs.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
