//! A recycling filter with the standard or the blocked layout.

use super::sift::now;
use crate::filters::Layout;
use crate::records::Lookup;
use std::io::{self, Write};
use std::time::Duration;
use truebloom::recycling::{BlockedRecyclingFilter, Seen, Stats, WrongDrops};
use truebloom::{Answers, FileKind, FormatError, KeyHash, PortableHasher, RecyclingFilter, Seed};
use truebloom_math::Error;

/// Whether a file of this kind may be a state.
pub(crate) fn is_state(kind: FileKind) -> bool {
    matches!(kind, FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked)
}

/// A recycling filter whose layout is known only from its file or the options.
pub(crate) enum Filter {
    Standard(RecyclingFilter),
    Blocked(BlockedRecyclingFilter),
}

/// Evaluates the same expression for both layouts.
macro_rules! each {
    ($self:expr, $filter:ident => $value:expr) => {
        match $self {
            Filter::Standard($filter) => $value,
            Filter::Blocked($filter) => $value,
        }
    };
}

impl Filter {
    /// The filter in the bytes of a file.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Filter, FormatError> {
        match RecyclingFilter::from_bytes(bytes) {
            Ok(filter) => Ok(Filter::Standard(filter)),
            Err(FormatError::Kind { found: FileKind::RecyclingBlocked }) => BlockedRecyclingFilter::from_bytes(bytes).map(Filter::Blocked),
            Err(error) => Err(error),
        }
    }

    /// The state in the bytes of a file, without what is too old now. The file is not changed.
    pub(crate) fn present(bytes: &[u8]) -> Result<Filter, FormatError> {
        let mut filter = Filter::from_bytes(bytes)?;
        filter.set_back(now());
        filter.advance(now());
        Ok(filter)
    }

    /// Forgets all lines and resets all counts.
    pub(crate) fn clear(&mut self) {
        each!(self, filter => filter.clear());
    }

    pub(crate) fn write_to(&self, writer: impl Write) -> io::Result<()> {
        each!(self, filter => filter.write_to(writer))
    }

    pub(super) fn layout(&self) -> Layout {
        match self {
            Filter::Standard(_) => Layout::Standard,
            Filter::Blocked(_) => Layout::Blocked,
        }
    }

    pub(super) fn age(&self) -> Option<Duration> {
        each!(self, filter => filter.policy().age)
    }

    pub(crate) fn hasher(&self) -> &PortableHasher {
        each!(self, filter => filter.hasher())
    }

    pub(super) fn seed(&self) -> Seed {
        each!(self, filter => filter.seed())
    }

    pub(crate) fn label(&self) -> Option<&str> {
        each!(self, filter => filter.label())
    }

    pub(super) fn set_label(&mut self, text: &str) -> bool {
        each!(self, filter => filter.set_label(text))
    }

    pub(crate) fn stats(&self) -> Stats {
        each!(self, filter => filter.stats())
    }

    /// The present rate.
    pub(crate) fn fpr(&self) -> f64 {
        each!(self, filter => filter.fpr())
    }

    pub(crate) fn worst_fpr(&self) -> f64 {
        each!(self, filter => filter.worst_fpr())
    }

    pub(super) fn average_fpr(&self) -> Option<f64> {
        each!(self, filter => filter.average_fpr())
    }

    pub(crate) fn wrong_drops(&self, confidence: f64) -> Result<Option<WrongDrops>, Error> {
        each!(self, filter => filter.wrong_drops(confidence))
    }

    /// Returns the latest time that was passed to the filter.
    pub(super) fn now(&self) -> Duration {
        each!(self, filter => filter.now())
    }

    pub(super) fn advance(&mut self, now: Duration) {
        each!(self, filter => filter.advance(now));
    }

    pub(super) fn set_back(&mut self, now: Duration) {
        each!(self, filter => filter.set_back(now));
    }

    /// Offers the keys in order, and returns for each whether it was new.
    pub(super) fn check_and_insert_all_hashes(&mut self, hashes: impl Iterator<Item = KeyHash>) -> Answers {
        each!(self, filter => filter.check_and_insert_all_hashes(hashes))
    }

    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        each!(self, filter => filter.prefetch(hash));
    }

    #[inline]
    pub(super) fn would_overfill(&self, hash: KeyHash) -> bool {
        each!(self, filter => filter.would_overfill(hash))
    }

    #[inline]
    pub(super) fn check_and_insert_hash(&mut self, hash: KeyHash) -> Seen {
        each!(self, filter => filter.check_and_insert_hash(hash))
    }
}

impl Lookup for Filter {
    fn look_up(&self, hashes: &[KeyHash], answers: &mut Vec<u64>) {
        answers.extend(each!(self, filter => filter.contains_all_hashes(hashes)).words());
    }
}
