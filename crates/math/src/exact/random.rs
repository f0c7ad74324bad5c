//! Random numbers for simulations.

/// A random number generator (Steele, Lea and Flood 2014) whose numbers are the same on every
/// machine and in every version.
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator with this seed. Similar seeds give unrelated streams of numbers.
    #[must_use]
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64::of(&[seed])
    }

    /// Creates a generator with the internal state `state`. The published algorithm calls this
    /// state the seed.
    #[must_use]
    pub fn at(state: u64) -> SplitMix64 {
        SplitMix64(state)
    }

    /// Creates a generator whose seed is a list of numbers. Different lists give unrelated
    /// generators.
    #[must_use]
    pub fn of(numbers: &[u64]) -> SplitMix64 {
        let mut state = SplitMix64(0x5851_f42d_4c95_7f2d);
        for &number in numbers {
            state.0 ^= number;
            state.0 = state.word();
        }
        state
    }

    /// Returns the next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a random number below `range`. The relative bias is at most `range / 2^64`, which is
    /// negligible for ranges far below 2^64.
    pub fn below(&mut self, range: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(range)) >> 64) as u64
    }

    /// Returns a number in `[0, 1)`, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The finalizer of the generator. It is a bijection in which every bit of the input influences
/// every bit of the output.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
