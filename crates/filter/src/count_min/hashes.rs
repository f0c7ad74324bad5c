//! How the counter of a key is chosen in each row.

use super::walk::Walk;
use crate::error::BuildError;
use crate::hash::{KeyHash, Seed};
use crate::ids::FileKind;
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{self, Debug};
use truebloom_math::MAX_BITS;
use truebloom_math::count_min::{Family, Rows, Shape};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::FullRows {}
    impl Sealed for super::PairwiseRows {}
    impl Sealed for super::TwoHashRows {}
}

/// How a sketch chooses the counter of a key in each row: [`FullRows`], [`PairwiseRows`] or
/// [`TwoHashRows`].
pub trait RowHashes: sealed::Sealed + Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Whether each row has its own hash function, or the rows share hash functions.
    const ROWS: Rows;
    /// The assumption about the hash functions, which determines the proven bounds.
    const FAMILY: Family;
    /// The kind of file in which sketches with these rows are saved.
    const KIND: FileKind;

    /// The hash functions for a sketch of the size `shape`.
    ///
    /// # Errors
    /// Returns an error if no sketch with rows of this type can have this size. For example, the
    /// width can be at most 2^62, or 2^40 for [`PairwiseRows`].
    fn new(shape: &Shape, seed: Seed) -> Result<Self, BuildError>;

    /// The index of the key's counter in each row. Index 0 is the first counter of the first row.
    fn cells(&self, hash: KeyHash) -> impl Iterator<Item = u64>;
}

/// Rows with independent hash functions. In each row, the key's counter is drawn from the key's
/// hash, in the same way as a filter draws the positions of a key's bits. If the hash is random,
/// the counters in all rows are drawn uniformly and independently.
#[derive(Clone, Debug, PartialEq)]
pub struct FullRows {
    walk: Walk,
}

impl RowHashes for FullRows {
    const ROWS: Rows = Rows::Independent;
    const FAMILY: Family = Family::Ideal;
    const KIND: FileKind = FileKind::CountMin;

    fn new(shape: &Shape, _: Seed) -> Result<FullRows, BuildError> {
        check_cells(shape)?;
        Ok(FullRows { walk: Walk::new(shape.width(), shape.depth())? })
    }

    #[inline]
    fn cells(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        let width = self.walk.width();
        self.walk.numbers(hash).scan(0, move |row, position| {
            let cell = *row + position;
            *row += width;
            Some(cell)
        })
    }
}

/// Checks that the number of counters in all rows fits in a `u64`.
fn check_cells(shape: &Shape) -> Result<(), BuildError> {
    u64::try_from(shape.cells()).map(drop).map_err(|_| BuildError::Memory { bytes: u64::MAX })
}

/// The prime `p = 2^61 - 1`.
const PRIME: u64 = (1 << 61) - 1;

/// Rows whose hash functions are proven to be pairwise independent. In row j, the number of the
/// key's counter is:
///
/// `((a_j x + b_j y + c_j z + d_j) mod p) mod width`
///
/// Here p is `2^61 - 1`, and x, y and z are the low 43, the middle 43 and the high 42 bits of the
/// key's 128-bit hash. The seed determines the four coefficients of each row, which are uniformly
/// random numbers below p.
///
/// For two different hashes, the two remainders modulo p are uniform and independent. In each row,
/// two different hashes therefore get the same counter with a probability of at most
/// `1/w + w/(4p^2)`, where w is the width (the number of counters in a row).
///
/// If your keys are numbers, pass them to [`Sketch::add_hash`](super::Sketch::add_hash) as
/// [`KeyHash::from_uniform_bits`]`(number)`. The bound of [`Shape::failure_bound`] then holds
/// without any assumption about a hash function of the keys. Methods such as `add` first hash the
/// key to 128 bits, as in all filters.
///
/// For these rows, nothing is proven about the hashes of three keys together. Therefore, no bound
/// can be computed from the counters, and
/// [`ErrorBound::from_counters`](super::ErrorBound::from_counters) is `None`. The width is at most
/// 2^40.
#[derive(Clone, PartialEq)]
pub struct PairwiseRows {
    width: u64,
    coefficients: Vec<[u64; 4]>,
}

impl fmt::Debug for PairwiseRows {
    /// Formats the sizes. The coefficients are as secret as the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PairwiseRows");
        shown.field("width", &self.width).field("depth", &self.coefficients.len()).finish_non_exhaustive()
    }
}

impl RowHashes for PairwiseRows {
    const ROWS: Rows = Rows::Independent;
    const FAMILY: Family = Family::Pairwise;
    const KIND: FileKind = FileKind::CountMin;

