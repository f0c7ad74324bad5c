//! Dozier, Salamatian and Rubenstein, Modeling Average False Positive Rates of Recycling Bloom
//! Filters. Their M is the number of bits.

use crate::common::chain::Chain;
use crate::common::{fraction, int, power, ratio, rows};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use truebloom_math::recycling::{Counting, Design, Mode, Phases, Seeds, Trigger, capacity, n_bounded};
use truebloom_math::{Variant, max_items};

pub(super) fn chain(bits: u64, probes: u64, sigma: u64) -> Chain {
    Chain::new(bits, probes, sigma, true, false)
}

/// All small filters, as tuples of bits, probes and sigma.
pub(super) fn small() -> impl Iterator<Item = (u64, u64, u64)> {
    (2..=6u64).flat_map(|bits| (1..=3u64).flat_map(move |probes| (1..bits).map(move |sigma| (bits, probes, sigma))))
}

/// The expected numbers of visits by (20) to (23), with `N_b = 0` for all b above `last`.
fn expected_items(chain: &Chain, last: u64) -> BigRational {
    let mut items = vec![BigRational::zero(); (last + chain.probes + 2) as usize];
    for ones in (0..=last).rev() {
        let later: BigRational = (1..=chain.probes).map(|new| chain.step(ones, ones + new) * &items[(ones + new) as usize]).sum();
        items[ones as usize] = (BigRational::one() + later) / (BigRational::one() - chain.rho(ones));
    }
    items[0].clone()
}

pub(super) fn mixture(law: &[BigRational], rho: impl Fn(u64) -> BigRational) -> BigRational {
    law.iter().enumerate().map(|(ones, weight)| weight * rho(ones as u64)).sum()
}

/// The law of the frozen filter's set bits by (24) and (25), without or with the trigger.
fn frozen(chain: &Chain, included: bool) -> Vec<BigRational> {
    let mut law = vec![BigRational::zero(); chain.bits as usize + 1];
    for (ones, visits) in chain.visits.iter().enumerate() {
        for after in chain.sigma + 1..=chain.bits {
            law[if included { after as usize } else { ones }] += visits * chain.step(ones as u64, after);
        }
    }
    let total: BigRational = law.iter().sum();
    assert!(total.is_one(), "one overflow a cycle");
    law
}

fn stationary(chain: &Chain) -> Vec<BigRational> {
    chain.visits.iter().map(|visits| visits / chain.items()).collect()
}

#[test]
fn a_cycle_goes_on_at_sigma_set_bits() {
    for (bits, probes, sigma) in small() {
        let chain = chain(bits, probes, sigma);
        assert_eq!(expected_items(&chain, sigma), chain.items());
        // The printed formula gives the cycle for a sigma that is smaller by one.
        assert_eq!(expected_items(&chain, sigma - 1), self::chain(bits, probes, sigma - 1).items());
        // A new item may set no bit, so X(b, b) = 1 happens and the printed quotient of random
        // variables divides by 0.
        assert!(chain.rho(sigma) > BigRational::zero());
    }
    let rounded = |x: BigRational| (x.to_f64().expect("finite") * 1e4).round() / 1e4;
    let six = chain(6, 2, 4);
    assert_eq!((rounded(expected_items(&six, 3)), rounded(expected_items(&six, 4))), (3.0702, 4.6060));
}

