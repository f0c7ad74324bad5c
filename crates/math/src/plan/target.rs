//! The target of a plan: the known quantities and the requested rate.

use crate::error::{check_confidence, check_probes, out_of_range};
use crate::law::hash_floor;
use crate::search;
use crate::{Error, Layout, Rate, Result, SchemeId, Variant};
use alloc::format;

/// What a plan promises about the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Promise {
    /// The expected rate, which is the mean over all seeds, is at most the requested rate. In
    /// addition, a filter with a random seed meets the requested rate with a probability of at
    /// least `confidence`. Both statements are proven.
    OneFilter {
        /// The required probability that a filter with a random seed meets the requested rate. The
        /// value is strictly between 0 and 1.
        confidence: f64,
    },
    /// The expected rate, which is the mean over all seeds, is proven to be at most the requested
    /// rate. However, about half of all filters with such a plan have a rate slightly above the
    /// requested rate.
    Mean,
}

impl Promise {
    /// The default confidence of a guarantee: 99.9%.
    pub const DEFAULT_CONFIDENCE: f64 = 0.999;
}

impl Default for Promise {
    fn default() -> Promise {
        Promise::OneFilter { confidence: Promise::DEFAULT_CONFIDENCE }
    }
}

/// The input of [`Plan::new`](crate::Plan::new): what a filter must hold, and the rate that it must
/// not exceed. Set two of `items`, `rate` and `bits`; the plan computes the third. If all three are
/// set, `Plan::new` fails unless it can prove that the rate is met.
///
/// ```
/// use truebloom_math::{Plan, Target};
/// let plan = Plan::new(&Target::new().items(1_000).rate("1%".parse()?))?;
/// assert!(plan.fpr.upper <= 0.01 && plan.guarantee.is_some_and(|one| one.fpr.upper <= 0.01));
/// let mean = Plan::new(&Target::new().items(1_000).rate("1%".parse()?).mean())?;
/// assert_eq!((mean.bits, mean.probes), (9_595, 7));
/// assert!(mean.textbook()?.fpr.lower > 0.01, "the textbook's 9,586 bits miss the rate");
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Target {
    /// The number of distinct items that the filter must hold.
    pub items: Option<u64>,
    /// The requested false-positive rate.
    pub rate: Option<Rate>,
    /// The number of bits that the filter may have. If the layout has blocks, this number is
    /// rounded down to whole blocks.
    pub bits: Option<u64>,
    /// The number of probes for each item.
    pub probes: Option<u32>,
    /// The memory cap, in bits.
    pub max_bits: Option<u64>,
    /// The width of a key's hash in bits. The default is 128. In the crate `truebloom`, the hashers
    /// `Prehashed` and `ForeignHasher` have hashes of 64 bits. Keys with equal hashes add at most
    /// `items / 2^hash_bits` to the rate.
    pub hash_bits: u32,
    /// The scheme: how a hash determines the positions of a key.
    pub scheme: SchemeId,
    /// Where the positions of a key are. [`Layout::Lines`] and [`Layout::Auto`] are possible only
    /// with the schemes [`SchemeId::Standard`] and [`SchemeId::Blocked`]. With
    /// [`SchemeId::Blocked`], the plan has [`Layout::Lines`], whatever this field says.
    pub layout: Layout,
    /// What the requested rate limits: with a given probability, the rate of a single filter (the
    /// default); or only the average rate over filters.
    pub promise: Promise,
}

impl Default for Target {
    fn default() -> Target {
        Target {
            items: None,
            rate: None,
            bits: None,
            probes: None,
            max_bits: None,
            hash_bits: 128,
            scheme: SchemeId::Standard,
            layout: Layout::Spread,
            promise: Promise::default(),
        }
    }
}

impl Target {
    /// Creates a target without items, rate or bits. The target has the standard scheme, a 128-bit
    /// hash, and a guarantee for the individual filter with a confidence of 99.9%.
    #[must_use]
    pub fn new() -> Target {
        Target::default()
    }

    /// Sets the number of distinct items that the filter must hold.
    #[must_use]
    pub fn items(self, items: u64) -> Target {
        Target { items: Some(items), ..self }
    }

    /// Sets the requested false-positive rate.
    #[must_use]
    pub fn rate(self, rate: Rate) -> Target {
        Target { rate: Some(rate), ..self }
    }

    /// Sets the number of bits that the filter may have.
    #[must_use]
    pub fn bits(self, bits: u64) -> Target {
        Target { bits: Some(bits), ..self }
    }

    /// Sets the number of probes for each item.
    #[must_use]
    pub fn probes(self, probes: u32) -> Target {
        Target { probes: Some(probes), ..self }
    }

    /// Sets the memory cap, in bits.
    #[must_use]
    pub fn max_bits(self, max_bits: u64) -> Target {
        Target { max_bits: Some(max_bits), ..self }
    }

