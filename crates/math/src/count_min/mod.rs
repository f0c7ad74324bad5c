//! Count-Min sketches: their size for a given error, and proven bounds on the errors of their
//! estimates.
//!
//! A sketch consists of `copies` groups of rows, which are called copies. Each copy has `depth`
//! rows of `width` counters. In every row, an item has one counter, which it may share with other
//! items. Each occurrence of the item adds to these counters. The estimate of the item's count is
//! the smallest of its counters. This estimate is never below the true count. It is too high by the
//! amount that other items added to this smallest counter.
//!
//! The counts in the stream must not be negative. N is the sum of all counts. The bounds hold for a
//! single item that was chosen without knowing the hashes.
//!
//! The results follow section 9 of Kirsch and Mitzenmacher, with the corrections K12 to K15 of
//! docs/ERRATA.md.
//!
//! ```
//! use truebloom_math::count_min::{Family, Rows, Shape};
//! // An estimate is too high by 1% of the stream's sum with probability at most 0.1%.
//! let (error, risk) = ("0.01".parse()?, "0.001".parse()?);
//! let classic = Shape::for_error(&error, &risk, Rows::Independent)?;
//! let two_hash = Shape::for_error(&error, &risk, Rows::TwoHash)?;
//! assert_eq!((classic.width(), classic.depth(), classic.hash_functions()), (272, 7, 7));
//! assert_eq!((two_hash.width(), two_hash.depth(), two_hash.hash_functions()), (547, 5, 4)); // two copies
//! assert!(two_hash.failure_bound(&error, Family::Ideal)?.upper <= 0.001);
//! # Ok::<(), truebloom_math::Error>(())
//! ```

mod euler;
mod failure;
mod shape;
mod tail;

pub use crate::exact::modular::{is_prime, next_prime};
pub use shape::{MAX_COPIES, Shape};

use crate::Rate;
use core::fmt;

/// The method by which the rows of a sketch get their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// Every row has its own hash function, as in the classic sketch of Cormode and Muthukrishnan.
    Independent,
    /// Row j uses `h1 + j h2` modulo the width, which is a prime. Each copy has its own hash
    /// functions h1 and h2.
    TwoHash,
}

/// The properties that the hash functions of a sketch are assumed to have. The proven bounds on the
/// sketch's errors depend on these properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// The hash functions are random functions. The hashes of all items are independent.
    Ideal,
    /// The hash functions are pairwise independent. The hashes of any two items are independent,
    /// but those of three items may depend on each other. Different hash functions are independent
    /// of each other.
    Pairwise,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Ideal => "ideal",
            Family::Pairwise => "pairwise",
        })
    }
}

/// Returns a lower bound on the logarithm of a rate. If the logarithm of an upper bound on a
/// probability is at most this value, the probability is proven to be at most the rate. The
/// computation rounds about ten times, and all its numbers are below 10^4. These rounding errors
/// add up to less than a tenth of [`LN_SLACK`].
fn ln_target(rate: &Rate) -> f64 {
    rate.ln() - LN_SLACK
}

/// A margin for the rounding errors of bounds that are computed as logarithms. The margin
/// corresponds to a factor of 1 + 10^-9 in the probability.
const LN_SLACK: f64 = 1e-9;
