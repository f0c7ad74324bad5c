//! Lines are looked up in batches and printed in runs.

use super::Args;
use super::filter::Filter;
use crate::records::{Batch, RecordArgs};
use std::io::{self, BufWriter, Write};
use std::time::{Duration, SystemTime};
use truebloom::{KeyHash, KeyHasher};

/// How many keys are prefetched before the first of them is looked up: their memory accesses
/// overlap, which makes it up to four times as fast.
const AHEAD: usize = 16;

/// The counts of this run.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// The number of records with keys.
    pub(super) read: u64,
    /// How many of them were new, that is, not remembered.
    pub(super) new: u64,
    pub(super) selected: u64,
}

/// Separates first occurrences from repeats, and prints the selected ones.
pub(super) struct Sift<'a, W: Write> {
    args: &'a Args,
    records: &'a RecordArgs,
    filter: Filter,
    out: BufWriter<W>,
    pub(super) tally: Tally,
    /// With --strict: the next line would make the filter forget everything, so it was not
    /// processed.
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

    /// Processes records, with the hashes of those that have keys.
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

    /// Whether a record is printed. A record without a key is neither new nor a repeat; it is
    /// printed with the new ones, because it would be lost otherwise.
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

    /// The hash that represents the second occurrence of a key: the hash of its hash.
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

    /// Prints bytes that are not a record.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.args.is_silent() || !self.args.keeps_first() { Ok(()) } else { self.out.write_all(bytes) }
    }

    /// Prints the CSV header of the first input, so that the selected CSV records keep their column
    /// names.
    pub(super) fn header(&mut self, header: &[u8]) -> io::Result<()> {
        if std::mem::replace(&mut self.has_header, true) || self.args.is_silent() || self.args.only_key {
            return Ok(());
        }
        self.out.write_all(header)?;
        self.out.write_all(self.records.terminator())
    }
}

/// The time, by a clock that also runs while no process does.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
