//! The files of Bloom filters: kinds 1 and 2 of docs/FORMAT.md.

use super::{Counts, FilterOf, Head};
use crate::arch::AlignedWords;
use crate::backing::{Backing, Checked, Counted, InBytes, Inline, View};
use crate::bits::{Storage, words_for};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, FileKind, HEADER_BYTES, Stored, Viewed, at, check_field, check_payload};
use crate::hash::PortableHasher;
use crate::scheme::Scheme;

const MERGED: u32 = 1;
/// An intersection, whose offers are more than its items by what stands after the parameters of the layout.
const INTERSECTION: u32 = 32;

/// What a header of these kinds says.
pub(crate) struct Header<S> {
    head: Head<S, PortableHasher>,
    counts: Counts,
}

impl<S: Scheme> Stored for FilterOf<S> {
    const KINDS: &'static [FileKind] = &[S::KIND];

    type Header = Header<S>;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header<S>, FormatError> {
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let flags = fields.flags(MERGED | INTERSECTION)?;
        let (merged, is_intersection) = (flags & MERGED != 0, flags & INTERSECTION != 0);
        if is_intersection && !merged {
            let expected = Expected::Exactly((MERGED | INTERSECTION).into());
            return Err(FormatError::Field { field: "flags", expected, found: flags.into() });
        }
        S::check_fields(fields, at::PARAMETERS)?;
        let excluded_at = at::PARAMETERS + S::PARAMETER_BYTES;
        fields.check_zero(if is_intersection { excluded_at + 8 } else { excluded_at }, at::HEADER_CHECKSUM)?;
        let id = fields.scheme(S::KIND)?;
        let (bits, probes, rate) = (fields.bits()?, fields.probes()?, fields.rate()?);
        let scheme = S::with_id(id, bits, probes).map_err(|error| scheme_error(error, bits, probes))?;
        let offered = fields.u64(at::OFFERED);
        let changed = fields.u64_within("changed", at::CHANGED, 0, offered)?;
        let excluded = if is_intersection { Some(fields.u64_within("excluded offers", excluded_at, 0, offered)?) } else { None };
        let capacity = Some(fields.u64(at::CAPACITY)).filter(|capacity| *capacity > 0);
        Ok(Header { head: Head { hasher, scheme, capacity, rate }, counts: Counts { offered, changed, merged, excluded } })
    }

    fn payload_bytes(header: &Header<S>) -> u64 {
        8 * words_for(header.head.scheme.bits())
    }

    fn assemble(header: Header<S>, words: Vec<u64>) -> Result<Self, FormatError> {
        let words = AlignedWords::from_vec(words).ok_or(FormatError::Memory { bytes: header.head.scheme.bits().div_ceil(8) })?;
        counted(header, words)
    }

    fn fields(&self) -> Fields {
        self.header_fields()
    }

    fn word_count(&self) -> u64 {
        words_for(self.bits())
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words().iter().copied()
    }
}

/// The filter of a header and all its words, held to each other.
fn counted<S: Scheme, K: Counted<Head<Head<S, PortableHasher>> = Inline<Head<S, PortableHasher>>>>(
    Header { head, counts }: Header<S>,
    words: K::Words,
) -> Result<FilterOf<S, PortableHasher, K>, FormatError> {
    let storage: S::Storage<K> = Storage::from_words(&head.scheme, words)?;
    counts.check_ones(head.scheme.probes(), storage.ones())?;
    Ok(FilterOf { head: Inline(head), storage, counts })
}

impl<S: Scheme, K: Backing> FilterOf<S, PortableHasher, K> {
    pub(crate) fn header_fields(&self) -> Fields {
        let mut fields = Fields::new(S::KIND);
        S::put_parameters(&mut fields, at::PARAMETERS);
        fields.put_scheme(self.scheme().id(), self.bits(), self.probes());
        fields.put_hasher(self.hasher().hasher_id(), self.seed());
        let flags = if self.counts.merged { MERGED } else { 0 } | if self.is_intersection() { INTERSECTION } else { 0 };
        fields.put(at::FLAGS, flags.to_le_bytes());
        fields.put(at::PARAMETERS + S::PARAMETER_BYTES, self.counts.excluded.unwrap_or(0).to_le_bytes());
        fields.put(at::OFFERED, self.counts.offered.to_le_bytes());
        fields.put(at::CHANGED, self.counts.changed.to_le_bytes());
        fields.put(at::CAPACITY, self.capacity().unwrap_or(0).to_le_bytes());
        fields.put_rate(self.rate());
        fields
    }
}

