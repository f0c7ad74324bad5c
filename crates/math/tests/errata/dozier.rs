//! Dozier, Salamatian and Rubenstein, Modeling Average False Positive Rates of Recycling Bloom
//! Filters. Their M is the number of bits.

use crate::common::chain::Chain;
use crate::common::{fraction, int, power, ratio, rows};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use truebloom_math::recycling::{Counting, Design, Mode, Phases, Seeds, Stream, Trigger, capacity, n_bounded, simulate};
use truebloom_math::{Variant, max_items};

fn chain(bits: u64, probes: u64, sigma: u64) -> Chain {
    Chain::new(bits, probes, sigma, true, false)
}

/// Small filters: bits, probes, sigma.
fn small() -> impl Iterator<Item = (u64, u64, u64)> {
    (2..=6u64).flat_map(|bits| (1..=3u64).flat_map(move |probes| (1..bits).map(move |sigma| (bits, probes, sigma))))
}

/// Expected visits as (20) to (23) have them, with `N_b = 0` from `last + 1` on.
fn expected_items(chain: &Chain, last: u64) -> BigRational {
    let mut items = vec![BigRational::zero(); (last + chain.probes + 2) as usize];
    for ones in (0..=last).rev() {
        let later: BigRational = (1..=chain.probes).map(|new| chain.step(ones, ones + new) * &items[(ones + new) as usize]).sum();
        items[ones as usize] = (BigRational::one() + later) / (BigRational::one() - chain.rho(ones));
    }
    items[0].clone()
}

fn mixture(law: &[BigRational], rho: impl Fn(u64) -> BigRational) -> BigRational {
    law.iter().enumerate().map(|(ones, weight)| weight * rho(ones as u64)).sum()
}

/// The frozen filter's law: (24) and (25) without the trigger, and with it.
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
        // As printed it is the cycle of one sigma less.
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
        // Items that the filter holds when it is emptied: those that did not overflow, counted from
        // the end of the cycle backwards.
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
            // Half a step stays, so that no period remains.
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
        // As printed: the retained item has the law of any item.
        let any: Vec<BigRational> = (0..=exact.probes.min(exact.bits)).map(|distinct| exact.step(0, distinct)).collect();
        let printed = exact.rate_from(&any);
        assert_eq!(printed, fraction(row["f1_printed_eq10"].as_str().expect("a fraction")), "{row}");
        differ += usize::from(printed != exact.rate());
        // It is the law of a filter that renews its hash functions at every recycle, which places
        // the retained item afresh.
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
            // Both ways lead to one state, from any state that can overflow.
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

/// The appendix with all messages of a finite population equally likely:
/// `E[a_ij] = 1 / (N - j + 1)` for i < j, as the j-th interval waits for one of N - j + 1.
struct Appendix {
    population: usize,
    /// E[h_i]
    occurs: Vec<BigRational>,
    /// E[f_i], of a filter that is never emptied.
    passes: Vec<BigRational>,
    /// E[f_i h_j], j >= i.
    both: Vec<Vec<BigRational>>,
    /// E[f_i], of cycles that the last message does not end, and the probability of those.
    passes_to_the_end: Vec<BigRational>,
    goes_on: BigRational,
}

impl Appendix {
    fn new(chain: &Chain, population: usize) -> Appendix {
        let advance = |law: &[BigRational], last: u64| -> Vec<BigRational> {
            (0..=last).map(|to| law.iter().enumerate().map(|(from, weight)| weight * chain.step(from as u64, to)).sum()).collect()
        };
        let start = vec![BigRational::one()];
        let laws = |last: u64| {
            let next = |law: &Vec<BigRational>| Some(advance(law, last));
            std::iter::successors(Some(start.clone()), next).take(population).collect::<Vec<_>>()
        };
        let (live, full) = (laws(chain.sigma), laws(chain.bits));
        let both = |first: usize| {
            let passing: Vec<BigRational> = live[first].iter().enumerate().map(|(ones, weight)| weight * chain.rho(ones as u64)).collect();
            // The item that passes sets no bit, so the next one occurs as surely.
            let later = std::iter::successors(Some(passing.clone()), |law| Some(advance(law, chain.sigma)));
            let sums = std::iter::once(passing.iter().sum()).chain(later.map(|law| law.iter().sum()));
            sums.take(population - first + 1).collect::<Vec<BigRational>>()
        };
        let pairs: Vec<Vec<BigRational>> = (0..population).map(both).collect();
        Appendix {
            population,
            passes_to_the_end: pairs.iter().map(|of_one| of_one[of_one.len() - 1].clone()).collect(),
            goes_on: advance(&live[population - 1], chain.sigma).iter().sum(),
            occurs: live.iter().map(|law| law.iter().sum()).collect(),
            passes: full.iter().map(|law| mixture(law, |ones| chain.rho(ones))).collect(),
            both: pairs,
        }
    }

