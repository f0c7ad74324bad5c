//! Chooses the candidates at random, and their number in each group.

/// The generator SplitMix64. It must not change, so that a seed always gives the same faults.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = (u128::from(self.next()) * (i as u128 + 1)) >> 64;
            items.swap(i, j as usize);
        }
    }
}

/// The number of candidates to take from each group, for groups of these sizes. Each group gets at
/// least `least` candidates, or all that it has. The rest is divided in proportion to the sizes.
pub fn quotas(sizes: &[usize], total: usize, least: usize) -> Vec<usize> {
    let mut quotas: Vec<usize> = sizes.iter().map(|&size| size.min(least)).collect();
    while quotas.iter().sum::<usize>() < total {
        // The group that is furthest behind its share gets the next candidate.
        let next = (0..sizes.len()).filter(|&i| quotas[i] < sizes[i]).max_by(|&a, &b| {
            let behind = |i: usize| sizes[i] as f64 / (quotas[i] as f64 + 1.0);
            behind(a).total_cmp(&behind(b)).then(b.cmp(&a))
        });
        let Some(next) = next else { break };
        quotas[next] += 1;
    }
    quotas
}
