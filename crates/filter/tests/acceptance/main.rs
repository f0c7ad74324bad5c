//! Tests every scheme against its law. There are two kinds of tests, so that a failure shows its
//! cause.
//!
//! (a) *Set bits*: the numbers of set bits over many seeds are compared with the exact law of the
//! fill. Their sum is tested by Bennett's inequality with the exact mean and variance, and for
//! small filters the whole distribution is tested, cell by cell. (b) *Hits given the fill*: the
//! hits of all filters of a case are compared with the rates that follow from their fills. The
//! number of hits is a sum of independent Bernoulli variables. Its tails beyond the mean are below
//! those of the binomial variable with the same mean (Hoeffding 1956).
//!
//! If a scheme derives all positions from two hashes, no law of its fill is known, and its fill
//! does not determine the rate. So every scheme is also compared with its expected rate
//! ([`unconditional`]), and two-hash schemes are compared with an enumeration of all pairs of
//! residues ([`residues`]). `tests/faults/run.sh` plants a fault in each scheme and checks that a
//! test rejects it.
//!
//! For a correct scheme, each test fails with probability at most [`ALPHA`]; the seeds are fixed,
//! so a test that passes once always passes. Each case prints its p-values and its power: the
//! factor on the rate that it would detect with probability 99%. `cargo test --test
//! acceptance -- --nocapture` shows them. To run the tests with fresh seeds and more queries:
//!
//! ```text
//! ACCEPTANCE_SEED=$RANDOM ACCEPTANCE_SCALE=10 cargo test --release --test acceptance -- --nocapture
//! ```
#![allow(unreachable_pub, reason = "a test has no public interface")]

#[path = "../common/mod.rs"]
mod common;
mod keys;
mod law;
mod residues;
mod subject;
mod unconditional;

use keys::Keys;
use law::{Cells, bennett};
use subject::{DoubleHashing, Filter, OneProbe, Positions, Subject};
use truebloom::HasherId;
use truebloom::scheme::{Classic, Standard};
use truebloom_math::binomial::noticed_factor;
use truebloom_math::{Plan, Target, binomial};

/// The probability with which each single test may fail for a correct scheme.
const ALPHA: f64 = 1e-6;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The size of a filter. `filters` filters of this size are made with different seeds, and each is
/// queried for `queries` random keys.
#[derive(Clone, Copy)]
struct Case {
    items: u64,
    rate: &'static str,
    keys: Keys,
    filters: u64,
    queries: u64,
}

/// The p-values of one case.
#[derive(Debug)]
struct Outcome {
    /// The interval that contains the measured rate, except with probability [`ALPHA`], and the
    /// proven rate.
    interval: (f64, f64),
    proven: f64,
    ones: f64,
    cells: f64,
    hits: f64,
}

impl Outcome {
    fn accepted(&self) -> bool {
        [self.ones, self.cells, self.hits].into_iter().all(|p| p >= ALPHA)
    }
}

/// Makes the filters of a case and runs the tests.
fn run<S: Subject>(case: Case) -> Outcome {
    let rate = case.rate.parse().expect("a rate");
    let plan = Plan::new(&Target::new().items(case.items).rate(rate).scheme(S::VARIANT.into()).mean()).expect("a plan");
    assert!(plan.fpr.upper <= rate.to_f64(), "the plan itself misses the rate");
    let law = S::VARIANT.law(plan.bits, plan.probes).expect("a law");
    let fill = law.fill(case.items).expect("in range").expect("known");
    let mut cells = Cells::new(S::VARIANT, plan.bits, plan.probes, case.items);
    let (mut ones, mut hits, mut expected) = (0.0, 0, 0.0);
    let queries = case.queries * environment("ACCEPTANCE_SCALE", 1);
    for number in 0..case.filters {
        let seed = u128::from(environment("ACCEPTANCE_SEED", 1)) << 64 | u128::from(case.items << 20 | number);
        let mut subject = S::new(plan.bits, plan.probes, seed);
        (0..case.items).for_each(|i| subject.insert(&case.keys.member(number, i)));
        assert!(
            (0..case.items).step_by(1 + case.items as usize / 1000).all(|i| subject.contains(&case.keys.member(number, i))),
            "a false negative"
        );
        cells.count(subject.ones());
        ones += subject.ones() as f64;
        hits += (0..queries).filter(|&i| subject.contains(&case.keys.stranger(number, i))).count() as u64;
        expected += law.fpr_at_fill(&[subject.ones()]).expect("in range").expect("known").value;
    }
    let filters = case.filters as f64;
    let (asked, mean_rate) = (case.filters * queries, expected / filters);
    let outcome = Outcome {
        interval: binomial::interval(hits, asked, 1.0 - ALPHA),
        proven: plan.fpr.value,
        ones: bennett(ones - filters * fill.mean, filters * fill.variance),
        cells: cells.p_value(),
        hits: binomial::two_sided(hits, asked, mean_rate),
    };
    let (low, high) = binomial::interval(hits, asked, 0.99);
    println!(
        "{:>18} {:>7} items at {:<5} {:13} asked {asked:.0e} times: measured {:.3e} ({low:.3e} to {high:.3e}), proven {:.3e}, by the fill {:.3e}; \
         p: ones {:.0e}, cells {:.0e}, hits {:.0e}; notices {:.2}x",
        S::NAME,
        case.items,
        case.rate,
        format!("{:?}", case.keys),
        hits as f64 / asked as f64,
        plan.fpr.upper,
        mean_rate,
        outcome.ones,
        outcome.cells,
        outcome.hits,
        noticed_factor(asked, mean_rate, ALPHA),
    );
    outcome
}