#[test]
fn items_of_a_cycle_count_the_one_that_is_forgotten() {
    for (bits, probes, sigma) in small() {
        let chain = chain(bits, probes, sigma);
        // The items that the filter holds when it is emptied are those that did not overflow it,
        // counted backwards from the end of the cycle.
        let mut stored = vec![BigRational::zero(); sigma as usize + 1];
        for ones in (0..=sigma).rev() {
            let later: BigRational = (ones + 1..=sigma).map(|to| chain.step(ones, to) * (BigRational::one() + &stored[to as usize])).sum();
            let rho = chain.rho(ones);
            stored[ones as usize] = (later + &rho) / (BigRational::one() - rho);
        }
        let design = Design::new(bits, probes as u32, sigma, Mode::default()).expect("in range");
        let ours = design.long_run().expect("small").items_per_cycle.value;
        let near = |found: f64, truth: BigRational| (found / truth.to_f64().expect("finite") - 1.0).abs() < 1e-12;
        assert!(near(ours, &stored[0] + BigRational::one()), "{bits} {probes} {sigma}: {ours} for {} stored and one more", stored[0]);
        assert!(near(design.cycle().expect("small").mean.value, &stored[0] + BigRational::one()));
        // E[N_0] = 1/pi_0, since each cycle has one arrival at an empty filter: pi_0 by powers of
        // the chain that goes on after it is emptied.
        let mut law = vec![0.0; sigma as usize + 1];
        law[0] = 1.0;
        let float = |x: BigRational| x.to_f64().expect("finite");
        let steps: Vec<Vec<f64>> = (0..=sigma).map(|from| (0..=sigma).map(|to| float(chain.step(from, to))).collect()).collect();
        for _ in 0..2_000 {
            let mut next: Vec<f64> = (0..=sigma as usize).map(|to| (0..=to).map(|from| law[from] * steps[from][to]).sum()).collect();
            // With probability one half, a step does nothing, so that the chain has no period.
            next[0] += 1.0 - next.iter().sum::<f64>();
            law = law.iter().zip(&next).map(|(old, new)| (old + new) / 2.0).collect();
        }
        assert!((law[0] * ours - 1.0).abs() < 1e-9, "{bits} {probes} {sigma}: pi_0 = {}, E[N] = {ours}", law[0]);
    }
}

#[test]
fn formula_10_takes_dependent_events_for_independent() {
    let mut differ = 0;
    for row in rows("rbf_exact.json")["rows"].as_array().expect("rows").iter().filter(|row| row.get("f1_printed_eq10").is_some()) {
        let exact = Chain::new(int(row, "M"), int(row, "k"), int(row, "sigma"), true, true);
        assert_eq!(exact.rate(), fraction(row["f1"].as_str().expect("a fraction")), "{row}");
        for (start, weight) in row["restart"].as_object().expect("a law") {
            assert_eq!(exact.restart()[start.parse::<usize>().expect("a state")], fraction(weight.as_str().expect("a fraction")), "{row}");
        }
        // The printed formula gives the retained item the law of an arbitrary item.
        let any: Vec<BigRational> = (0..=exact.probes.min(exact.bits)).map(|distinct| exact.step(0, distinct)).collect();
        let printed = exact.rate_from(&any);
        assert_eq!(printed, fraction(row["f1_printed_eq10"].as_str().expect("a fraction")), "{row}");
        differ += usize::from(printed != exact.rate());
        // This is the law of a filter that renews its hash functions at every recycle, so the
        // retained item gets new positions.
        let rate = |seeds| {
            let mode = Mode { retaining: true, seeds, ..Mode::default() };
            let design = Design::new(exact.bits, exact.probes as u32, exact.sigma, mode);
            design.and_then(|design| design.long_run()).expect("in range").fpr.value
        };
        let [renewed, kept] = [rate(Seeds::Renewed), rate(Seeds::Kept)];
        assert!(
            (renewed / printed.to_f64().expect("finite") - 1.0).abs() < 1e-15
                && (kept / exact.rate().to_f64().expect("finite") - 1.0).abs() < 1e-15
        );
    }
    assert_eq!(differ, 8);
}

