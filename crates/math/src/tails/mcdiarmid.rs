//! McDiarmid's inequality. It is used for filters for which the exact distribution of the number of
//! set bits is not known.
//!
//! The number of set bits and the rate are functions of n independent items. Let f be one of these
//! two functions. If a change of one item changes f by at most c, then
//! `P(f >= E f + d) <= exp(-2 d^2 / (n c^2))`. The same bound holds for `P(f <= E f - d)`
//! (McDiarmid, "On the method of bounded differences", 1989, lemma 1.2).
//!
//! An item sets at most k bits, so an item changes the number of set bits by at most k. A similar
//! bound holds for the rate. Each of the k positions of a query is uniform over the m bits or over
//! its slice. The probability that at least one of these positions is also a position of a given
//! item is at most `k^2 / m`. Therefore an item changes the rate by at most `k^2 / m`.

/// The number of set bits after a given number of distinct items. The positions of an item may
/// depend on each other, but each bit must be equally likely to be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// The number of bits, m.
    pub bits: u64,
    /// The number of probes, k, which is the largest number of bits that an item sets.
    pub probes: u32,
    /// The number of distinct items.
    pub items: u64,
    /// The mean number of different bits that one item sets. If this mean is not known, set this
    /// field to an upper bound on it before a call of [`at_least`](Self::at_least), or to a lower
    /// bound before a call of [`at_most`](Self::at_most).
    pub covered: f64,
}

impl Fill {
    /// Returns the mean number of set bits, `m (1 - (1 - covered/m)^n)`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let bits = self.bits as f64;
        -bits * libm::expm1(self.items as f64 * libm::log1p(-(self.covered / bits).min(1.0)))
    }

    /// Returns an upper bound on the probability of at least `ones` set bits.
    #[must_use]
    pub fn at_least(&self, ones: u64) -> f64 {
        self.tail(ones as f64 - self.mean())
    }

    /// Returns an upper bound on the probability of at most `ones` set bits.
    #[must_use]
    pub fn at_most(&self, ones: u64) -> f64 {
        self.tail(self.mean() - ones as f64)
    }

    fn tail(&self, distance: f64) -> f64 {
        // A margin for the rounding of the mean.
        let distance = distance - 1e-9 * self.bits as f64 - 1e-6;
        if distance <= 0.0 {
            return 1.0;
        }
        let probes = f64::from(self.probes);
        libm::exp(-2.0 * distance * distance / (self.items as f64 * probes * probes))
    }
}

/// Returns the mean number of different bits that `probes` independent positions cover in a block
/// of `bits` bits.
#[must_use]
pub fn covered(bits: u64, probes: u32) -> f64 {
    let bits = bits as f64;
    -bits * libm::expm1(f64::from(probes) * libm::log1p(-1.0 / bits))
}

/// Returns a distance d. With a probability of at most `error`, the rate of one filter is d or more
/// above the mean rate. The probability that the rate is below the mean rate by d or more is also
/// at most `error`. Each position must be uniform over the bits or over a slice.
#[must_use]
pub fn rate_distance(bits: u64, probes: u32, items: u64, error: f64) -> f64 {
    let probes = f64::from(probes);
    probes * probes / bits as f64 * libm::sqrt(items as f64 * -libm::log(error) / 2.0) * (1.0 + 1e-12)
}