fn accept<S: Subject>(cases: &[Case]) {
    println!(
        "{} tests at {ALPHA:e}: a sound scheme fails this family with probability at most {:.0e}",
        3 * cases.len(),
        3.0 * ALPHA * cases.len() as f64
    );
    for case in cases {
        let outcome = run::<S>(*case);
        assert!(outcome.accepted(), "{outcome:?}");
    }
}

const fn case(items: u64, rate: &'static str, keys: Keys, filters: u64, queries: u64) -> Case {
    Case { items, rate, keys, filters, queries }
}

#[test]
fn small_filters() {
    accept::<Filter<{ HasherId::Xxh3 as u16 }>>(&[
        case(10, "0.5", Keys::Random, 20_000, 50),
        case(10, "0.1", Keys::Sequential, 20_000, 50),
        case(10, "1e-2", Keys::NearIdentical, 20_000, 100),
        case(10, "1e-3", Keys::Random, 10_000, 400),
        case(100, "0.5", Keys::NearIdentical, 4_000, 200),
        case(100, "1e-2", Keys::Sequential, 4_000, 1_000),
        case(100, "1e-3", Keys::HighBits, 2_000, 4_000),
    ]);
}

#[test]
fn ordinary_filters() {
    accept::<Filter<{ HasherId::Xxh3 as u16 }>>(&[
        case(1_000, "0.5", Keys::Random, 300, 3_000),
        case(1_000, "1e-2", Keys::HighBits, 300, 20_000),
        case(10_000, "1e-3", Keys::Sequential, 40, 200_000),
        case(10_000, "0.1", Keys::NearIdentical, 40, 20_000),
        case(100_000, "1e-2", Keys::Sequential, 5, 1_000_000),
        case(100_000, "1e-3", Keys::NearIdentical, 5, 1_000_000),
    ]);
}

#[test]
fn large_filters() {
    accept::<Filter<{ HasherId::Xxh3 as u16 }>>(&[
        case(1_000_000, "1e-2", Keys::Random, 1, 4_000_000),
        case(2_000_000, "0.5", Keys::Sequential, 1, 2_000_000),
        case(1_000_000, "1e-6", Keys::NearIdentical, 1, 10_000_000),
    ]);
}

#[test]
fn filters_for_untrusted_keys() {
    accept::<Filter<{ HasherId::Sip13 as u16 }>>(&[
        case(10, "1e-2", Keys::NearIdentical, 10_000, 100),
        case(1_000, "1e-2", Keys::Sequential, 100, 20_000),
        case(100_000, "1e-3", Keys::HighBits, 2, 1_000_000),
    ]);
}

/// Cases in which filters with double hashing exceed the requested rate by a factor of 5 to 3,000,
/// because of the floor of their rate: 100 and 1,000 items at a rate of 1e-6, and 1,000 items at
/// 1e-9.
const fn where_peers_fail(queries: u64) -> [Case; 3] {
    [
        case(100, "1e-6", Keys::Random, 400, queries / 400),
        case(1_000, "1e-6", Keys::Random, 100, queries / 100),
        case(1_000, "1e-9", Keys::Random, 100, queries / 100),
    ]
}

/// Tests many filters with few hits each, so that the differences between filters hardly widen the
/// interval of the measured rate; the interval must contain the proven rate.
#[test]
fn where_double_hashing_fails_this_scheme_does_not() {
    for case in where_peers_fail(150_000_000) {
        let outcome = run::<Filter<{ HasherId::Xxh3 as u16 }>>(case);
        assert!(outcome.accepted(), "{outcome:?}");
        assert!(outcome.interval.0 <= outcome.proven && outcome.proven <= outcome.interval.1, "{outcome:?}");
    }
}

#[test]
fn double_hashing_modulo_the_bits_is_rejected() {
    for case in where_peers_fail(10_000_000) {
        assert!(!run::<Positions<DoubleHashing>>(case).accepted());
    }
}

#[test]
fn a_scheme_whose_second_hash_is_zero_is_rejected() {
    for bad in [case(10, "0.1", Keys::Random, 2_000, 50), case(1_000, "1e-2", Keys::Sequential, 10, 20_000)] {
        assert!(!run::<Positions<OneProbe>>(bad).accepted());
    }
}

/// Tests a scheme without a filter, through the trait that all schemes implement.
#[test]
fn the_standard_scheme_keeps_its_law() {
    accept::<Positions<Standard>>(&[case(100, "1e-2", Keys::Sequential, 2_000, 1_000), case(10_000, "1e-3", Keys::HighBits, 20, 200_000)]);
}

#[test]
fn the_classic_scheme_keeps_its_law() {
    accept::<Positions<Classic>>(&[
        case(10, "0.1", Keys::Random, 10_000, 50),
        case(100, "1e-2", Keys::Sequential, 2_000, 1_000),
        case(1_000, "1e-3", Keys::NearIdentical, 100, 20_000),
        case(10_000, "1e-3", Keys::HighBits, 20, 200_000),
    ]);
}