#[test]
fn formulas_10_14_and_16_need_sigma_of_two_items() {
    let mut fail = 0;
    for (bits, probes, sigma) in
        (4..=9u64).flat_map(|bits| (2..=3u64).flat_map(move |probes| (probes..bits).map(move |sigma| (bits, probes, sigma))))
    {
        let chain = Chain::new(bits, probes, sigma, true, true);
        let law = stationary(&chain);
        // One symbol for one pair of states, as printed: (4) forwards, (10) backwards, with the
        // overflow's own probability in place of (10)'s product (that is D4).
        let tau = |from: u64, to: u64| if to >= from { chain.step(from, to) } else { chain.back(from, to) };
        let flow = |from: std::ops::RangeInclusive<u64>, to: u64, by: &dyn Fn(u64, u64) -> BigRational| -> BigRational {
            from.map(|from| &law[from as usize] * by(from, to)).sum()
        };
        let agrees = |to: u64| {
            let stays = BigRational::one() - chain.rho(to);
            let printed = (flow(1..=to - 1, to, &tau) + flow(sigma + 1 - probes..=sigma, to, &tau)) / &stays;
            // Both ways lead to the same state, from any state that can overflow.
            let both =
                (flow(1..=to - 1, to, &|from, to| chain.step(from, to)) + flow(1..=sigma, to, &|from, to| chain.back(from, to))) / stays;
            assert_eq!(both, law[to as usize], "added: m={bits} k={probes} sigma={sigma} i={to}");
            printed == law[to as usize]
        };
        let printed = (1..=probes.min(sigma)).all(agrees);
        assert!(printed || sigma < 2 * probes, "(16) holds from sigma = 2k on: m={bits} k={probes} sigma={sigma}");
        fail += usize::from(!printed);
        let mode = Mode { retaining: true, seeds: Seeds::Kept, ..Mode::default() };
        let ours = Design::new(bits, probes as u32, sigma, mode).and_then(|design| design.long_run()).expect("small").fpr.value;
        assert!((ours / chain.rate().to_f64().expect("finite") - 1.0).abs() < 1e-12, "m={bits} k={probes} sigma={sigma}");
    }
    assert!(fail >= 8, "(16) as printed fails below sigma = 2k: {fail}");
}

#[test]
fn distinct_probes_never_see_one_to_k_minus_one_bits() {
    for (bits, probes, sigma) in small().filter(|(bits, probes, sigma)| probes <= bits && sigma >= probes) {
        let chain = Chain::new(bits, probes, sigma, false, false);
        let law = stationary(&chain);
        assert!(law[1..probes as usize].iter().all(BigRational::is_zero), "unreachable, so the chain is not irreducible");
        assert!(law[0] > BigRational::zero() && law[probes as usize] > BigRational::zero());
        let retaining = Chain::new(bits, probes, sigma, false, true);
        assert!(retaining.visits[..probes as usize].iter().all(BigRational::is_zero), "here, not above, pi_0 is 0 and pi_k can be guessed");
        // (13) follows from (6) and (11).
        assert!(chain.step(0, probes).is_one());
    }
}

#[test]
fn formula_15_gives_the_stationary_law_and_18_the_rate() {
    for (bits, probes, sigma) in small() {
        let chain = chain(bits, probes, sigma);
        let law = stationary(&chain);
        for ones in 1..=sigma {
            let arrived: BigRational = (ones.saturating_sub(probes)..ones).map(|from| &law[from as usize] * chain.step(from, ones)).sum();
            assert_eq!(law[ones as usize], arrived / (BigRational::one() - chain.rho(ones)), "(15)");
            // The filter can overflow only from the last k states.
            let over = (sigma + 1..=bits).any(|after| !chain.step(ones, after).is_zero());
            assert_eq!(over, ones + probes > sigma, "{bits} {probes} {sigma} {ones}");
        }
        assert_eq!(mixture(&law, |ones| chain.rho(ones)), chain.rate());
    }
    // This also holds for a retaining filter: the retained item is counted once, in the state in
    // which it arrived.
    let kept = Chain::new(5, 2, 3, true, true);
    assert_eq!(mixture(&stationary(&kept), |ones| kept.rho(ones)), kept.rate());
}

#[test]
fn formula_24_forgets_the_trigger() {
    let chain = chain(6, 2, 4);
    let (without, with) = (frozen(&chain, false), frozen(&chain, true));
    assert!(without[5..].iter().all(BigRational::is_zero) && with[..5].iter().all(BigRational::is_zero));
    let rate = |bits, probes, sigma, trigger| {
        let mode = Mode { phases: Phases::Two(trigger), ..Mode::default() };
        Design::new(bits, probes, sigma, mode).and_then(|design| design.long_run()).expect("in range").fpr.value
    };
    for (bits, probes, sigma, percent) in [(500, 5, 220, 6.3), (500, 7, 254, 9.8)] {
        let rise = rate(bits, probes, sigma, Trigger::Included) / rate(bits, probes, sigma, Trigger::Excluded) - 1.0;
        assert!((100.0 * rise - percent).abs() < 0.05, "{rise}");
    }
}

