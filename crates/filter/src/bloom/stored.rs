//! The files of Bloom filters: kinds 1 and 2 of docs/FORMAT.md.

use super::{Counts, FilterOf, Head, Origin};
use crate::arch::AlignedWords;
use crate::backing::{Checked, Counted, Headed, InBytes, Inline, View};
use crate::bits::words_for;
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, HEADER_BYTES, INTERSECTION, Label, MERGED, Stored, Viewed, Written, at, check_field, check_payload};
use crate::hash::{KeyHasher as _, PortableHasher};
use crate::ids::FileKind;
use crate::scheme::{Scheme, Storage};
use crate::word::Lies;
use alloc::vec::Vec;

/// The contents of the header of a Bloom filter's file.
pub(crate) struct Header<S> {
    head: Head<S, PortableHasher>,
    counts: Counts,
}

impl<S: Scheme> Head<S, PortableHasher> {
    /// Reads the scheme, its layout, bits, probes, hasher, capacity and rate from a header.
    pub(crate) fn read(fields: &Fields) -> Result<Head<S, PortableHasher>, FormatError> {
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        S::check_fields(fields, at::PARAMETERS)?;
        let id = fields.scheme(S::KIND)?;
        let (bits, probes, rate) = (fields.bits()?, fields.probes()?, fields.rate()?);
        let scheme = S::with_id(id, bits, probes).map_err(|error| scheme_error(error, bits, probes))?;
        let capacity = Some(fields.u64(at::CAPACITY)).filter(|capacity| *capacity > 0);
        Ok(Head { hasher, scheme, capacity, rate, label: Label::read(fields)? })
    }

    /// Writes the values that [`read`](Self::read) reads into a header.
    pub(crate) fn put(&self, fields: &mut Fields) {
        S::put_parameters(fields, at::PARAMETERS);
        fields.put_scheme(self.scheme.id(), self.scheme.bits(), self.scheme.probes());
        fields.put_hasher(self.hasher.hasher_id(), self.hasher.seed());
        fields.put(at::CAPACITY, self.capacity.unwrap_or(0).to_le_bytes());
        fields.put_rate(self.rate);
        self.label.put(fields);
    }
}

impl<S: Scheme> Stored for FilterOf<S> {
    const KINDS: &'static [FileKind] = &[S::KIND];

    type Header = Header<S>;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header<S>, FormatError> {
        let flags = fields.flags(MERGED | INTERSECTION)?;
        let head = Head::read(fields)?;
        const { assert!(at::PARAMETERS + S::KIND.layout_bytes() + 8 <= at::LABEL) };
        let excluded_at = at::PARAMETERS + S::KIND.layout_bytes();
        let counts = Counts::read(flags, fields.u64(at::OFFERED), fields.u64(at::CHANGED), fields.u64(excluded_at))?;
        fields.check_zero(excluded_at + if counts.excluded().is_some() { 8 } else { 0 }, at::LABEL)?;
        Ok(Header { head, counts })
    }

    fn payload_bytes(header: &Header<S>) -> u64 {
        8 * words_for(header.head.scheme.bits())
    }

    fn assemble(header: Header<S>, words: Vec<u64>) -> Result<Self, FormatError> {
        let words = AlignedWords::from_vec(words).ok_or(FormatError::Memory { bytes: header.head.scheme.bits().div_ceil(8) })?;
        counted(header, words)
    }
}

impl<S: Scheme, K: Counted> Written for FilterOf<S, PortableHasher, K> {
    fn fields(&self) -> Fields {
        let mut fields = Fields::new(S::KIND);
        self.head.put(&mut fields);
        let (flags, excluded) = self.counts.flags();
        fields.put(at::FLAGS, flags.to_le_bytes());
        fields.put(at::PARAMETERS + S::KIND.layout_bytes(), excluded.to_le_bytes());
        fields.put(at::OFFERED, self.counts.offered.to_le_bytes());
        fields.put(at::CHANGED, self.counts.changed.to_le_bytes());
        fields
    }

    fn word_count(&self) -> u64 {
        words_for(self.bits())
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words().iter().map(|word| word.get())
    }
}

/// Makes the filter from a header and its words, after checking that they agree.
fn counted<S: Scheme, K: Headed>(
    Header { head, counts }: Header<S>,
    words: K::Words,
) -> Result<FilterOf<S, PortableHasher, K>, FormatError> {
    let storage: S::Storage<K> = Storage::from_words(&head.scheme, words)?;
    counts.check_ones(head.scheme.probes(), storage.ones())?;
    Ok(FilterOf { head: K::head(head), storage, counts })
}

