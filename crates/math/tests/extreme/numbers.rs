//! Calls estimates, tails, rates of one filter, sketches and the papers' formulas with extreme
//! arguments.

use crate::draw::Draw;
use crate::watch::{Call, watch};
use std::hint::black_box;
use truebloom_math::count_min::{Family, Rows, Shape};
use truebloom_math::{
    Approximation, Rate, binomial, bounds, confidence_bound, crossover, distinct, efficiency, estimate_bits, false_positives, freedman,
    half_full_items, hits_quantile_bound, items_by_likelihood, items_by_moments, items_from_ones, items_interval, max_efficiency,
    mcdiarmid, peak_efficiency, peak_items_approximation, rate_moments, rate_quantile_bound, standard_limit, valley_efficiency,
};

pub(crate) const CALLS: &[Call] = &[
    ("binomial tails", |d| {
        let trials = d.size();
        let (hits, p) = (d.beside(trials), d.real());
        black_box((binomial::probability(hits, trials, p), binomial::at_least(hits, trials, p)));
        black_box((binomial::at_most(hits, trials, p), binomial::two_sided(hits, trials, p)));
    }),
    ("noticed_factor", |d| {
        let (trials, rate, alpha) = (d.size(), d.real(), d.confidence());
        black_box(binomial::noticed_factor(trials, rate, alpha));
    }),
    ("noticed_rate", |d| {
        let (trials, rate, alpha) = (d.size(), d.real(), d.real());
        black_box(binomial::noticed_rate(trials, rate, alpha));
    }),
    ("interval", |d| {
        let trials = d.size();
        let (hits, confidence) = (d.beside(trials), d.confidence());
        black_box(binomial::interval(hits, trials, confidence));
    }),
    ("freedman", |d| {
        let (compensator, odds, confidence) = (d.real(), d.real(), d.confidence());
        black_box(freedman::wrong_drops_at_most(compensator, odds, confidence)).ok();
    }),
    ("mcdiarmid", |d| {
        let (bits, probes, items, ones) = (d.size(), d.probes(), d.size(), d.size());
        let fill = mcdiarmid::Fill { bits, probes, items, covered: d.real() };
        black_box((fill.mean(), fill.at_least(ones), fill.at_most(ones), mcdiarmid::covered(bits, probes)));
        black_box(mcdiarmid::rate_distance(bits, probes, items, d.real()));
    }),
    ("estimate_bits", |d| {
        let (variant, items, probes) = (d.variant(), d.size(), d.probes());
        let ones = d.beside(items);
        black_box(estimate_bits(variant, items, probes, ones)).ok();
    }),
    ("items_from_ones", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let ones = d.beside(bits);
        black_box((items_from_ones(bits, probes, ones), items_by_moments(variant, bits, probes, ones).ok()));
    }),
    ("items_by_likelihood", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let ones = d.beside(bits);
        black_box(items_by_likelihood(variant, bits, probes, ones)).ok();
    }),
    ("items_interval", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let (ones, confidence) = (d.beside(bits), d.confidence());
        black_box(items_interval(variant, bits, probes, ones, confidence)).ok();
    }),
    ("distinct::most", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let (changed, error) = (d.beside(bits), d.real());
        black_box((distinct::most(variant, bits, probes, changed, error), distinct::most_at_rate(d.real(), changed, error)));
    }),
    ("rate_moments", |d| {
        with_filter(d, |_, variant, bits, items, probes| {
            black_box(rate_moments(variant, bits, items, probes)).ok();
        })
    }),
    ("false_positives", |d| {
        with_filter(d, |d, variant, bits, items, probes| {
            let queries = d.size();
            black_box(false_positives(variant, bits, items, probes, queries)).ok();
        })
    }),
    ("hits_quantile_bound", |d| {
        with_filter(d, |d, variant, bits, items, probes| {
            let (queries, probability) = (d.size(), d.confidence());
            black_box(hits_quantile_bound(variant, bits, items, probes, queries, probability)).ok();
        })
    }),
    ("rate_quantile_bound", |d| {
        with_filter(d, |d, variant, bits, items, probes| {
            let confidence = d.confidence();
            black_box(rate_quantile_bound(variant, bits, items, probes, confidence)).ok();
        })
    }),
    ("confidence_bound", |d| {
        with_filter(d, |d, variant, bits, items, probes| {
            let rate = d.rate();
            black_box(confidence_bound(variant, bits, items, probes, &rate)).ok();
        })
    }),
    ("efficiency", |d| {
        with_filter(d, |_, variant, bits, items, probes| {
            black_box(efficiency(variant, bits, items, probes)).ok();
        })
    }),
    ("peak_efficiency", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        black_box(peak_efficiency(variant, bits, probes)).ok();
    }),
    ("max_efficiency", |d| {
        let (variant, bits) = (d.variant(), d.size());
        black_box(max_efficiency(variant, bits)).ok();
    }),
    ("crossover and valley", |d| {
        let (bits, probes) = (d.size(), d.probes());
        black_box((crossover(probes).ok(), valley_efficiency(probes).ok(), standard_limit(bits).ok()));
        black_box((half_full_items(bits, probes).ok(), peak_items_approximation(bits, probes).ok()));
    }),
    ("Approximation::value", |d| {
        with_filter(d, |d, _, bits, items, probes| {
            let all = [Approximation::SeveranceLohman, Approximation::Knuth, Approximation::Grandi, Approximation::Bloom];
            let which = d.one_of(&all);
            black_box(d.note(which).value(bits, items, probes)).ok();
        })
    }),
    ("bounds::chain", |d| {
        with_filter(d, |d, _, bits, items, probes| {
            let order = d.probes();
            black_box(bounds::chain(bits, items, probes, order)).ok();
        })
    }),
    ("bounds::rates", |d| {
        with_filter(d, |_, _, bits, items, probes| {
            black_box((bounds::rates(bits, items, probes).ok(), bounds::collision_free(bits, probes).ok()));
        })
    }),
    ("Shape::for_error", |d| {
        let (epsilon, delta, rows) = (d.rate(), d.rate(), d.one_of(&[Rows::Independent, Rows::TwoHash]));
        black_box(Shape::for_error(&epsilon, &delta, d.note(rows))).ok();
    }),
    ("Shape::failure_bound", |d| {
        with_shape(d, |d, shape, family| {
            let epsilon = d.rate();
            black_box(shape.failure_bound(&epsilon, family)).ok();
        })
    }),
    ("Shape::error_bound", |d| {
        with_shape(d, |d, shape, family| {
            let (total, delta) = (d.size(), d.rate());
            black_box(shape.error_bound(total, family, &delta));
        })
    }),
    ("Shape::copies_proven", |d| {
        with_shape(d, |d, shape, family| {
            let (epsilon, delta) = (d.rate(), d.rate());
            black_box(shape.copies_proven(&epsilon, &delta, family)).ok();
        })
    }),
    ("Shape::tail_is_below", |d| {
        with_shape(d, |d, shape, _| {
            let rows = shape.all_rows().min(10_000);
            let at_least: Vec<u64> = (0..rows).map(|_| d.below(shape.width())).collect();
            let delta = d.rate();
            black_box((shape.ln_tail(&at_least).ok(), shape.tail_is_below(&at_least, &delta).ok()));
        })
    }),
    ("Rate", |d| {
        let (numerator, exponent, divisor) = (d.size(), d.one_of(&[0, 1, -1, -40, -340, -4_000, -4_001, i32::MIN, i32::MAX]), d.size());
        if let Ok(rate) = Rate::from_parts(numerator, exponent, divisor) {
            black_box((rate.to_f64(), rate.ln(), rate.to_string().parse::<Rate>().is_ok()));
        }
        black_box(Rate::try_from(d.real())).ok();
    }),
];

fn with_filter(d: &mut Draw, call: impl FnOnce(&mut Draw, truebloom_math::Variant, u64, u64, u32)) {
    let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
    let items = d.beside(bits);
    call(d, variant, bits, items, probes);
}

fn with_shape(d: &mut Draw, call: impl FnOnce(&mut Draw, Shape, Family)) {
    let rows = d.one_of(&[Rows::Independent, Rows::TwoHash]);
    let (width, depth, copies) = (d.size(), d.probes(), d.probes());
    let copies = if rows == Rows::Independent { 1 } else { copies };
    let width = if rows == Rows::TwoHash { d.one_of(&[2, 3, 101, 1_000_003, (1 << 31) - 1, (1 << 61) - 1]) } else { width };
    let family = d.one_of(&[Family::Ideal, Family::Pairwise]);
    if let Ok(shape) = Shape::new(d.note(rows), d.note(width), depth, copies) {
        let family = d.note(family);
        call(d, shape, family);
    }
}

#[test]
fn numbers_end_in_time() {
    watch(2, CALLS, 25);
}