    /// Sets the width of a key's hash in bits.
    #[must_use]
    pub fn hash_bits(self, hash_bits: u32) -> Target {
        Target { hash_bits, ..self }
    }

    /// Sets the scheme: how a hash determines the positions of a key.
    #[must_use]
    pub fn scheme(self, scheme: SchemeId) -> Target {
        Target { scheme, ..self }
    }

    /// Sets where the positions of a key are: anywhere, or in one cache line.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Target {
        Target { layout, ..self }
    }

    /// Sets the promise to [`Promise::Mean`]: only the average rate over filters must be at most
    /// the requested rate. The filter needs fewer bits than with the default promise. However,
    /// about half of all filters with such a plan have a rate slightly above the requested rate.
    #[must_use]
    pub fn mean(self) -> Target {
        Target { promise: Promise::Mean, ..self }
    }

    /// Sets the confidence: the lowest allowed probability, over random seeds, that a filter meets
    /// the requested rate. The default is 99.9%.
    #[must_use]
    pub fn confidence(self, confidence: f64) -> Target {
        Target { promise: Promise::OneFilter { confidence }, ..self }
    }

    /// Returns the requested confidence, or `None` if the target requests only the mean.
    pub(crate) fn asked_confidence(&self) -> Option<f64> {
        match self.promise {
            Promise::OneFilter { confidence } => Some(confidence),
            Promise::Mean => None,
        }
    }

    /// Returns the variant of the scheme, or the standard variant if the scheme has none.
    pub(crate) fn variant(&self) -> Variant {
        self.scheme.variant().unwrap_or(Variant::Standard)
    }

    /// Returns an error for a target that no planner can use.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(probes) = self.probes {
            check_probes(probes)?;
        }
        if self.items == Some(0) {
            return out_of_range("items", 0, "at least 1");
        }
        if !(1..=128).contains(&self.hash_bits) {
            return out_of_range("hash_bits", self.hash_bits, "from 1 to 128");
        }
        if self.max_bits == Some(0) {
            return out_of_range("max_bits", 0, "at least 1");
        }
        if self.layout != Layout::Spread && !matches!(self.scheme, SchemeId::Standard | SchemeId::Blocked) {
            return out_of_range("scheme", self.scheme, "standard for the blocked layout, which has its own scheme");
        }
        match self.promise {
            Promise::OneFilter { confidence } => {
                check_confidence(confidence)?;
                if self.scheme.has_guarantee() { Ok(()) } else { Err(Error::NoGuarantee { scheme: self.scheme }) }
            }
            _ => Ok(()),
        }
    }

    /// Determines which of the three questions the target asks. Returns an error if too little is
    /// given.
    pub(crate) fn ask(&self) -> Result<Ask> {
        let underdetermined = |given, missing| Err(Error::Underdetermined { given, missing });
        match (self.items, self.rate, self.bits) {
            (Some(items), Some(rate), None) => Ok(Ask::FewestBits { items, rate }),
            (None, Some(rate), Some(bits)) => Ok(Ask::MostItems { rate, bits }),
            (Some(items), rate, Some(bits)) => Ok(Ask::GivenSize { items, rate, bits }),
            (Some(_), None, None) => underdetermined("the number of items alone", "a rate or a number of bits as well"),
            (None, Some(_), None) => underdetermined("a rate alone", "the number of items or of bits as well"),
            (None, None, Some(_)) => underdetermined("the number of bits alone", "the number of items or a rate as well"),
            (None, None, None) => underdetermined("an empty target", "two of these three: the number of items, a rate, the number of bits"),
        }
    }

    /// Returns an error if the bound on equal hashes alone reaches the rate.
    pub(crate) fn check_hash_floor(&self, items: u64, asked: Rate) -> Result<()> {
        let reachable = hash_floor(items, self.hash_bits);
        // A rate equal to the bound on equal hashes cannot be reached, because the positions add to
        // the rate.
        if search::reaches(reachable, &asked) {
            return Err(Error::BelowHashFloor { asked, items, hash_bits: self.hash_bits, reachable });
        }
        Ok(())
    }

    /// Checks that a number of bits is at most the memory cap, [`max_bits`](Self::max_bits).
    ///
    /// # Errors
    /// Fails if there are more bits than the cap allows.
    pub fn check_cap(&self, bits: u64) -> Result<()> {
        match self.max_bits {
            Some(cap) if bits > cap => out_of_range("bits", bits, format!("at most the memory cap of {cap} bits")),
            _ => Ok(()),
        }
    }
}

/// The three questions that a target can ask.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    /// The smallest number of bits for these items at this rate.
    FewestBits { items: u64, rate: Rate },
    /// The largest number of items that these bits hold at this rate.
    MostItems { rate: Rate, bits: u64 },
    /// The lowest rate of a given size. If the target requests a rate, the lowest rate is compared
    /// with it.
    GivenSize { items: u64, rate: Option<Rate>, bits: u64 },
}
