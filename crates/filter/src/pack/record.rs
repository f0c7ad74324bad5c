//! The record of a pack's member. The member's bits follow the record.

use crate::FilterOf;
use crate::backing::{CheckedMember, Counted, KEPT_WORDS, Packed, Record};
use crate::bits::words_for;
use crate::bloom::{Counts, Head};
use crate::error::{Expected, FormatError};
use crate::format::check_field;
use crate::hash::PortableHasher;
use crate::scheme::{Scheme, Storage};
use crate::word::{Lies as _, Word};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64_with_seed};

/// The indices of a record's words; docs/FORMAT.md explains them.
mod at {
    pub(super) const OFFERED: usize = 0;
    pub(super) const CHANGED: usize = 1;
    pub(super) const FLAGS: usize = 2;
    pub(super) const EXCLUDED: usize = 3;
    pub(super) const RESERVED: [usize; 2] = [4, 5];
    pub(super) const BITS_CHECKSUM: usize = 6;
    pub(super) const CHECKSUM: usize = 7;
}

/// The number of words that a record and the bits after it take. If this number overflows, the
/// result is too large for any memory.
pub(super) fn record_words<S: Scheme>(scheme: &S) -> usize {
    usize::try_from(words_for(scheme.bits())).unwrap_or(usize::MAX).saturating_add(KEPT_WORDS)
}

/// Writes the record and the bits of a filter to `words`, whose length must match.
pub(super) fn write<S: Scheme, K: Counted, W: Word>(filter: &FilterOf<S, PortableHasher, K>, family: u64, words: &mut [W]) {
    let (flags, excluded) = filter.counts.flags();
    let mut kept = [0; KEPT_WORDS];
    (kept[at::OFFERED], kept[at::CHANGED]) = (filter.offered(), filter.changed());
    (kept[at::FLAGS], kept[at::EXCLUDED]) = (flags.into(), excluded);
    kept[at::BITS_CHECKSUM] = bits_checksum(filter.words());
    kept[at::CHECKSUM] = kept_checksum(&kept, family);
    let numbers = kept.into_iter().chain(filter.words().iter().map(|word| word.get()));
    words.iter_mut().zip(numbers).for_each(|(word, number)| *word = W::of(number));
}

/// Creates the filter that a record contains, without reading its bits.
pub(super) fn member<'a, S: Scheme, W: Word>(
    head: &'a Head<S, PortableHasher>,
    family: u64,
    words: &'a [W],
) -> Result<FilterOf<S, PortableHasher, Packed<'a, W>>, FormatError> {
    let found = 8 * words.len() as u64;
    let record = Record::new(words).ok_or(FormatError::Truncated { expected: 8 * KEPT_WORDS as u64, found })?;
    let kept = record.kept();
    let (expected, found) = (kept[at::CHECKSUM], kept_checksum(&kept, family));
    if expected != found {
        return Err(FormatError::MemberChecksum { expected, found });
    }
    for reserved in at::RESERVED {
        check_field("reserved words of a member", kept[reserved], Expected::Exactly(0))?;
    }
    let flags = u32::try_from(kept[at::FLAGS]).map_err(|_| FormatError::Unknown { field: "flags", found: u32::MAX })?;
    let counts = Counts::read(flags, kept[at::OFFERED], kept[at::CHANGED], kept[at::EXCLUDED])?;
    Ok(FilterOf { head, storage: Storage::unread(record), counts })
}

impl<'a, S: Scheme, W: Word> FilterOf<S, PortableHasher, Packed<'a, W>> {
    /// Reads and checks all bytes of this filter, which is stored in a [`Pack`](crate::Pack). The
    /// method verifies the checksum. It also compares the number of set bits with the counts that
    /// are stored with the bits. The resulting filter also has the methods whose results depend on
    /// all bits, such as [`fpr`](FilterOf::fpr). The time is linear in the number of bits.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or if the number of set bits does not match the
    /// counts.
    pub fn verify_bytes(self) -> Result<FilterOf<S, PortableHasher, CheckedMember<'a, W>>, FormatError> {
        let FilterOf { head, storage, counts } = self;
        let record: Record<'a, W> = storage.into_words();
        let (expected, found) = (record.kept()[at::BITS_CHECKSUM], bits_checksum(&record));
        if expected != found {
            return Err(FormatError::PayloadChecksum { expected, found });
        }
        let storage: S::Storage<CheckedMember<'a, W>> = Storage::from_words(&head.scheme, record)?;
        counts.check_ones(head.scheme.probes(), storage.ones())?;
        Ok(FilterOf { head, storage, counts })
    }
}

fn kept_checksum(kept: &[u64; KEPT_WORDS], family: u64) -> u64 {
    let bytes = kept.map(u64::to_le_bytes);
    xxh3_64_with_seed(bytes[..at::CHECKSUM].as_flattened(), family)
}

/// The XXH3-64 of the bits as they are stored in a file.
fn bits_checksum<W: Word>(words: &[W]) -> u64 {
    let mut checksum = Xxh3Default::new();
    for words in words.chunks(CHUNK) {
        let mut bytes = [[0; 8]; CHUNK];
        bytes.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.get().to_le_bytes());
        checksum.update(bytes[..words.len()].as_flattened());
    }
    checksum.digest()
}

/// How many words are hashed at a time.
const CHUNK: usize = 64;
