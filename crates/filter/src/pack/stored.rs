//! The file of a pack: kind 9 of docs/FORMAT.md.

use super::Pack;
use super::record::record_words;
use crate::backing::{Backing, Checked, Counted, InBytes, View};
use crate::bloom::Head;
use crate::error::FormatError;
use crate::format::{Fields, HEADER_BYTES, Stored, Viewed, Written, at, check_payload, reads_files, views_files, writes_files};
use crate::hash::PortableHasher;
use crate::ids::FileKind;
use crate::scheme::Scheme;
use crate::word::Lies;
use alloc::vec::Vec;

/// The position in the header at which the number of members is stored.
const MEMBERS: usize = at::PARAMETERS + 8;

/// A limit on the size in bytes, which is larger than the memory of any machine.
const MOST_BYTES: u64 = 1 << 60;

/// The contents of a header of this kind.
pub(crate) struct Header<S> {
    head: Head<S, PortableHasher>,
    members: u64,
}

/// The header fields that all members share.
fn shared<S: Scheme>(head: &Head<S, PortableHasher>) -> Fields {
    let mut fields = Fields::new(FileKind::Pack);
    head.put(&mut fields);
    fields
}

/// A fingerprint of the plan and the seed of a pack.
pub(super) fn family<S: Scheme>(head: &Head<S, PortableHasher>) -> u64 {
    let header = shared(head).sealed(0, 0);
    u64::from_le_bytes(*header.last_chunk().unwrap_or(&[0; 8]))
}

impl<S: Scheme> Stored for Pack<S> {
    const KINDS: &'static [FileKind] = &[FileKind::Pack];

    type Header = Header<S>;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header<S>, FormatError> {
        fields.flags(0)?;
        fields.check_zero(at::OFFERED, at::CAPACITY)?;
        let head = Head::read(fields)?;
        fields.check_zero(at::PARAMETERS + S::KIND.layout_bytes(), MEMBERS)?;
        fields.check_zero(MEMBERS + 8, at::HEADER_CHECKSUM)?;
        let record = 8 * record_words(&head.scheme) as u64;
        let members = fields.u64_within("members", MEMBERS, 0, MOST_BYTES / record)?;
        Ok(Header { head, members })
    }

    fn payload_bytes(header: &Header<S>) -> u64 {
        header.members * 8 * record_words(&header.head.scheme) as u64
    }

    /// Checks every member against its checksums and counts.
    fn assemble(header: Header<S>, words: Vec<u64>) -> Result<Pack<S>, FormatError> {
        let pack: Pack<S> = Pack::with_words(header.head, words);
        pack.check_members().map(|()| pack)
    }
}

impl<S: Scheme, K: Backing> Pack<S, K> {
    fn check_members(&self) -> Result<(), FormatError> {
        self.iter().try_for_each(|member| member?.verify_bytes().map(drop))
    }
}

impl<S: Scheme, K: Counted> Written for Pack<S, K> {
    fn fields(&self) -> Fields {
        let mut fields = shared(&self.head);
        fields.put(MEMBERS, (self.len() as u64).to_le_bytes());
        fields
    }

    fn word_count(&self) -> u64 {
        self.words.len() as u64
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| word.get())
    }
}

impl<S: Scheme, B: AsRef<[u8]> + Send + Sync> Viewed<B> for Pack<S> {
    type View = Pack<S, View<B>>;

    fn over(header: Header<S>, bytes: B) -> Result<Self::View, FormatError> {
        let length = Pack::payload_bytes(&header) as usize;
        Ok(Pack::with_words(header.head, InBytes::new(bytes, HEADER_BYTES, length)))
    }
}

impl<S: Scheme, B: AsRef<[u8]> + Send + Sync> Pack<S, View<B>> {
    /// Reads and checks all bytes of the pack. The method verifies the checksum of the pack, and
    /// then calls `verify_bytes` of each filter in the pack. The time is linear in the number of
    /// bits of all filters.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or if the number of set bits in a filter
    /// contradicts the numbers that are recorded for it.
    pub fn verify_bytes(self) -> Result<Pack<S, Checked<B>>, FormatError> {
        check_payload(self.words.whole().0)?;
        self.check_members()?;
        Ok(Pack { head: self.head, family: self.family, words: self.words })
    }

    /// The size of the pack's file in bytes. The viewed bytes may be longer than this, because
    /// other data may follow the file.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + 8 * self.words.len() as u64
    }
}

writes_files!([S: Scheme, K: Counted] Pack<S, K>);

reads_files! {
    ///
    /// The method checks the bytes of every filter in the pack against the filter's checksums and
    /// counts.
    [S: Scheme] Pack<S>
}

views_files! {
    ///
    /// Each filter in the pack is checked when it is accessed.
    [S: Scheme] Pack<S>, [AsRef<[u8]> + Send + Sync] Pack<S, View<B>>, Pack<S, View<crate::disk::Mapped>>
}
