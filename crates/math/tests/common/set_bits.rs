//! The law of the number of set bits of one block, computed in the simplest way. The unit tests of
//! the guarantee of blocks also use this file.

/// Bits of a block.
pub(crate) const BITS: usize = 512;

/// For each load in `0..=most`, the law of the number of set bits of a block, computed ball by ball
/// without dropping small probabilities.
pub(crate) fn set_bits(most: usize, probes: u32) -> Vec<Vec<f64>> {
    let mut now = vec![0.0; BITS + 1];
    now[0] = 1.0;
    let mut rows = vec![now.clone()];
    for _ in 0..most {
        for _ in 0..probes {
            for ones in (0..=BITS).rev() {
                let before = if ones > 0 { now[ones - 1] * (BITS + 1 - ones) as f64 } else { 0.0 };
                now[ones] = (now[ones] * ones as f64 + before) / BITS as f64;
            }
        }
        rows.push(now.clone());
    }
    rows
}
