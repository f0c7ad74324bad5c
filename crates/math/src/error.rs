//! Errors of calculations, with the values that caused them.

use crate::{Rate, SchemeId};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use core::fmt;

/// The reason why a rate, a plan or an estimate cannot be computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    OutOfRange {
        /// The name of the parameter, such as `bits`, `items`, `probes` or `ones`.
        name: &'static str,
        /// The value that was given.
        found: String,
        /// The range in which the value must be.
        expected: String,
    },
    /// The text is not a valid rate.
    NotARate {
        /// The text that was given.
        found: String,
        /// The reason why the text is not a rate.
        reason: &'static str,
    },
    /// The requested certificate cannot be made. A certificate proves a claim about a filter. The
    /// claim is false, or no certificate of reasonable size proves it.
    NotCertified {
        /// The statement for which no certificate can be made.
        claim: &'static str,
    },
    /// The [`Target`](crate::Target) of a plan does not determine a filter. A plan requires two of
    /// these three quantities: items, rate and bits.
    Underdetermined {
        /// The quantities that were given.
        given: &'static str,
        /// The quantities that are missing.
        missing: &'static str,
    },
    /// The hashes are too short to reach the requested rate with this number of items.
    BelowHashFloor {
        /// The requested rate.
        asked: Rate,
        /// The number of items.
        items: u64,
        /// The width of the hash in bits.
        hash_bits: u32,
        /// An upper bound on the probability that a new key has the same hash as an item:
        /// `items / 2^hash_bits`. The requested rate must be above this bound.
        reachable: f64,
    },
    /// The requested rate is too low for a filter of this size that forgets old items. Keys with
    /// equal 128-bit hashes alone may cause more than half of the requested rate.
    EqualHashes {
        /// The requested rate.
        asked: Rate,
        /// The number of bits of the filter.
        bits: u64,
        /// The requested rate must be at least this number: twice the upper bound on the rate that
        /// equal hashes cause.
        least: f64,
    },
    /// The rate needs more memory than is allowed.
    OverMemoryCap {
        /// The requested rate.
        asked: Rate,
        /// The number of items.
        items: u64,
        /// The number of bits that the rate needs, or `None` if it is above
        /// [`MAX_BITS`](crate::MAX_BITS).
        needed: Option<u64>,
        /// The largest number of bits that is allowed.
        allowed: u64,
        /// The lowest rate that is possible with the allowed bits, or an upper bound on it.
        reachable: f64,
    },
    /// The requested rate cannot be reached with these bits, or no proof shows that it can.
    OutOfReach {
        /// The requested rate.
        asked: Rate,
        /// The number of items.
        items: u64,
        /// The number of bits.
        bits: u64,
        /// The number of probes that gives the rate `reachable`.
        probes: u32,
        /// A rate that is proven to be possible with this number of bits. If a guarantee for one
        /// filter was requested, this is a rate that can be guaranteed. Otherwise, it is an average
        /// rate.
        reachable: f64,
        /// If true, the requested rate is impossible: it is proven that no number of probes gives
        /// an average rate that low. If the number of probes was given, this is proven only for
        /// that number. If false, the requested rate may be possible, but there is no proof that it
        /// is.
        is_impossible: bool,
    },
    /// There is no proof that the scheme reaches the requested rate with the allowed number of
    /// bits.
    SchemeOutOfReach {
        /// The scheme's name.
        scheme: &'static str,
        /// The requested rate.
        asked: Rate,
        /// The number of items.
        items: u64,
        /// The largest number of bits that is allowed.
        allowed: u64,
        /// The lowest rate that the search could guarantee for the scheme within the allowed number
        /// of bits.
        reachable: f64,
        /// A scheme that reaches the rate.
        alternative: String,
    },
    /// A guarantee for one filter was requested. For this scheme, no useful bound is known on how
    /// much the rate differs from seed to seed.
    NoGuarantee {
        /// The scheme.
        scheme: SchemeId,
    },
    /// The exact computation would take too much time.
    TooCostly {
        /// The number of probes.
        probes: u32,
        /// The precision that would be needed, in binary digits.
        digits: u64,
    },
    /// The requested calculation would take too many steps.
    TooLong {
        /// The requested calculation.
        what: &'static str,
        /// The number of steps that the calculation would take.
        steps: f64,
        /// The largest number of steps that is allowed.
        allowed: f64,
    },
    /// Computing the distribution of the number of set bits would take too much time or memory.
    LawTooCostly {
        /// The number of bits.
        bits: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::OutOfRange { name, found, expected } => write!(f, "{name} is {found}, but must be {expected}"),
            Error::NotARate { found, reason } => {
                write!(f, "`{found}` is not a rate: {reason}; rates are written like 0.001, 1e-3, 0.1% or 1/1000")
            }
            Error::NotCertified { claim } => write!(f, "no certificate can be made for the claim {claim}"),
            Error::Underdetermined { given, missing } => write!(f, "{given} does not determine a filter; give {missing}"),
            Error::BelowHashFloor { asked, items, hash_bits, reachable } => write!(
                f,
                "a rate of {asked} is impossible for {}: collisions of {hash_bits}-bit hashes alone give a rate of {}; \
                 choose a rate above that, or split the keys over several filters{}",
                plural(*items, "item"),
                rounded_up(*reachable),
                if *hash_bits < 128 { ", or use a 128-bit hash" } else { "" }
            ),
            Error::EqualHashes { asked, bits, least } => write!(
                f,
                "a rate of {asked} cannot be guaranteed for a recycling filter of {}: equal 128-bit hashes can raise its rate by up to {}; \
                 choose a rate of at least {}, or a smaller filter",
                size(Some(*bits)),
                rounded_up(*least / 2.0),
                rounded_up(*least)
            ),
            Error::OverMemoryCap { asked, items, needed, allowed, reachable } => {
                let is_capped = *allowed < crate::MAX_BITS;
                write!(f, "a rate of {asked} for {} needs ", plural(*items, "item"))?;
                if is_capped {
                    write!(f, "{}, but only {allowed} bits ({}) are allowed", size(*needed), plural(allowed / 8, "byte"))?;
                } else {
                    f.write_str("more than 2^62 bits, the largest size of a filter")?;
                }
                let reachable = rounded_up(*reachable);
                f.write_str(match (is_capped, reachable == "1") {
                    (true, true) => "; allow more memory or plan fewer items",
                    (true, false) => "; allow more memory, plan fewer items, ",
                    (false, true) => "; plan fewer items",
                    (false, false) => "; plan fewer items, ",
                })?;
                // A rate of 1 is not accepted, so it is not suggested.
                if reachable == "1" { Ok(()) } else { write!(f, "or choose a rate of at least {reachable}") }
            }
            Error::OutOfReach { asked, items, bits, probes, reachable, is_impossible } => {
                let verdict = if *is_impossible { "impossible" } else { "not proven" };
                write!(
                    f,
                    "a rate of {asked} for {} is {verdict} with {}: the lowest proven rate is {}, with {}; {}give more bits or fewer items",
                    plural(*items, "item"),
                    plural(*bits, "bit"),
                    rounded_up(*reachable),
                    plural(u64::from(*probes), "probe"),
                    if rounded_up(*reachable) == "1" { "" } else { "choose that rate, or " }
                )
            }
            Error::SchemeOutOfReach { scheme, asked, items, allowed, reachable, alternative } => write!(
                f,
                "{scheme} hashing is not proven to reach a rate of {asked} for {} in {allowed} bits: its rate may be up to \
                 {}; {alternative}",
                plural(*items, "item"),
                rounded_up(*reachable)
            ),
            Error::NoGuarantee { scheme } => write!(
                f,
                "no rate can be guaranteed for a single filter with {scheme} hashing: its bit positions are correlated, and no useful bound is known for the rate of one filter; guarantee only the average, or use the standard scheme"
            ),
            Error::TooCostly { probes, digits } => write!(
                f,
                "the exact rate at {probes} probes takes more work than is allowed here (integers of {digits} bits); use fewer \
                 probes"
            ),
            Error::TooLong { what, allowed, .. } => {
                write!(
                    f,
                    "{what} would take more than {allowed:.0e} steps, the most that one call may take (about a second); ask for fewer items, bits or probes"
                )
            }
            Error::LawTooCostly { bits } => write!(
                f,
                "the distribution of the number of set bits among {bits} bits takes more work than one call may do; its mean, \
                 variance and moments, and brackets of its tails and quantiles, are available at any size"
            ),
        }
    }
}