    /// E[a_ij]; indices from 0.
    fn repeats(&self, i: usize, j: usize) -> BigRational {
        if i == j { BigRational::one() } else { ratio(1, (self.population - j) as u64) }
    }

    fn over_pairs(&self, value: impl Fn(usize, usize) -> BigRational) -> BigRational {
        (0..self.population).flat_map(|i| (i..self.population).map(move |j| (i, j))).map(|(i, j)| value(i, j) * self.repeats(i, j)).sum()
    }

    /// (29): first arrivals only.
    fn instance(&self) -> BigRational {
        (0..self.population).map(|i| &self.both[i][0]).sum::<BigRational>() / self.occurs.iter().sum::<BigRational>()
    }

    fn arrivals(&self) -> BigRational {
        self.over_pairs(|_, j| self.occurs[j].clone())
    }

    /// (31), (35): repeats with their first.
    fn each(&self) -> BigRational {
        self.over_pairs(|i, j| self.both[i][j - i].clone()) / self.arrivals()
    }

    /// The share of the messages that passed, where all have arrived and the cycle goes on: it
    /// never ends, and every later arrival is one of them.
    fn endless(&self) -> BigRational {
        let passed: BigRational = self.passes_to_the_end.iter().sum();
        passed / &self.goes_on / ratio(self.population as u64, 1)
    }

    /// (33), (39), with Lemma 4.
    fn instance_printed(&self) -> BigRational {
        let sum: BigRational = self.occurs.iter().zip(&self.passes).map(|(h, f)| h * f).sum();
        sum / self.occurs.iter().sum::<BigRational>()
    }

    /// (36), with Corollary 2.
    fn each_printed(&self) -> BigRational {
        let before = |j: usize| if j == 0 { BigRational::one() } else { self.occurs[j - 1].clone() };
        self.over_pairs(|i, j| &self.passes[i] * before(j)) / self.arrivals()
    }

    /// The largest E[h_(j-1)] / E[h_j].
    fn largest(&self) -> BigRational {
        self.occurs.windows(2).map(|pair| &pair[0] / &pair[1]).max().expect("several items")
    }

    /// E[alpha_i], the sum over j of g_ij a_ij.
    fn alpha(&self, i: usize) -> BigRational {
        (i..self.population).map(|j| &self.occurs[j] / &self.occurs[i] * self.repeats(i, j)).sum()
    }
}

#[test]
fn formulas_33_and_36_stand_on_lemmas_4_and_6() {
    for (bits, probes, sigma) in [(6, 2, 3), (6, 2, 4), (8, 3, 5)] {
        let chain = chain(bits, probes, sigma);
        let all = Appendix::new(&chain, 10);
        // (29) over so many messages that a cycle hardly needs more is the long-run rate.
        let many = Appendix::new(&chain, 60).instance();
        let ours = Design::new(bits, probes as u32, sigma, Mode::default()).and_then(|design| design.long_run()).expect("small").fpr.value;
        assert!((many.to_f64().expect("finite") / ours - 1.0).abs() < 1e-9, "(29): {ours}");
        assert!(all.instance_printed() > all.instance() * ratio(11, 10), "(33)");
        assert!(all.each_printed() > all.each() * ratio(11, 10), "(36)");
        // (37), (38): where (36) is right, H times the first factor is above it.
        let bound = all.over_pairs(|i, j| &all.passes[i] * &all.occurs[j]) / all.arrivals() * all.largest();
        assert!(all.each_printed() <= bound, "(37)");
        // (38), (40): sums of h_i over alpha_i are the same sums.
        let regrouped: BigRational = (0..10).map(|i| &all.passes[i] * &all.occurs[i] * all.alpha(i)).sum::<BigRational>()
            / (0..10).map(|i| &all.occurs[i] * all.alpha(i)).sum::<BigRational>();
        assert_eq!(regrouped * all.largest(), bound, "(38), (40)");
    }
}