/// The probability that k draws from `bits` hit `r` of them.
fn distinct(bits: u64, probes: u64, r: u64) -> BigRational {
    Chain::new(bits, probes, 0, true, false).step(0, r)
}

#[test]
fn formula_26_multiplies_chances_of_shared_positions() {
    let holds = |law: &[BigRational], bits: u64, r: u64| {
        mixture(law, |ones| (0..r).map(|h| if ones > h { ratio(ones - h, bits - h) } else { ratio(0, 1) }).product())
    };
    let one = BigRational::one;
    for row in rows("rbf_exact.json")["rows"].as_array().expect("rows").iter().filter(|row| row.get("f2_exact_excl").is_some()) {
        let colliding = int(row, "noncolliding") == 0;
        let chain = Chain::new(int(row, "M"), int(row, "k"), int(row, "sigma"), colliding, false);
        let (active, frozen) = (stationary(&chain), frozen(&chain, false));
        let printed = one() - (one() - chain.rate()) * (one() - mixture(&frozen, |ones| chain.rho(ones)));
        assert_eq!(printed, fraction(row["f2_printed_eq26"].as_str().expect("a fraction")), "{row}");
        let known = |r: u64| one() - (one() - holds(&active, chain.bits, r)) * (one() - holds(&frozen, chain.bits, r));
        let exact: BigRational = match colliding {
            true => (1..=chain.probes.min(chain.bits)).map(|r| distinct(chain.bits, chain.probes, r) * known(r)).sum(),
            false => known(chain.probes),
        };
        assert_eq!(exact, fraction(row["f2_exact_excl"].as_str().expect("a fraction")), "{row}");
        assert!(if colliding && chain.probes > 1 { exact < printed } else { exact == printed }, "{row}");
    }
}

#[test]
fn two_phases_can_be_stuck_or_correlated() {
    // With sigma + k >= m, a frozen filter can be full. A filter that does not insert the items
    // that the frozen filter contains then never inserts an item again.
    assert!(frozen(&chain(6, 2, 4), true)[6] > BigRational::zero());
    // A retained item is in both filters. The first item of the new cycle is known to have
    // overflowed the previous cycle, so the two filters are not independent, and the library
    // refuses this mode.
    let law = Chain::new(6, 2, 4, true, true).restart();
    assert!(law[2] > distinct(6, 2, 2));
    assert!(Design::new(6, 2, 4, Mode { retaining: true, ..Mode::two_phase() }).is_err());
}

#[test]
fn formula_2_is_off_by_one_item() {
    // E[F_1] = 0: the first item finds an empty filter. With f_w(i) in place of f_w(i-1) it is (1 -
    // (1 - 1/m)^k)^k.
    let textbook = |items: u32| power(&(BigRational::one() - power(&ratio(999, 1_000), 5 * items)), 5).to_f64().expect("finite");
    let before: f64 = (0..100).map(textbook).sum::<f64>() / 100.0;
    let after: f64 = (1..=100).map(textbook).sum::<f64>() / 100.0;
    assert!((before - 0.0018326).abs() < 5e-8 && (after - 0.0019270).abs() < 5e-8);
    assert!((n_bounded(1_000, 5, 100, Counting::Oracle).expect("in range").printed / before - 1.0).abs() < 1e-12);
}

