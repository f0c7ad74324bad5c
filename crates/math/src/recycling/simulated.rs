//! A filter for simulations, with uniform positions from a random generator that never changes.

use super::simulate::Subject;
use super::{Design, Result, Seeds};
use crate::error::out_of_range;
use crate::exact::random::SplitMix64;
use alloc::vec;
use alloc::vec::Vec;

/// The largest number of bits of a simulated filter.
const MOST_BITS: u64 = 1 << 28;

pub(super) struct Filter {
    design: Design,
    seed: u64,
    cycle: u64,
    active: Vec<bool>,
    ones: u64,
    /// The number of items that have set bits in this cycle. The cycle ends when this number
    /// reaches `most_items`.
    items: u64,
    most_items: u64,
    frozen: Vec<bool>,
    positions: Vec<usize>,
    frozen_positions: Vec<usize>,
    /// The item with which this cycle began, if it keeps the positions of the previous cycle.
    retained: Option<(u64, Vec<usize>)>,
}

impl Subject for Filter {
    fn offer(&mut self, item: u64) -> bool {
        let (mut positions, mut older) = (core::mem::take(&mut self.positions), core::mem::take(&mut self.frozen_positions));
        match &self.retained {
            Some((kept, old)) if *kept == item => positions.clone_from(old),
            _ => self.place(item, self.cycle, &mut positions),
        }
        let in_active = positions.iter().all(|&position| self.active[position]);
        let mut known = in_active;
        if self.design.mode.has_two_phases() && self.cycle > 0 {
            self.place(item, self.cycle - 1, &mut older);
            known |= older.iter().all(|&position| self.frozen[position]);
        }
        if !in_active {
            let fresh = self.set(&positions);
            self.items += 1;
            if self.ones > self.design.sigma || self.items >= self.most_items {
                self.recycle(&positions, &fresh, item);
            }
        }
        (self.positions, self.frozen_positions) = (positions, older);
        known
    }

    fn cycles(&self) -> u64 {
        self.cycle
    }
}

impl Filter {
    pub(super) fn new(design: Design, seed: u64) -> Result<Filter> {
        if design.total_bits() > MOST_BITS {
            return out_of_range("bits", design.total_bits(), "at most 2^28 in a simulation");
        }
        let bits = design.bits as usize;
        let frozen = if design.mode.has_two_phases() { bits } else { 0 };
        Ok(Filter {
            design,
            seed,
            cycle: 0,
            active: vec![false; bits],
            ones: 0,
            items: 0,
            most_items: u64::MAX,
            frozen: vec![false; frozen],
            positions: Vec::new(),
            frozen_positions: Vec::new(),
            retained: None,
        })
    }

    /// Creates a filter of one phase that also ends a cycle when `most_items` items have set bits.
    pub(super) fn counted(design: Design, most_items: u64, seed: u64) -> Result<Filter> {
        Ok(Filter { most_items, ..Filter::new(design, seed)? })
    }

    fn place(&self, item: u64, cycle: u64, into: &mut Vec<usize>) {
        let one_hash = self.design.mode.shares_positions();
        let mut random = SplitMix64::of(&[self.seed, item, if one_hash { 0 } else { cycle }]);
        into.clear();
        while into.len() < self.design.probes as usize {
            let position = random.below(self.design.bits) as usize;
            if self.design.mode.colliding || !into.contains(&position) {
                into.push(position);
            }
        }
    }

    /// Sets bits, and returns the positions that were not set before.
    fn set(&mut self, positions: &[usize]) -> Vec<usize> {
        let fresh: Vec<usize> =
            positions.iter().copied().filter(|&position| !core::mem::replace(&mut self.active[position], true)).collect();
        self.ones += fresh.len() as u64;
        fresh
    }

    fn recycle(&mut self, positions: &[usize], fresh: &[usize], item: u64) {
        let mode = self.design.mode;
        self.cycle += 1;
        if mode.has_two_phases() {
            if mode.excludes_triggers() {
                fresh.iter().for_each(|&position| self.active[position] = false);
            }
            core::mem::swap(&mut self.active, &mut self.frozen);
        }
        self.active.fill(false);
        (self.ones, self.items) = (0, 0);
        if mode.retaining {
            let mut positions = positions.to_vec();
            match mode.seeds {
                // The item keeps the positions that made the filter overflow.
                Seeds::Kept => self.retained = Some((item, positions.clone())),
                Seeds::Renewed => self.place(item, self.cycle, &mut positions),
            }
            self.set(&positions);
        }
    }
}