#[test]
fn lemma_7_fails_where_the_population_runs_out() {
    let all = Appendix::new(&chain(6, 2, 3), 10);
    let alphas: Vec<BigRational> = (0..10).map(|i| all.alpha(i)).collect();
    assert!((1..3).all(|i| alphas[i - 1] > alphas[i]), "it falls at first");
    assert!((4..9).all(|i| alphas[i - 1] < alphas[i]), "and rises from the fourth to the ninth");
}

/// Two bits, one probe, emptied when both are set; `common` messages that are equally likely, and
/// infinitely many rare ones of which none is seen twice. So messages do not run out. The first of
/// a cycle sets a bit; each later one that is new passes or ends the cycle, by one half each,
/// whatever it is.
struct Popular {
    common: u64,
    /// The probability of each common message.
    each: BigRational,
}

impl Popular {
    fn new(common: u64, rare: &BigRational) -> Popular {
        Popular { common, each: (BigRational::one() - rare) / ratio(common, 1) }
    }

    /// The probability that an arrival is one of `known` common messages.
    fn repeats(&self, known: u64) -> BigRational {
        &self.each * ratio(known, 1)
    }

    /// The probability that what is new, when `known` common messages are known, is common.
    fn is_common(&self, known: u64) -> BigRational {
        self.repeats(self.common - known) / (BigRational::one() - self.repeats(known))
    }

    /// Arrivals, and how many of them count as false positives, from a state to the end of the
    /// cycle; `first` says that the first message, which did not pass, is a common one.
    fn rest(&self, known: u64, first: bool) -> (BigRational, BigRational) {
        let half = ratio(1, 2);
        let new = BigRational::one() - self.repeats(known);
        let waits = BigRational::one() / &new - BigRational::one();
        let share = if known == 0 { BigRational::zero() } else { ratio(known - u64::from(first), known) };
        let (mut arrivals, mut passed) = (&waits + BigRational::one(), waits * share + &half);
        let common = self.is_common(known);
        if known < self.common {
            let (later, of_them) = self.rest(known + 1, first);
            (arrivals, passed) = (arrivals + &half * &common * later, passed + &half * &common * of_them);
        }
        // A rare one that passes leaves the state as it is.
        let stays = BigRational::one() - half * (BigRational::one() - common);
        (arrivals / &stays, passed / stays)
    }

    /// (31): false positives among all arrivals.
    fn with_repeats(&self) -> BigRational {
        let ((common, of_common), (rare, of_rare)) = (self.rest(1, true), self.rest(0, false));
        let first = self.repeats(self.common);
        let mix = |a: BigRational, b: BigRational| &first * a + (BigRational::one() - &first) * b;
        mix(of_common, of_rare) / (BigRational::one() + mix(common, rare))
    }

    /// E[a_ij] for i < j, from 1: the i-th message is common, and each common message that is known
    /// is as frequent in the interval as any other.
    fn appears(&self, i: u64, j: u64) -> BigRational {
        // By the number of common messages known, and whether the i-th is one.
        let mut law = vec![[BigRational::zero(), BigRational::zero()]; self.common as usize + 2];
        law[0][0] = BigRational::one();
        for arrival in 1..j {
            let mut next = vec![[BigRational::zero(), BigRational::zero()]; self.common as usize + 2];
            for known in 0..=self.common {
                for is_common in [0, 1] {
                    let weight = &law[known as usize][is_common];
                    let common = self.is_common(known);
                    let becomes = if arrival == i { 1 } else { is_common };
                    next[known as usize + 1][becomes] += weight * &common;
                    next[known as usize][is_common] += weight * (BigRational::one() - common);
                }
            }
            law = next;
        }
        (0..=self.common).map(|known| &law[known as usize][1] * &self.each / (BigRational::one() - self.repeats(known))).sum()
    }

