//! Count-Min sketches: how large they must be for a given error and probability, and what is proven
//! about the estimates.
//!
//! A sketch is `depth` rows of `width` counters (times `copies`). An item adds its count to one
//! counter of every row, and its estimate is the smallest of its counters: never below its count,
//! and too high by what other items added to that counter. All bounds are for one item that was
//! chosen without knowing the hashes, in a stream of non-negative counts that add up to N.
//!
//! Source: Kirsch and Mitzenmacher, section 9, with the corrections K12 to K15 of docs/ERRATA.md.
//!
//! ```
//! use truebloom_math::count_min::{Family, Rows, Shape};
//! // Above by a hundredth of the stream at most once in a thousand.
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

/// How the rows of a sketch get their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// Every row has its own hash function: the classic sketch of Cormode and Muthukrishnan.
    Independent,
    /// Row j uses `h1 + j h2` modulo a prime width, from two hash functions per copy.
    TwoHash,
}

/// What is assumed about the hash functions, which determines what can be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Random functions: any number of items are hashed independently.
    Ideal,
    /// Any two items are hashed independently, but nothing is known about three; the functions are
    /// independent of each other.
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

/// A lower bound on the logarithm of a rate: an upper bound in logarithms must not exceed it to
/// prove that a probability is at most the rate. The errors of some ten roundings of numbers below
/// 10^4 are less than a tenth of the slack.
fn ln_target(rate: &Rate) -> f64 {
    rate.ln() - LN_SLACK
}

/// A margin added wherever a bound is evaluated in logarithms: a relative 10^-9 of a probability,
/// which is negligible.
const LN_SLACK: f64 = 1e-9;
