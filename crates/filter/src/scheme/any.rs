//! Any scheme, chosen at run time.

use super::{Classic, Cube, Double, DoubleNonzero, Enhanced, PartitionDouble, Partitioned, Scheme, SchemeId, Square, Standard};
use crate::error::BuildError;
use crate::hash::KeyHash;
use truebloom_math::Law;

/// One of the schemes, by its number or name: for files of any scheme. A choice a key and one a position, so it is slower than the scheme's own type.
///
/// ```
/// use truebloom::scheme::{AnyScheme, Scheme, SchemeId};
/// use truebloom::{BloomFilter, PortableHasher, Seed};
/// let hasher = PortableHasher::xxh3(Seed::random()?);
/// let scheme = AnyScheme::named(SchemeId::Cube, 9_600, 7)?;
/// let filter = BloomFilter::<PortableHasher, AnyScheme>::with_scheme(scheme, hasher)?;
/// assert_eq!(filter.scheme().id().name(), "cube");
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each is documented at its own type")]
pub enum AnyScheme {
    Standard(Standard),
    Classic(Classic),
    Partitioned(Partitioned),
    Double(Double),
    DoubleNonzero(DoubleNonzero),
    Square(Square),
    Cube(Cube),
    Enhanced(Enhanced),
    PartitionDouble(PartitionDouble),
}

/// The same for every scheme.
macro_rules! each {
    ($any:expr, $scheme:ident => $value:expr) => {
        match $any {
            AnyScheme::Standard($scheme) => $value,
            AnyScheme::Classic($scheme) => $value,
            AnyScheme::Partitioned($scheme) => $value,
            AnyScheme::Double($scheme) => $value,
            AnyScheme::DoubleNonzero($scheme) => $value,
            AnyScheme::Square($scheme) => $value,
            AnyScheme::Cube($scheme) => $value,
            AnyScheme::Enhanced($scheme) => $value,
            AnyScheme::PartitionDouble($scheme) => $value,
        }
    };
}

impl AnyScheme {
    /// The scheme of this number. Errors as those of the scheme's own type.
    pub fn named(id: SchemeId, bits: u64, probes: u32) -> Result<AnyScheme, BuildError> {
        Ok(match id {
            SchemeId::Standard | SchemeId::FirstStandard => AnyScheme::Standard(Scheme::with_id(id, bits, probes)?),
            SchemeId::Classic => AnyScheme::Classic(Scheme::new(bits, probes)?),
            SchemeId::Partitioned => AnyScheme::Partitioned(Scheme::new(bits, probes)?),
            SchemeId::Double => AnyScheme::Double(Scheme::new(bits, probes)?),
            SchemeId::DoubleNonzero => AnyScheme::DoubleNonzero(Scheme::new(bits, probes)?),
            SchemeId::Square => AnyScheme::Square(Scheme::new(bits, probes)?),
            SchemeId::Cube => AnyScheme::Cube(Scheme::new(bits, probes)?),
            SchemeId::Enhanced => AnyScheme::Enhanced(Scheme::new(bits, probes)?),
            SchemeId::PartitionDouble => AnyScheme::PartitionDouble(Scheme::new(bits, probes)?),
        })
    }
}

impl Scheme for AnyScheme {
    /// The standard scheme; [`AnyScheme::named`] makes the others.
    fn new(bits: u64, probes: u32) -> Result<AnyScheme, BuildError> {
        AnyScheme::named(SchemeId::Standard, bits, probes)
    }

    fn with_id(id: SchemeId, bits: u64, probes: u32) -> Result<AnyScheme, BuildError> {
        AnyScheme::named(id, bits, probes)
    }

    fn id(&self) -> SchemeId {
        each!(self, scheme => scheme.id())
    }

    #[inline]
    fn bits(&self) -> u64 {
        each!(self, scheme => scheme.bits())
    }

    #[inline]
    fn probes(&self) -> u32 {
        each!(self, scheme => scheme.probes())
    }

    #[inline]
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        match self {
            AnyScheme::Standard(scheme) => EachPositions::Standard(scheme.positions(hash)),
            AnyScheme::Classic(scheme) => EachPositions::Classic(scheme.positions(hash)),
            AnyScheme::Partitioned(scheme) => EachPositions::Partitioned(Scheme::positions(scheme, hash)),
            AnyScheme::Double(scheme) => EachPositions::Progression(scheme.progression(hash)),
            AnyScheme::DoubleNonzero(scheme) => EachPositions::Progression(scheme.progression(hash)),
            AnyScheme::Square(scheme) => EachPositions::Progression(scheme.progression(hash)),
            AnyScheme::Cube(scheme) => EachPositions::Progression(scheme.progression(hash)),
            AnyScheme::Enhanced(scheme) => EachPositions::Progression(scheme.progression(hash)),
            AnyScheme::PartitionDouble(scheme) => EachPositions::Sliced(Scheme::positions(scheme, hash)),
        }
    }

    fn takes_halves(&self) -> bool {
        each!(self, scheme => scheme.takes_halves())
    }

    fn slices(&self) -> u32 {
        each!(self, scheme => scheme.slices())
    }

    fn law(&self) -> Box<dyn Law> {
        each!(self, scheme => scheme.law())
    }
}

/// The positions of whichever scheme it is.
enum EachPositions<A, B, C, D, E> {
    Standard(A),
    Classic(B),
    Partitioned(C),
    Progression(D),
    Sliced(E),
}

impl<A, B, C, D, E> Iterator for EachPositions<A, B, C, D, E>
where
    A: Iterator<Item = u64>,
    B: Iterator<Item = u64>,
    C: Iterator<Item = u64>,
    D: Iterator<Item = u64>,
    E: Iterator<Item = u64>,
{
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match self {
            EachPositions::Standard(positions) => positions.next(),
            EachPositions::Classic(positions) => positions.next(),
            EachPositions::Partitioned(positions) => positions.next(),
            EachPositions::Progression(positions) => positions.next(),
            EachPositions::Sliced(positions) => positions.next(),
        }
    }
}