    /// E[alpha_i] for i >= 2: from the third message on, each interval happens after the one before
    /// with a probability of one half. Up to interval `last`; what is left out is at most the
    /// second number.
    fn alpha(&self, i: u64, last: u64) -> (BigRational, BigRational) {
        let happens = |j: u64| ratio(1, 1 << (j - i));
        let sum: BigRational = (i + 1..=last).map(|j| happens(j) * self.appears(i, j)).sum();
        // No message appears more often than one of which all others are known.
        (sum + BigRational::one(), happens(last) * &self.each / (BigRational::one() - self.repeats(self.common)))
    }
}

/// Theorem 1, E[F_n] >= E[F_r] / H, with messages that do not run out. Nearly all arrivals fall
/// into cycles in which every common message is known: all but the first of them passed.
#[test]
fn theorem_1_fails_with_popular_messages() {
    let model = chain(2, 1, 1);
    let instance = model.rate();
    // Each interval after the second happens with one half.
    let most = BigRational::one() / model.rho(1);
    assert_eq!((instance.clone(), most.clone()), (ratio(1, 3), ratio(2, 1)));
    let each = |common: u64, rare: u64| Popular::new(common, &ratio(1, rare)).with_repeats();
    for common in 4..=8 {
        assert!(each(common, 1_000) > &instance * &most, "{common} popular messages");
        let limit = (each(common, 1_000_000_000) - ratio(common - 1, common)).to_f64().expect("finite");
        assert!(limit.abs() < 1e-6, "(C - 1)/C in the limit: {limit}");
    }
    assert!((each(4, 1_000).to_f64().expect("finite") - 0.743).abs() < 5e-4, "{}", each(4, 1_000));
    // With fewer popular ones it held, and with none there are no repeats.
    assert!(each(3, 1_000) < &instance * &most);
    assert_eq!(Popular::new(4, &BigRational::one()).with_repeats(), instance);
}

/// Lemma 7, E[alpha_i] > E[alpha_(i+1)], with messages that do not run out: nearly all repeats come
/// when all three common messages are known, and the later of them needed fewer intervals to happen
/// since.
#[test]
fn lemma_7_fails_with_popular_messages() {
    for rare in [100, 1_000] {
        let popular = Popular::new(3, &ratio(1, rare));
        let ((second, left_out), (third, _)) = (popular.alpha(2, 20), popular.alpha(3, 20));
        assert!(third > second + left_out, "1/{rare}");
    }
    // Near 1/(6e) and 1/(3e).
    let of = |i: u64| Popular::new(3, &ratio(1, 1_000_000)).alpha(i, 20).0.to_f64().expect("finite") / 1e6;
    assert!((6.0 * of(2) - 1.0).abs() < 1e-3 && (3.0 * of(3) - 1.0).abs() < 1e-3, "{} {}", of(2), of(3));
}

/// Lemma 2 for any i and j has E[a_i(i+1)] >= E[a_(i+1)(i+1)], which is 1 by definition: the
/// interval ends with its message. Of ten equally likely messages the first comes 1/9 times in the
/// second interval.
#[test]
fn lemma_2_fails_in_the_interval_that_the_later_message_ends() {
    let all = Appendix::new(&chain(6, 2, 3), 10);
    assert_eq!((all.repeats(0, 1), all.repeats(1, 1)), (ratio(1, 9), BigRational::one()));
    assert!((0..8).all(|i| all.repeats(i, i + 1) < all.repeats(i + 1, i + 1)), "of all messages but the last two");
}

