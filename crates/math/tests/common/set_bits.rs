//! The law of the set bits of one block, in the plainest way; the unit tests of the guarantee of
//! blocks use it, too.

/// Bits of a block.
pub(crate) const BITS: usize = 512;

/// For the loads `0..=most` the law of a block's set bits, ball by ball and with nothing left out.
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