/// Bits and probes are in range by themselves, so what is left is that the scheme is another, or cannot have both.
fn scheme_error(error: BuildError, bits: u64, probes: u32) -> FormatError {
    match error {
        BuildError::Scheme { expected, found } => FormatError::Scheme { expected, found },
        BuildError::Slices { .. } => {
            let multiple = (bits / u64::from(probes)).max(1) * u64::from(probes);
            FormatError::Field { field: "bits", expected: Expected::Exactly(multiple), found: bits }
        }
        _ => {
            FormatError::Field { field: "probes", expected: Expected::Within(1, bits.min(crate::MAX_PROBES.into())), found: probes.into() }
        }
    }
}

impl Counts {
    /// Every offer that set a bit set 1 to k of them. After a merge the counts are only bounds.
    pub(crate) fn check_ones(self, probes: u32, ones: u64) -> Result<(), FormatError> {
        if self.merged {
            return Ok(());
        }
        let most = self.changed.saturating_mul(probes.into());
        check_field("set bits", ones, Expected::Within(self.changed, most)).map(|_| ())
    }
}

impl<S: Scheme, B: AsRef<[u8]>> Viewed<B> for FilterOf<S> {
    type View = FilterOf<S, PortableHasher, View<B>>;

    fn over(Header { head, counts }: Header<S>, bytes: B) -> Result<Self::View, FormatError> {
        let words = InBytes::new(bytes, HEADER_BYTES, 8 * words_for(head.scheme.bits()) as usize);
        Ok(FilterOf { head: Inline(head), storage: Storage::unread(words), counts })
    }
}

impl<S: Scheme, B: AsRef<[u8]>> FilterOf<S, PortableHasher, View<B>> {
    /// The same view with all its bytes read: held to their checksum, the set bits counted and held to the counts. So it has a rate of its own. Linear in the bits; takes no memory.
    ///
    /// Errors: the bytes are damaged, or do not fit the header.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut filter = BloomFilter::new(1_000, 0.01)?;
    /// filter.extend(0..1_000);
    /// let bytes = filter.to_bytes()?;
    /// let view = BloomFilter::view(&bytes)?.verify_bytes()?;
    /// assert_eq!((view.ones(), view.fpr()), (filter.ones(), filter.fpr()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify_bytes(self) -> Result<FilterOf<S, PortableHasher, Checked<B>>, FormatError> {
        let FilterOf { head: Inline(head), storage, counts } = self;
        let words = storage.into_words();
        check_payload(words.whole().0)?;
        counted(Header { head, counts }, words)
    }

    /// The number of bytes of its file: where it ends in what it was viewed in.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + 8 * words_for(self.bits())
    }
}

impl<S: Scheme, B: AsRef<[u8]>> FilterOf<S, PortableHasher, Checked<B>> {
    /// The number of bytes of its file: where it ends in what it was viewed in.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + 8 * words_for(self.bits())
    }
}

impl<S: Scheme, B: AsRef<[u8]> + AsMut<[u8]>> FilterOf<S, PortableHasher, Checked<B>> {
    /// Writes the header anew, with the counts and the checksum of now. Keys that are inserted where the bytes lie are in them at once, but until this is called the header is that of before, and
    /// [`verify_bytes`](FilterOf::verify_bytes) will find the bits damaged. Linear in the bits.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut block = BloomFilter::new(1_000, 0.01)?.to_bytes()?;
    /// let mut filter = BloomFilter::view(&mut block[..])?.verify_bytes()?;
    /// filter.insert("key");
    /// filter.seal();
    /// assert!(BloomFilter::from_bytes(&block)?.contains("key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seal(&mut self) {
        let fields = self.header_fields();
        self.storage.words_mut().seal(fields);
    }
}