#[test]
fn repeats_can_raise_the_rate() {
    // The appendix sets out to show that the rate with repeats is at most that without. In every
    // small filter with few messages it is higher. With the factor H in between, as Theorem 1 has
    // it, the rate of the twelve intervals is lower; but once all twelve messages are known nothing
    // ever ends the cycle, and the rate of all arrivals is the share of the messages that passed:
    // higher again.
    let (mut nearest, mut largest) = (0.0f64, 0.0f64);
    for (bits, probes, sigma) in small().filter(|(_, _, sigma)| *sigma < 5) {
        let all = Appendix::new(&chain(bits, probes, sigma), 12);
        assert!(all.each() > all.instance(), "m={bits} k={probes} sigma={sigma}");
        assert!(all.each() <= all.instance() * all.largest(), "twelve intervals: m={bits} k={probes} sigma={sigma}");
        assert!(all.endless() > all.instance() * all.largest(), "Theorem 1: m={bits} k={probes} sigma={sigma}");
        let share = all.each() / (all.instance() * all.largest());
        (nearest, largest) = (nearest.max(share.to_f64().expect("finite")), largest.max(all.largest().to_f64().expect("finite")));
    }
    // H is no small constant.
    assert!((nearest - 0.8377).abs() < 5e-5 && (largest - 216.0).abs() < 0.5, "{nearest} {largest}");
    // Opened as printed, with H on the other side, it is false.
    let opened = Appendix::new(&chain(6, 2, 3), 12);
    assert!(opened.instance() < opened.each() * opened.largest());
    // The library's simulation counts both ways, over 12 messages that keep their positions for a
    // cycle. This filter has hardly ever room for all of them; one of two bits soon has.
    let all = Appendix::new(&chain(6, 2, 3), 12);
    let design = Design::new(6, 2, 3, Mode::default()).expect("in range");
    let seen = simulate(&design, Stream::Uniform { items: 12 }, 40_000, 5).expect("in range");
    for (bracket, truth) in [(seen.instance, all.instance()), (seen.each, all.each())] {
        let (truth, width) = (truth.to_f64().expect("finite"), bracket.upper - bracket.lower);
        assert!(bracket.lower - width < truth && truth < bracket.upper + width, "{bracket:?} {truth}");
    }
    let two = Appendix::new(&chain(2, 1, 1), 12);
    let design = Design::new(2, 1, 1, Mode::default()).expect("in range");
    let stuck = simulate(&design, Stream::Uniform { items: 12 }, 2_000_000, 5).expect("in range").each.value;
    assert_eq!(two.endless(), ratio(11, 12));
    assert!((stuck - 11.0 / 12.0).abs() < 0.01, "{stuck}");
}

/// Claim 1, which the paper does not prove, and Lemma 2 from j = i + 2 on: no counterexample among
/// these.
#[test]
fn claim_1_and_lemma_2_two_intervals_on_held_wherever_tried() {
    for (bits, probes, sigma) in small() {
        let occurs = Appendix::new(&chain(bits, probes, sigma), 12).occurs;
        let next: Vec<BigRational> = occurs.windows(2).map(|pair| &pair[1] / &pair[0]).collect();
        assert!(next.windows(2).all(|pair| pair[0] >= pair[1]), "m={bits} k={probes} sigma={sigma}");
    }
    // Three messages of unequal popularity: the first two to arrive, in the third interval, which
    // waits for the last.
    for weights in [[1, 1, 1], [1, 2, 3], [8, 1, 1], [5, 4, 1], [1, 1, 20]] {
        let total: u64 = weights.iter().sum();
        let p = |i: usize| ratio(weights[i], total);
        let mut means = [BigRational::zero(), BigRational::zero()];
        for (x, y) in (0..3usize).flat_map(|x| (0..3usize).map(move |y| (x, y))).filter(|(x, y)| x != y) {
            let order = p(x) * p(y) / (BigRational::one() - p(x));
            // Arrivals of a known message before the last one comes: geometric.
            let z = 3 - x - y;
            means[0] += &order * p(x) / p(z);
            means[1] += order * p(y) / p(z);
        }
        assert!(means[0] >= means[1], "{weights:?}");
        assert_eq!(means[0] == means[1], weights == [1, 1, 1], "equal for equal ones only");
    }
}

