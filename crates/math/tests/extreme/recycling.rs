//! Calls the functions for recycling filters with extreme arguments.

use crate::watch::{Call, watch};
use std::hint::black_box;
use truebloom_math::recycling::{
    blocked_capacity, blocked_min_bits, capacity, compare, min_bits, n_bounded, remember, worst_capacity, worst_min_bits, worst_remember,
};

pub(crate) const CALLS: &[Call] = &[
    ("long_run", |d| {
        if let Some(design) = d.design() {
            black_box((design.long_run().ok(), design.total_bits()));
        }
    }),
    ("long_run_nearly", |d| {
        if let Some(design) = d.design() {
            black_box(design.long_run_nearly()).ok();
        }
    }),
    ("fpr_with_limit", |d| {
        if let Some(design) = d.design() {
            let items = d.beside(design.bits());
            black_box(design.fpr_with_limit(items)).ok();
        }
    }),
    ("wrong_drops_at_most", |d| {
        if let Some(design) = d.design() {
            let (items, confidence) = (d.beside(design.bits()), d.confidence());
            black_box(design.wrong_drops_at_most(items, confidence)).ok();
        }
    }),
    ("cycle", |d| {
        if let Some(design) = d.design() {
            let (items, p) = (d.beside(design.bits()), d.confidence());
            if let Ok(cycle) = design.cycle() {
                black_box((cycle.survival(items), cycle.quantile(p).ok()));
            }
        }
    }),
    ("forgetting", |d| {
        if let Some(design) = d.design() {
            let (gap, probability) = (d.size(), d.confidence());
            if let Ok(forgetting) = design.forgetting() {
                black_box((forgetting.remembered_at_least(), forgetting.remembered_at_most(), forgetting.probability(gap)));
                black_box(forgetting.gap_at(probability));
            }
        }
    }),
    ("forgetting.averaged", |d| {
        if let Some(design) = d.design() {
            let gaps = d.gaps();
            if let Ok(forgetting) = design.forgetting() {
                black_box(forgetting.averaged(gaps)).ok();
            }
        }
    }),
    ("forgetting.after", |d| {
        if let Some(design) = d.design() {
            let (seconds, rate) = (d.real(), d.real());
            if let Ok(forgetting) = design.forgetting() {
                black_box(forgetting.after(seconds, rate)).ok();
            }
        }
    }),
    ("capacity", |d| {
        let (bits, rate, mode) = (d.size(), d.rate(), d.mode());
        black_box(capacity(bits, &rate, mode)).ok();
    }),
    ("worst_capacity", |d| {
        let (bits, rate, mode) = (d.size(), d.rate(), d.mode());
        black_box(worst_capacity(bits, &rate, mode)).ok();
    }),
    ("recycling::min_bits", |d| {
        let (items, rate, mode) = (d.size() as f64, d.rate(), d.mode());
        black_box(min_bits(items, &rate, mode)).ok();
    }),
    ("worst_min_bits", |d| {
        let (items, rate, mode) = (d.size() as f64 + d.real(), d.rate(), d.mode());
        black_box(worst_min_bits(items, &rate, mode)).ok();
    }),
    ("remember", |d| {
        let (items, forgotten, rate, mode) = (d.size(), d.confidence(), d.rate(), d.mode());
        black_box(remember(items, forgotten, &rate, mode)).ok();
    }),
    ("remember for certain", |d| {
        let (items, rate, mode) = (d.size(), d.rate(), d.mode());
        black_box(remember(items, 0.0, &rate, mode)).ok();
    }),
    ("worst_remember", |d| {
        let (items, forgotten, rate, mode) = (d.size(), d.confidence(), d.rate(), d.mode());
        black_box(worst_remember(items, forgotten, &rate, mode)).ok();
    }),
    ("compare", |d| {
        let (bits, rate, mode) = (d.size(), d.rate(), d.mode());
        black_box(compare(bits, &rate, mode)).ok();
    }),
    ("n_bounded", |d| {
        let (bits, probes, counting) = (d.size(), d.probes(), d.counting());
        let items = d.beside(bits);
        black_box(n_bounded(bits, probes, items, counting)).ok();
    }),
    ("BlockedDesign", |d| {
        if let Some(design) = d.blocked_design() {
            let (items, confidence) = (d.size(), d.confidence());
            black_box((design.long_run().ok(), design.weights(), design.most_weight()));
            black_box(design.wrong_drops_at_most(items, confidence)).ok();
        }
    }),
    ("blocked_capacity", |d| {
        let (bits, rate) = (d.size(), d.rate());
        black_box(blocked_capacity(bits, &rate)).ok();
    }),
    ("blocked_min_bits", |d| {
        let (items, rate) = (d.size() as f64, d.rate());
        black_box(blocked_min_bits(items, &rate)).ok();
    }),
];

#[test]
fn recycling_ends_in_time() {
    watch(4, CALLS, 25);
}
