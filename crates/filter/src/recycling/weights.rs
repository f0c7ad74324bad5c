//! What a line adds to the rate.

/// For each number of set bits d of a line of 512 bits, `2^64 (d / 512)^k`, rounded up.
#[derive(Clone, PartialEq)]
pub(super) struct Weights(Box<[u128; 513]>);

impl Weights {
    pub(super) fn new(probes: u32) -> Weights {
        Weights(Box::new(std::array::from_fn(|ones| weight(ones as u128, probes))))
    }

    /// Of a line with so many set bits, at most 512.
    #[inline]
    pub(super) fn of(&self, ones: usize) -> u128 {
        self.0.get(ones).copied().unwrap_or(1 << 64)
    }
}

/// In whole numbers with 118 bits after the point: each of at most 64 steps is rounded up by less than a unit of them.
fn weight(ones: u128, probes: u32) -> u128 {
    const MORE: u32 = 54;
    let power = (0..probes).fold(1u128 << (64 + MORE), |power, _| (power * ones).div_ceil(512));
    power.div_ceil(1 << MORE)
}