/// Lemmas 8 and 9 and their steps (41) to (49): a mean of rising F with falling weights is below
/// the plain one. The proof of Lemma 8 has F1 >= F2 where it needs F2 >= F1.
#[test]
fn lemmas_8_and_9_are_right_and_the_proof_of_8_swaps_f() {
    let mean = |h: &[u64], a: &[u64], f: &[u64]| {
        let weights = || h.iter().zip(a).map(|(h, a)| h * a);
        ratio(weights().zip(f).map(|(weight, f)| weight * f).sum(), weights().sum())
    };
    let even = [1, 1, 1, 1];
    for h in [[3, 1, 4, 1], [5, 9, 2, 6], [1, 1, 1, 1]] {
        for (a, f) in [([4, 3, 2, 1], [1, 2, 3, 4]), ([9, 9, 1, 1], [0, 5, 5, 7]), ([7, 7, 7, 7], [1, 2, 3, 9])] {
            for m in 2..=4 {
                assert!(mean(&h[..m], &even[..m], &f[..m]) >= mean(&h[..m], &a[..m], &f[..m]), "(41) to (49)");
            }
        }
    }
    // With the order of F that the proof prints it is false.
    assert!(mean(&[1, 1], &[1, 1], &[2, 1]) < mean(&[1, 1], &[2, 1], &[2, 1]));
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
            // Overflow comes from the last k states only.
            let over = (sigma + 1..=bits).any(|after| !chain.step(ones, after).is_zero());
            assert_eq!(over, ones + probes > sigma, "{bits} {probes} {sigma} {ones}");
        }
        assert_eq!(mixture(&law, |ones| chain.rho(ones)), chain.rate());
    }
    // Retaining too: the item that is kept is counted once, where it arrived.
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
    // With sigma + k >= m a frozen filter may be full. Whoever does not insert what it knows never
    // inserts again.
    assert!(frozen(&chain(6, 2, 4), true)[6] > BigRational::zero());
    // A retained item is in both filters: the new cycle's first item is known to have overflowed
    // the last, so the halves are not independent, and the library refuses.
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
fn lemmas_4_and_6_take_dependent_events_for_independent() {
    let chain = chain(6, 2, 3);
    // The number of set bits after some items, over all of them, never emptied.
    let after = |items: u64| {
        let mut law = vec![BigRational::one()];
        for _ in 0..items {
            law = (0..=6u64).map(|to| law.iter().enumerate().map(|(from, weight)| weight * chain.step(from as u64, to)).sum()).collect();
        }
        law
    };
    let exists = |item: u64| -> BigRational { after(item - 1).iter().take(4).sum() };
    let passes = |item: u64| mixture(&after(item - 1), |ones| chain.rho(ones));
    let both = |item: u64| mixture(&after(item - 1)[..4.min(after(item - 1).len())], |ones| chain.rho(ones));
    for row in rows("rbf_lemmas.json")["rows"].as_array().expect("rows") {
        let exact = |field: &str| fraction(row[field].as_str().expect("a fraction"));
        let item = int(row, "i");
        if int(row, "lemma") == 4 {
            assert_eq!((both(item), exists(item) * passes(item)), (exact("Ehf"), exact("EhEf")), "{row}");
            assert_eq!(exact("Ehf") == exact("EhEf"), item <= 2);
        } else {
            // An item that passes sets no bit, so the next one exists as surely as it does itself.
            assert_eq!((both(item) / passes(item), exists(item)), (exact("P_h4_given_f3"), exact("P_h3")));
            assert_ne!(exact("P_h4_given_f3"), exact("P_h3"));
        }
    }
    // H, the largest ratio of successive E[h], grows to 1/rho(sigma): it is no small constant.
    let ratio = (exists(41) / exists(42)).to_f64().expect("finite");
    assert!((ratio - 4.0).abs() < 0.01, "{ratio}");
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

/// Three messages in four bits, one probe, emptied at two set bits: a cycle meets the messages in
/// random order, and its rate depends on which bits they have. No number of epochs over one set of
/// messages tells the mean over all sets.
#[test]
fn epochs_over_one_set_of_messages_share_its_rate() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    // New messages a cycle, and those among them that pass, over all orders; the message that
    // overflows ends the cycle.
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
    // So the mean of epochs, however many, is another number for other messages.
    let sets = (0..64u64).map(|code| rate([code % 4, code / 4 % 4, code / 16]));
    assert!(sets.collect::<std::collections::BTreeSet<_>>().len() > 2);
}