#[test]
fn formula_3_is_a_lower_bound_and_its_n_too_large() {
    for (p, probes, items, truth) in [(0.01, 6, 155, 0.010225), (0.1, 3, 348, 0.11552), (0.2, 2, 521, 0.2611)] {
        let real = n_bounded(1_000, probes, items, Counting::Real).expect("in range");
        assert!(real.printed <= p && real.fpr.lower > p && (real.fpr.value / truth - 1.0).abs() < 2e-4, "{real:?}");
    }
    // f_a = 1 - N / sum of 1 / (1 - f_i), with f_i = P(F_i = 1).
    let f: Vec<BigRational> = (0..5u32).map(|i| power(&(BigRational::one() - power(&ratio(7, 8), 2 * i)), 2)).collect();
    let more: BigRational = f.iter().map(|f| f / (BigRational::one() - f)).sum();
    let all: BigRational = f.iter().map(|f| (BigRational::one() - f).recip()).sum();
    assert_eq!(&more / (&more + ratio(5, 1)), BigRational::one() - ratio(5, 1) / all);
}

#[test]
fn thirty_percent_depends_on_the_rate() {
    for (p, share, two) in [("0.2", 0.521, 2.19), ("0.01", 0.671, 1.54), ("0.001", 0.728, 1.40), ("1e-6", 0.815, 1.23)] {
        let rate = p.parse().expect("a rate");
        let one = capacity(100_000, &rate, Mode::default()).expect("in range").expect("a design").run.items_per_cycle.value;
        let excluded = Mode { phases: Phases::Two(Trigger::Excluded), ..Mode::default() };
        let phase = capacity(100_000, &rate, excluded).expect("in range").expect("a design").run.items_per_cycle.value;
        let worst = max_items(Variant::Standard, 100_000, &rate).expect("in range").expect("some").items as f64;
        assert!((worst / one - share).abs() < 6e-4, "{p}: {}", worst / one);
        assert!((one / (2.0 * phase) - two).abs() < 6e-3, "{p}: {}", one / (2.0 * phase));
    }
}

#[test]
fn formula_19_has_a_simpler_form() {
    for (bits, sigma) in (2..=12u64).flat_map(|bits| (1..bits).map(move |sigma| (bits, sigma))) {
        let sum: BigRational = (0..=sigma).map(|j| ratio(1, bits - j)).sum();
        let printed: BigRational = (0..=sigma).map(|i| ratio(i, bits * (bits - i)) / &sum).sum();
        let simple = BigRational::one() - ratio(sigma + 1, bits) / &sum;
        let chain = chain(bits, 1, sigma);
        assert_eq!((&printed, chain.rate()), (&simple, simple.clone()));
        assert_eq!(chain.items(), ratio(bits, 1) * &sum);
        // (22) loses the last state.
        assert_eq!(expected_items(&chain, sigma - 1), ratio(bits, 1) * (sum - ratio(1, bits - sigma)));
    }
}

/// Tests that epochs over the same messages share a common error. A filter of four bits and one
/// probe is emptied at two set bits and receives three messages in random order. Its rate depends
/// on the positions of these messages, so any number of epochs with the same messages does not give
/// the mean over all messages.
#[test]
fn epochs_over_one_set_of_messages_share_its_rate() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    // Computes the new messages per cycle, and how many of them pass, over all orders. The message
    // that overflows the filter ends the cycle.
    let rate = |bits: [u64; 3]| {
        let (mut new, mut passed) = (0, 0);
        for order in orders {
            let mut set: Vec<u64> = Vec::new();
            for message in order {
                new += 1;
                if set.contains(&bits[message]) {
                    passed += 1;
                } else {
                    set.push(bits[message]);
                }
                if set.len() > 1 {
                    break;
                }
            }
        }
        ratio(passed, new)
    };
    assert_eq!((rate([0, 1, 2]), rate([0, 0, 1])), (ratio(0, 1), ratio(2, 14)));
    let model = chain(4, 1, 1).rate();
    assert!(rate([0, 1, 2]) < model && model < rate([0, 0, 0]), "{model}");
    // So for other messages, the mean over epochs is a different number, however many epochs there
    // are.
    let sets = (0..64u64).map(|code| rate([code % 4, code / 4 % 4, code / 16]));
    assert!(sets.collect::<std::collections::BTreeSet<_>>().len() > 2);
}
