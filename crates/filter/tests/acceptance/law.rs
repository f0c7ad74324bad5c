//! The statistical tests that give the p-values.

use truebloom_math::{Variant, binomial};

/// Bennett's two-sided bound for a sum of independent Bernoulli variables at this distance from its
/// mean.
pub fn bennett(distance: f64, variance: f64) -> f64 {
    let u = distance.abs() / variance;
    let h = if u < 1e-4 { u * u * (0.5 - u / 6.0) } else { (1.0 + u) * u.ln_1p() - u };
    (2.0 * (-variance * h).exp()).min(1.0)
}

/// A test of the distribution of set bits in small filters. The possible numbers of set bits are
/// divided into ten cells of about equal probability, and each cell's count is tested against its
/// binomial distribution.
pub struct Cells {
    /// The largest number of set bits in each cell, and the cell's probability.
    cells: Vec<(u64, f64)>,
    counts: Vec<u64>,
}

impl Cells {
    /// Computes the distribution of the number of set bits from the occupancy chain. If i distinct
    /// positions of the item are set already, the next position is one of the other set bits, or
    /// sets one more bit. For schemes whose positions may repeat, i is 0. All terms are positive.
    pub fn new(variant: Variant, bits: u64, probes: u32, items: u64) -> Cells {
        let throws = items * u64::from(probes);
        if throws * throws.min(bits) > 10_000_000 {
            return Cells { cells: Vec::new(), counts: Vec::new() };
        }
        let size = throws.min(bits) as usize + 1;
        let mut pmf = vec![0.0; size];
        pmf[0] = 1.0;
        for throw in 0..throws {
            let drawn = if variant == Variant::Classic { (throw % u64::from(probes)) as f64 } else { 0.0 };
            let hit = |b: usize| ((b as f64 - drawn) / (bits as f64 - drawn)).max(0.0);
            for b in (0..size).rev() {
                let entered = if b > 0 { pmf[b - 1] * (1.0 - hit(b - 1)) } else { 0.0 };
                pmf[b] = pmf[b] * hit(b) + entered;
            }
        }
        let mut cells = Vec::new();
        let mut chance = 0.0;
        for (ones, p) in pmf.iter().enumerate() {
            chance += p;
            if chance >= 0.1 || ones + 1 == size {
                cells.push((ones as u64, chance));
                chance = 0.0;
            }
        }
        let counts = vec![0; cells.len()];
        Cells { cells, counts }
    }

    pub fn count(&mut self, ones: u64) {
        if let Some(cell) = self.cells.iter().position(|(last, _)| ones <= *last) {
            self.counts[cell] += 1;
        }
    }

    /// The smallest p-value of the cells, multiplied by their number; 1 if the filter is too large
    /// for cells.
    pub fn p_value(&self) -> f64 {
        let total = self.counts.iter().sum();
        let each = self.cells.iter().zip(&self.counts).map(|((_, chance), count)| binomial::two_sided(*count, total, *chance));
        (each.fold(1.0, f64::min) * self.cells.len().max(1) as f64).min(1.0)
    }
}