    fn new(shape: &Shape, seed: Seed) -> Result<PairwiseRows, BuildError> {
        // Up to this width, the term w/(4p^2) is less than 6e-14 times 1/w. Even for a thousand
        // rows, this is less than the billionth that the bounds allow for rounding errors.
        if shape.width() > 1 << 40 {
            let (found, expected) = (shape.width().to_string(), "at most 2^40 for pairwise independent rows".to_owned());
            return Err(truebloom_math::Error::OutOfRange { name: "width", found, expected }.into());
        }
        let walk = Walk::new(PRIME, 4)?;
        let row = |row: u32| {
            let mut drawn = walk.numbers(KeyHash::from_uniform_bits(u128::from(seed) ^ u128::from(row)));
            core::array::from_fn(|_| drawn.next().unwrap_or_default())
        };
        Ok(PairwiseRows { width: shape.width(), coefficients: (0..shape.depth()).map(row).collect() })
    }

    #[inline]
    fn cells(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        const LOW: u128 = (1 << 43) - 1;
        let number = u128::from(hash);
        let [x, y, z] = [number & LOW, number >> 43 & LOW, number >> 86];
        let rows = self.coefficients.iter().zip(0u64..);
        rows.map(move |(&[a, b, c, d], row)| {
            // The sum is below 3 2^104 + 2^61, so it does not overflow.
            let sum = u128::from(a) * x + u128::from(b) * y + u128::from(c) * z + u128::from(d);
            row * self.width + modulo_prime(sum) % self.width
        })
    }
}

/// The remainder modulo 2^61 - 1 of a number below 2^122. Modulo this prime, 2^61 equals 1, so the
/// number's two digits in base 2^61 are added.
#[inline]
fn modulo_prime(number: u128) -> u64 {
    let sum = (number as u64 & PRIME) + (number >> 61) as u64;
    let sum = (sum & PRIME) + (sum >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Rows that share hash functions. A sketch with these rows consists of one or more copies, each
/// with several rows. In row j of a copy, a key has the counter with the number
/// `(h1 + j * h2) mod width`. The width is the number of counters in a row, and is a prime. Each
/// copy has its own h1 and h2, which are drawn from the key's hash.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoHashRows {
    walk: Walk,
    depth: u64,
}

impl RowHashes for TwoHashRows {
    const ROWS: Rows = Rows::TwoHash;
    const FAMILY: Family = Family::Ideal;
    const KIND: FileKind = FileKind::TwoHashCountMin;

    fn new(shape: &Shape, _: Seed) -> Result<TwoHashRows, BuildError> {
        if shape.copies() > crate::MAX_PROBES / 2 || shape.width() > MAX_BITS {
            return Err(BuildError::Rows { found: shape.all_rows() });
        }
        check_cells(shape)?;
        let walk = Walk::new(shape.width(), 2 * shape.copies())?;
        Ok(TwoHashRows { walk, depth: shape.depth().into() })
    }

    #[inline]
    fn cells(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        let (width, depth) = (self.walk.width(), self.depth);
        let mut drawn = self.walk.numbers(hash);
        let copies = core::iter::from_fn(move || Some((drawn.next()?, drawn.next()?)));
        copies.zip(0u64..).flat_map(move |((h1, h2), copy)| {
            (0..depth).scan(h1, move |position, j| {
                let cell = (copy * depth + j) * width + *position;
                // Both are below 2^62.
                *position += h2;
                *position -= if *position >= width { width } else { 0 };
                Some(cell)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_counters_than_a_word_can_number_are_refused() {
        let full = |width| FullRows::new(&Shape::new(Rows::Independent, width, 20, 1).expect("in range"), Seed::from(1)).map(drop);
        assert_eq!((full(u64::MAX / 20), full(1 << 62)), (Ok(()), Err(BuildError::Memory { bytes: u64::MAX })));
        let two_hash = Shape::new(Rows::TwoHash, PRIME, 20, 1).expect("a prime");
        assert_eq!(TwoHashRows::new(&two_hash, Seed::from(1)).map(drop), Err(BuildError::Memory { bytes: u64::MAX }));
    }

    #[test]
    fn remainders_are_those_of_a_division() {
        for number in
            [0, 1, u128::from(PRIME) - 1, PRIME.into(), u128::from(PRIME) + 1, u128::from(PRIME).pow(2), 1 << 121, (1 << 122) - 1, 3 << 104]
        {
            assert_eq!(u128::from(modulo_prime(number)), number % u128::from(PRIME), "{number}");
        }
    }
}
