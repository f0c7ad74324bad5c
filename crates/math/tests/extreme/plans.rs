//! Calls plans, searches and certificates with extreme arguments.

use crate::watch::{Call, watch};
use std::hint::black_box;
use truebloom_math::certificate::{Certificate, Claim, Smallest};
use truebloom_math::{Plan, max_items, min_bits, optimal_probes};

pub(crate) const CALLS: &[Call] = &[
    ("Plan::new", |d| {
        let target = d.target();
        black_box(Plan::new(&target)).ok();
    }),
    ("Plan::textbook", |d| {
        let target = d.target();
        if let Ok(plan) = Plan::new(&target) {
            black_box((plan.textbook().ok(), plan.floors().ok(), plan.law().ok()));
        }
    }),
    ("min_bits", |d| {
        let (variant, items, rate) = (d.variant(), d.size(), d.rate());
        black_box(min_bits(variant, items, &rate)).ok();
    }),
    ("max_items", |d| {
        let (variant, bits, rate) = (d.variant(), d.size(), d.rate());
        black_box(max_items(variant, bits, &rate)).ok();
    }),
    ("optimal_probes", |d| {
        let (variant, bits) = (d.variant(), d.size());
        let items = d.beside(bits);
        black_box(optimal_probes(variant, bits, items)).ok();
    }),
    ("Certificate::new", |d| {
        let (bits, probes, rate) = (d.size(), d.probes(), d.rate());
        let items = d.beside(bits);
        let smallest = d.one_of(&[Smallest::NotClaimed, Smallest::ForTheseProbes, Smallest::ForAnyProbes]);
        let confidence = d.confidence();
        let confidence = Some(confidence).filter(|confidence| confidence.to_bits() % 2 == 0);
        black_box(Certificate::new(Claim { bits, items, probes, rate, hash_bits: 128, smallest: d.note(smallest), confidence })).ok();
    }),
];

#[test]
fn plans_end_in_time() {
    watch(3, CALLS, 25);
}
