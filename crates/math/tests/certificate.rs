//! Checks certificates with exact fractions, and tests that a false claim gets no certificate.
//! `reference/certificates.py` tests whether a checker that shares nothing with this crate accepts
//! the certificates.

mod common;

use common::oracle;
use common::ratio;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use truebloom_math::certificate::{Certificate, Claim, Mean, Smallest, TailBound, Whole};
use truebloom_math::{Error, Plan, Promise, Rate, Target, Variant};

fn claim(bits: u64, items: u64, probes: u32, rate: &str) -> Claim {
    let rate: Rate = rate.parse().expect("a rate");
    Claim { bits, items, probes, rate, hash_bits: 128, smallest: Smallest::NotClaimed, confidence: None }
}

fn planned(items: u64, rate: &str, confidence: Option<f64>) -> Claim {
    let asked: Rate = rate.parse().expect("a rate");
    let promise = confidence.map_or(Promise::Mean, |confidence| Promise::OneFilter { confidence });
    let plan = Plan::new(&Target { promise, ..Target::new().items(items).rate(asked) }).expect("a plan");
    let smallest = if confidence.is_none() { Smallest::ForAnyProbes } else { Smallest::NotClaimed };
    Claim { smallest, confidence, ..claim(plan.bits, items, plan.probes, rate) }
}

fn units(number: &Whole, precision: u64) -> BigRational {
    let digits = number.to_string();
    let number = BigInt::parse_bytes(digits.trim_start_matches("0x").as_bytes(), 16).expect("hexadecimal");
    BigRational::new(number, BigInt::one() << precision)
}

/// Tests in exact fractions that the signed terms add up to the rate, within the stated errors.
#[test]
fn terms_add_up_to_the_rate() {
    for (bits, items, probes, rate) in [(26, 2, 5, "0.1"), (40, 3, 8, "0.01"), (14, 1, 9, "0.5"), (3, 1, 7, "0.9")] {
        let certificate = Certificate::new(claim(bits, items, probes, rate)).expect("true");
        let Mean::Terms(sum) = &certificate.mean else { panic!("no tie here") };
        let scale = BigRational::from(BigInt::one() << probes);
        let (mut total, mut slack) = (ratio(0, 1), ratio(0, 1));
        for (j, term) in sum.terms.iter().enumerate() {
            let term = units(term, sum.precision) * &scale;
            total = if j % 2 == 0 { total + term } else { total - term };
            slack += BigRational::new(BigInt::from(sum.error), BigInt::one() << sum.precision) * &scale;
        }
        let exact = oracle::rate(Variant::Standard, bits, items, probes);
        assert!(&exact - &slack <= total && total <= &exact + &slack, "m={bits} n={items} k={probes}");
        assert!(slack < ratio(1, 1 << 30), "m={bits} n={items} k={probes}");
    }
}

/// Tests that with one bit less, every number of probes is excluded; those near the minimum are
/// excluded by separate sums.
#[test]
fn one_bit_less_is_excluded_for_all_probes() {
    for (items, rate) in
        [(1, "2.293e-5"), (1, "2.3e-5"), (1, "0.5"), (2, "1e-3"), (20, "0.01"), (1_000, "0.01"), (1_000_000, "1e-6"), (3, "0.9999")]
    {
        let certificate = Certificate::new(planned(items, rate, None)).expect("true");
        let smaller = certificate.smaller.expect("claimed");
        let between: Vec<u32> = smaller.between.iter().map(|one| one.probes).collect();
        assert_eq!(smaller.bits + 1, certificate.claim.bits);
        assert_eq!(between, (smaller.few + 1..smaller.many.expect("all probes")).collect::<Vec<_>>(), "n={items} p={rate}");
    }
}

#[test]
fn false_claims_have_no_certificate() {
    let refused = |claim: Claim| matches!(Certificate::new(claim), Err(Error::NotCertified { .. }));
    let right = planned(1_000, "0.01", None);
    assert!(Certificate::new(right).is_ok());
    // With one bit less, the rate is missed. With one bit more, the filter is not the smallest.
    assert!(refused(Claim { bits: right.bits - 1, ..right }) && refused(Claim { bits: right.bits + 1, ..right }));
    assert!(refused(Claim { probes: right.probes + 2, ..right }) && refused(Claim { items: right.items + 1, ..right }));
    // With a hash of 16 bits, equal hashes alone exceed the rate.
    assert!(refused(Claim { hash_bits: 16, ..right }));
    // At the smallest size for the mean, half of the filters are above the rate.
    let certificate = Certificate::new(Claim { confidence: Some(0.999), smallest: Smallest::NotClaimed, ..right });
    assert!(certificate.map_or(true, |found| found.claim.confidence.expect("claimed") < 0.5));
}

/// Tests a rate that is met with equality (one item, one probe, two bits), which only exact
/// fractions can decide.
#[test]
fn a_tie_is_exact() {
    let tie = Claim { hash_bits: 128, ..claim(2, 1, 1, "0.5") };
    // The probability of equal hashes is added to one half.
    assert!(matches!(Certificate::new(tie), Err(Error::NotCertified { .. })));
    // The rate 1 - (1 - 1/4)^1 is 1/4, and a hash of two bits adds 1/4 for equal hashes.
    let met = Certificate::new(Claim { hash_bits: 2, ..claim(4, 1, 1, "0.5") }).expect("met with equality");
    assert!(matches!(met.mean, Mean::Exact));
}

/// Tests certificates of guarantees: they contain the largest number of set bits that keeps to the
/// rate, and a bound that a checker can verify.
#[test]
fn guarantees_are_certified() {
    for (items, rate, confidence) in
        [(1, "0.01", 0.9), (100, "0.01", 0.999), (1_000, "1e-3", 0.99), (100_000, "0.01", 0.999), (10_000_000, "0.01", 0.999)]
    {
        let claim = planned(items, rate, Some(confidence));
        let certificate = Certificate::new(claim).expect("true");
        let one = certificate.one_filter.expect("claimed");
        let share = |ones: u64| libm::pow(ones as f64 / claim.bits as f64, f64::from(claim.probes));
        assert!(share(one.ones) <= claim.rate.to_f64() * (1.0 + 1e-12) && share(one.ones + 1) > claim.rate.to_f64(), "n={items}");
        // The certified confidence is at most the requested one, and its error probability is at
        // most 1.4 times the requested one.
        assert!(one.confidence <= confidence && 1.0 - one.confidence <= 1.4 * (1.0 - confidence), "n={items}: {}", one.confidence);
        assert!(one.confidence == confidence || !matches!(one.bound, TailBound::Certain | TailBound::Law), "n={items}");
    }
}
