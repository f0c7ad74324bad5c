//! Looks up lines in batches, and prints adjacent selected lines in one write.

use super::Args;
use super::filter::Filter;
use crate::records::{Batch, RecordArgs, count_selected, is_selected};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};
use truebloom::{KeyHash, KeyHasher};

/// The number of keys whose bits are prefetched in advance. Their memory accesses overlap, which
/// makes look-ups up to four times as fast.
const AHEAD: usize = 16;

/// The counts of this run.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// The number of records with keys.
    pub(super) read: u64,
    /// How many of these records were new, that is, not remembered.
    pub(super) new: u64,
    pub(super) selected: u64,
}

/// Separates first occurrences from repeats, and prints the selected ones.
pub(super) struct Sift<'a, W: Write> {
    args: &'a Args,
    records: &'a RecordArgs,
    filter: Filter,
    out: W,
    pub(super) tally: Tally,
    /// Whether, with --strict, the next line would make the filter forget everything; that line is
    /// then not processed.
    pub(super) full: bool,
    has_header: bool,
}

impl<'a, W: Write> Sift<'a, W> {
    pub(super) fn new(args: &'a Args, records: &'a RecordArgs, filter: Filter, out: W) -> Sift<'a, W> {
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

    /// Processes a batch of records. `hashes` contains the hashes of the records with keys, if they
    /// were computed in advance.
    pub(super) fn batch(&mut self, batch: Batch<'_>, hashes: &[KeyHash]) -> io::Result<()> {
        self.filter.advance(now());
        let hasher = *self.filter.hasher();
        let (selected, taken) = if self.args.goes_one_by_one() {
            self.one_by_one(hashes)
        } else if self.args.hashes_ahead(self.records) {
            self.all_at_once(hashes.iter().copied())
        } else {
            self.all_at_once(batch.iter().map(|(_, key)| hasher.hash(key)))
        };
        self.tally.selected += count_selected(&selected);
        if self.args.is_silent() {
            return Ok(());
        }
        let selected = if batch.len() == taken { selected } else { self.with_keyless(&batch, &selected, taken) };
        let end = self.records.terminator();
        if self.args.only_key {
            return batch.write_selected_keys(&selected, end, &mut self.out);
        }
        batch.write_selected(&selected, end, &mut self.out)
    }

    /// Offers all keys at once; returns which of them are selected, and their number.
    fn all_at_once(&mut self, hashes: impl Iterator<Item = KeyHash>) -> (Vec<u64>, usize) {
        let new = self.filter.check_and_insert_all_hashes(hashes);
        self.tally.read += new.len() as u64;
        self.tally.new += new.count_ones() as u64;
        if !self.args.repeated {
            return (new.words().to_vec(), new.len());
        }
        let mut repeats: Vec<u64> = new.words().iter().map(|word| !word).collect();
        if let (Some(last), rest @ 1..) = (repeats.last_mut(), new.len() % 64) {
            *last &= (1 << rest) - 1;
        }
        (repeats, new.len())
    }

    /// Offers keys one by one. Returns which of them are selected, and how many were offered. All
    /// keys are offered, unless --strict stops before one of them.
    fn one_by_one(&mut self, hashes: &[KeyHash]) -> (Vec<u64>, usize) {
        let mut selected = vec![0; hashes.len().div_ceil(64)];
        hashes.iter().take(AHEAD).for_each(|hash| self.filter.prefetch(*hash));
        for (index, hash) in hashes.iter().enumerate() {
            if self.args.strict && self.would_overfill(*hash) {
                self.full = true;
                return (selected, index);
            }
            hashes.get(index + AHEAD).into_iter().for_each(|hash| self.filter.prefetch(*hash));
            selected[index / 64] |= u64::from(self.selects(*hash)) << (index % 64);
        }
        (selected, hashes.len())
    }

    /// Determines which of the records are printed, up to the first whose key was not offered. A
    /// record without a key is neither new nor a repeat. Such a record is printed together with the
    /// new records, because it would be lost otherwise.
    fn with_keyless(&self, batch: &Batch<'_>, selected: &[u64], taken: usize) -> Vec<u64> {
        let (mut printed, mut keyed) = (vec![0; batch.len().div_ceil(64)], 0);
        for index in 0..batch.len() {
            let mut is_printed = self.args.keeps_first();
            if batch.key(index).is_some() {
                if keyed == taken {
                    break;
                }
                is_printed = is_selected(selected, keyed);
                keyed += 1;
            }
            printed[index / 64] |= u64::from(is_printed) << (index % 64);
        }
        printed
    }

    /// Whether a key is selected.
    #[inline]
    fn selects(&mut self, hash: KeyHash) -> bool {
        let is_new = self.filter.check_and_insert_hash(hash).is_new();
        self.tally.read += 1;
        self.tally.new += u64::from(is_new);
        if self.args.second {
            !is_new && self.filter.check_and_insert_hash(self.second(hash)).is_new()
        } else {
            is_new != self.args.repeated
        }
    }

    /// The hash that represents the second occurrence of a key: the hash of its hash.
    fn second(&self, hash: KeyHash) -> KeyHash {
        self.filter.hasher().hash(&u128::from(hash).to_le_bytes())
    }

    fn would_overfill(&self, hash: KeyHash) -> bool {
        self.filter.would_overfill(hash) || self.args.second && self.filter.would_overfill(self.second(hash))
    }

    /// Passes on bytes that are not a record.
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

/// Returns the current time of a clock that continues while the program is not running.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