/// Explains why no scheme could be made from a header. Bits and probes are each in range, so either
/// the header has a scheme other than `S`, or the scheme does not support this combination.
fn scheme_error(error: BuildError, bits: u64, probes: u32) -> FormatError {
    match error {
        BuildError::Scheme { expected, found } => FormatError::Scheme { expected, found },
        BuildError::LeftOut { scheme } => FormatError::LeftOut { scheme },
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
    /// Reads the counts from a header or a record; `excluded` is used only if the flag of an
    /// intersection is set.
    pub(crate) fn read(flags: u32, offered: u64, changed: u64, excluded: u64) -> Result<Counts, FormatError> {
        let origin = match flags {
            0 => Origin::Offered,
            MERGED => Origin::Merged,
            INTERSECTION => {
                let expected = Expected::Exactly((MERGED | INTERSECTION).into());
                return Err(FormatError::Field { field: "flags", expected, found: flags.into() });
            }
            _ if flags == MERGED | INTERSECTION => {
                Origin::Intersection { excluded: check_field("excluded offers", excluded, Expected::Within(0, offered))? }
            }
            _ => return Err(FormatError::Unknown { field: "flags", found: flags }),
        };
        check_field("changed", changed, Expected::Within(0, offered))?;
        Ok(Counts { offered, changed, origin })
    }

    /// The flags, and the number of excluded insertions of an intersection.
    pub(crate) fn flags(self) -> (u32, u64) {
        match self.origin {
            Origin::Offered => (0, 0),
            Origin::Merged => (MERGED, 0),
            Origin::Intersection { excluded } => (MERGED | INTERSECTION, excluded),
        }
    }

    /// Checks the number of set bits: every insertion that is counted in `changed` has set 1 to k
    /// bits. After a merge, nothing is checked, because the counts are only bounds.
    pub(crate) fn check_ones(self, probes: u32, ones: u64) -> Result<(), FormatError> {
        if self.is_merged() {
            return Ok(());
        }
        let most = self.changed.saturating_mul(probes.into());
        check_field("set bits", ones, Expected::Within(self.changed, most)).map(|_| ())
    }
}

impl<S: Scheme, B: AsRef<[u8]> + Send + Sync> Viewed<B> for FilterOf<S> {
    type View = FilterOf<S, PortableHasher, View<B>>;

    fn over(Header { head, counts }: Header<S>, bytes: B) -> Result<Self::View, FormatError> {
        let words = InBytes::new(bytes, HEADER_BYTES, 8 * words_for(head.scheme.bits()) as usize);
        Ok(FilterOf { head: Inline(head), storage: Storage::unread(words), counts })
    }
}

impl<S: Scheme, B: AsRef<[u8]> + Send + Sync> FilterOf<S, PortableHasher, View<B>> {
    /// Reads and checks all bytes of the view. This method verifies the checksum. It also compares
    /// the number of set bits with the counts in the header, unless the filter was merged. The
    /// resulting view also has the methods whose results depend on all bits, such as
    /// [`fpr`](FilterOf::fpr). The time is linear in the number of bits, and no memory is
    /// allocated.
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
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or do not match the header.
    pub fn verify_bytes(self) -> Result<FilterOf<S, PortableHasher, Checked<B>>, FormatError> {
        let FilterOf { head: Inline(head), storage, counts } = self;
        let words = storage.into_words();
        check_payload(words.whole().0)?;
        counted(Header { head, counts }, words)
    }

    /// The number of bytes that the filter takes in a file. In a view, other data may follow the
    /// filter's bytes.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + 8 * words_for(self.bits())
    }
}

impl<S: Scheme, B: AsRef<[u8]> + Send + Sync + AsMut<[u8]>> FilterOf<S, PortableHasher, Checked<B>> {
    /// Writes the present counts and the checksum into the header of the bytes. An insertion into
    /// this view changes the bits immediately, but not the header. After an insertion that sets a
    /// bit, [`verify_bytes`](FilterOf::verify_bytes) therefore reports the bytes as damaged until
    /// you call `seal`. The time is linear in the number of bits.
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
        let fields = self.fields();
        self.storage.words_mut().seal(fields);
    }

    /// A header with the present counts and the checksum of the bits.
    #[cfg(feature = "mmap")]
    pub(crate) fn sealed_header(&self) -> [u8; HEADER_BYTES] {
        self.storage.words().sealed(self.fields())
    }
}

#[cfg(feature = "mmap")]
impl<S: Scheme, B: AsRef<[u8]> + Send + Sync> FilterOf<S, PortableHasher, View<B>> {
    /// Counts the set bits again, for bytes whose header is not up to date. The lower bound on the
    /// number of keys becomes the larger of two numbers: the header's lower bound, and the smallest
    /// number of keys that can set as many bits as were counted. The number of keys has no upper
    /// bound afterwards.
    pub(crate) fn counted_anew(self) -> Result<FilterOf<S, PortableHasher, Checked<B>>, FormatError> {
        let FilterOf { head: Inline(head), storage, counts } = self;
        let storage: S::Storage<Checked<B>> = Storage::from_words(&head.scheme, storage.into_words())?;
        let origin = if counts.origin == Origin::Offered { Origin::Merged } else { counts.origin };
        // The bits of an intersection may be set by chance, so their number gives no lower bound on
        // the number of keys.
        let by_bits = if counts.excluded().is_some() { 0 } else { storage.ones().div_ceil(head.scheme.probes().into()) };
        let counts = Counts { offered: u64::MAX, changed: counts.changed.max(by_bits), origin };
        Ok(FilterOf { head: Inline(head), storage, counts })
    }
}

#[cfg(feature = "mmap")]
impl<S: Scheme, B: AsRef<[u8]> + Send + Sync + AsMut<[u8]>> FilterOf<S, PortableHasher, Checked<B>> {
    /// The object that holds the bytes.
    pub(crate) fn bytes_mut(&mut self) -> &mut B {
        self.storage.words_mut().bytes_mut()
    }
}