impl core::error::Error for Error {}

/// The `Result` of this crate's functions.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// Whether the error only reports that an answer takes too much work. If so, the caller can try
    /// a cheaper method.
    pub(crate) fn is_cost(&self) -> bool {
        matches!(self, Error::TooCostly { .. } | Error::TooLong { .. } | Error::LawTooCostly { .. })
    }

    /// Makes an [`Error::OutOfRange`]. The arguments are the name of the parameter, the value that
    /// was given, and the allowed range, such as "from 1 to 64".
    pub fn out_of_range(name: &'static str, found: impl ToString, expected: impl ToString) -> Error {
        Error::OutOfRange { name, found: found.to_string(), expected: expected.to_string() }
    }
}

pub(crate) fn out_of_range<T>(name: &'static str, found: impl ToString, expected: impl ToString) -> Result<T> {
    Err(Error::out_of_range(name, found, expected))
}

/// Checks that the number of bits is in the range that all laws share.
pub(crate) fn check_bits(bits: u64) -> Result<()> {
    if bits == 0 || bits > crate::MAX_BITS {
        return out_of_range("bits", bits, "from 1 to 2^62");
    }
    Ok(())
}

/// Checks that a confidence is strictly between 0 and 1.
pub(crate) fn check_confidence(confidence: f64) -> Result<()> {
    if confidence > 0.0 && confidence < 1.0 { Ok(()) } else { out_of_range("confidence", confidence, "strictly between 0 and 1") }
}

/// Checks that the number of probes is in the range that all laws share.
pub(crate) fn check_probes(probes: u32) -> Result<()> {
    if probes == 0 || probes > crate::MAX_PROBES {
        return out_of_range("probes", probes, format!("from 1 to {}", crate::MAX_PROBES));
    }
    Ok(())
}

/// Writes a rate to four digits, rounded up, so that a request for the printed rate succeeds.
fn rounded_up(rate: f64) -> String {
    if rate >= 0.001 {
        return format!("{}", libm::ceil(rate * 1e4).min(1e4) / 1e4);
    }
    let text = format!("{rate:.3e}");
    if text.parse().is_ok_and(|printed: f64| printed >= rate) {
        return text;
    }
    // Adds at least half a unit of the last printed digit, so that the rounded number is an upper
    // bound.
    format!("{:.3e}", rate * (1.0 + 5e-4))
}

fn size(bits: Option<u64>) -> String {
    bits.map_or("more than 2^62 bits".to_owned(), |bits| format!("{} ({})", plural(bits, "bit"), plural(bits.div_ceil(8), "byte")))
}

fn plural(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
