//! Tests that compare the bound for blocks with exact joint laws, with enumerations and with
//! definitions.

#[path = "../../tests/common/set_bits.rs"]
mod set_bits;

use super::*;
use set_bits::set_bits;

/// Compares `less_logarithm` with more terms of the series, on both sides of the point at which the
/// code switches to the series.
#[test]
fn less_logarithms_have_all_their_digits() {
    for d in [-0.5f64, -0.01, -0.009_999, -1e-3, -1e-9, 1e-9, 1e-5, 0.004, 0.009_999, 0.010_001, 2.0] {
        let expected = if d.abs() > 0.1 {
            d - libm::log1p(d)
        } else {
            (2..60).map(|i| (if i % 2 == 0 { 1.0 } else { -1.0 }) * libm::pow(d, f64::from(i)) / f64::from(i)).sum()
        };
        // The sum 1 + d is rounded.
        let found = less_logarithm(1.0 + d);
        assert!((found - expected).abs() <= 4.0 * f64::EPSILON * d.abs() + 1e-11 * expected, "{d}: {found:e} {expected:e}");
    }
}

/// Compares the local bound with the exact probability that `blocks` loads have the required sum,
/// computed by convolution. The bound must be above this probability, by no more than the factor
/// that [`by_curvature`] states.
#[test]
fn local_bounds_are_above_the_chance_and_near_it() {
    for (mean, blocks) in [(4.0, 8), (4.0, 50), (20.0, 30), (1.5, 200)] {
        let parts = poisson(mean, 120);
        let mut law = vec![1.0];
        for _ in 0..blocks {
            let mut next = vec![0.0; (law.len() + parts.len() - 1).min(2_000)];
            for (i, p) in law.iter().enumerate() {
                for (slot, q) in next[i.min(1_999)..].iter_mut().zip(&parts) {
                    *slot += p * q;
                }
            }
            law = next;
        }
        let exact = law[(mean * f64::from(blocks)) as usize];
        let found = local(&parts, f64::from(blocks), 0.0);
        assert!(exact <= found, "{mean} {blocks}: {found} {exact}");
        // The factor comes from the curvature `c = (F + 3 V^2) / (12 V)`, where `F = V + 3 V^2` for
        // the Poisson law. The factor is 1 if the curvature is large, because residues are summed
        // then.
        let (b, curvature) = (f64::from(blocks), (1.0 + 6.0 * mean) / 12.0);
        let bent = 1.0 - curvature * (14.0 + libm::log(b)) / (b * mean);
        let price = if bent > NEARLY_STRAIGHT { 1.0 / libm::sqrt(bent) } else { 1.0 };
        assert!((found / exact / price - 1.0).abs() < 0.02, "{mean} {blocks}: {}", found / exact / price);
    }
}

/// Compares the bound for a single block with the law of the number of set bits after
/// `items * probes` draws from 512.
#[test]
fn one_block_keeps_the_rate_of_its_tail() {
    let (probes, items, bits) = (3u32, 40u64, BITS as f64);
    let mut law = vec![0.0; BITS + 2];
    law[0] = 1.0;
    for _ in 0..u64::from(probes) * items {
        for ones in (0..=BITS).rev() {
            let before = if ones > 0 { law[ones - 1] * (bits - ones as f64 + 1.0) / bits } else { 0.0 };
            law[ones] = law[ones] * ones as f64 / bits + before;
        }
    }
    let rows = BlockLaw::new(probes, items as f64).expect("few balls");
    for allowed in [0.5, 0.1, 1e-3, 1e-9] {
        let kept = rows.kept(None, 1, items, allowed);
        let beyond = |rate: f64| {
            (0..=BITS).filter(|&ones| libm::pow(ones as f64 / bits, 3.0) > rate * (1.0 + 1e-12)).map(|ones| law[ones]).sum::<f64>()
        };
        assert!(beyond(kept) <= allowed, "{allowed}: {kept}");
        assert!(beyond(kept * (1.0 - 1e-9)) > allowed, "{allowed}: {kept} is more than needed");
        assert!(kept >= libm::pow((kept.cbrt() * bits).round() / bits, 3.0), "{kept}");
    }
}

fn ln_poisson(mean: f64, load: f64) -> f64 {
    load * libm::log(mean) - mean - libm::lgamma(load + 1.0)
}

/// The logarithm of `E exp(t sum (Y - rate))` with Y cut at a level. It is computed from one
/// coefficient of the B-th power of the power series of one block: the coefficient for the number
/// of items. The power is computed by squaring. This uses neither Stirling's formula nor the local
/// bound.
fn ln_joint_mean(laws: &[Vec<f64>], probes: u32, (blocks, items): (u64, u64), (t, cut, rate): (f64, usize, f64)) -> f64 {
    let lambda = items as f64 / blocks as f64;
    let grown = |ones: usize| libm::exp(t * (libm::pow(ones.min(cut) as f64 / BITS as f64, f64::from(probes)) - rate));
    let one = |(load, law): (usize, &Vec<f64>)| {
        libm::exp(ln_poisson(lambda, load as f64)) * law.iter().enumerate().map(|(ones, p)| p * grown(ones)).sum::<f64>()
    };
    let times = |a: &[f64], b: &[f64]| {
        let mut product = vec![0.0; (a.len() + b.len() - 1).min(items as usize + 1)];
        for (i, a) in a.iter().enumerate().filter(|(_, a)| **a > 1e-290) {
            product[i..].iter_mut().zip(b).for_each(|(slot, b)| *slot += a * b);
        }
        product
    };
    let (mut power, mut base): (_, Vec<f64>) = (vec![1.0], laws.iter().enumerate().map(one).collect());
    let mut left = blocks;
    while left > 0 {
        if left % 2 == 1 {
            power = times(&power, &base);
        }
        left /= 2;
        if left > 0 {
            base = times(&base, &base);
        }
    }
    libm::log(power[items as usize]) - ln_poisson(items as f64, items as f64)
}

fn ln_binomial((blocks, items): (u64, u64), load: f64) -> f64 {
    let (n, p) = (items as f64, 1.0 / blocks as f64);
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(load + 1.0) - libm::lgamma(n - load + 1.0);
    ways + load * libm::log(p) + (n - load) * libm::log1p(-p)
}

/// The probability `P(Y > c)`.
fn beyond_cut(laws: &[Vec<f64>], size: (u64, u64), cut: usize) -> f64 {
    laws.iter().enumerate().map(|(load, law)| libm::exp(ln_binomial(size, load as f64)) * law[cut + 1..].iter().sum::<f64>()).sum()
}

/// Compares the bound with Markov's inequality for the exact joint law of the blocks, at the chosen
/// tilt and cut. The bound is at least the exact value. The saddle point in [`local`] makes the
/// bound larger by at most the factor `1 / sqrt(1 - c s_0^2)`, which tends to 1 as the number of
/// blocks grows.
#[test]
fn kept_rates_are_those_of_the_exact_joint_law() {
    let cases = [
        (3, 40, 800, 1e-3, 0.16),
        (7, 200, 10_000, 1e-3, 0.05),
        (1, 100, 5_000, 1e-6, 0.06),
        (12, 300, 6_000, 1e-9, 0.07),
        (5, 200, 20_000, 0.3, 0.05),
    ];
    for (probes, blocks, items, allowed, most_given_away) in cases {
        let (b, lambda) = (blocks as f64, items as f64 / blocks as f64);
        let rows = BlockLaw::new(probes, lambda).expect("few balls");
        let laws = set_bits(rows.rows.len() - 1, probes);
        let tilt = rows.tilt(blocks, items, allowed, None).expect("a tilt");
        let kept = rows.kept(Some(&tilt), blocks, items, allowed);
        let what = format!("k={probes} B={blocks} n={items}: {kept}");
        let level = libm::pow(libm::log1p(tilt.most) / tilt.t, 1.0 / f64::from(probes)) * BITS as f64;
        let cut = level.round() as usize;
        assert!((level - cut as f64).abs() < 1e-6, "{what}: cut at {level}");
        let over = beyond_cut(&laws, (blocks, items), cut);
        let of_lower = beyond_cut(&laws, (blocks, items), cut - 1);
        assert!(b * over <= tilt.share * allowed && b * of_lower > 0.89 * tilt.share * allowed, "{what}: cut at {cut}");
        let given_away = libm::log(allowed - b * over) - ln_joint_mean(&laws, probes, (blocks, items), (tilt.t, cut, kept));
        println!("{what}: cut {cut}, t {}, gives away {given_away}", tilt.t);
        assert!((0.0..most_given_away).contains(&given_away), "{what}: {given_away}");
    }
}

/// Tests that no other tilt on a fine grid proves a rate that is lower by more than a thousandth.
/// The approximation that guides the search must be close to the proven rate.
#[test]
fn tilts_are_near_the_best() {
    for (probes, blocks, items, allowed) in
        [(3, 40, 800, 1e-3), (7, 2_000, 100_000, 1e-3), (10, 20_000, 400_000, 1e-3), (5, 200, 20_000, 0.3)]
    {
        let lambda = items as f64 / blocks as f64;
        let rows = BlockLaw::new(probes, lambda).expect("few balls");
        let tilt = rows.tilt(blocks, items, allowed, None).expect("a tilt");
        let kept = |tilt: &Tilt| rows.kept(Some(tilt), blocks, items, allowed);
        let cut = (rows.cut(blocks, items, allowed, tilt.share), tilt.share);
        let best = (-30..=30).map(|i| kept(&rows.tilted(tilt.t * libm::pow(1.03, f64::from(i)), cut, lambda, true))).fold(1.0, f64::min);
        let (found, about) = (kept(&tilt), rows.about(&tilt, blocks, items, allowed));
        println!("k={probes} B={blocks}: {found} best {best} about {about}");
        assert!(found < best * 1.001, "k={probes} B={blocks}: {found} but {best} is possible");
        assert!((about / found - 1.0).abs() < 0.01, "k={probes} B={blocks}: {found} but about {about}");
        // A search that starts from another tilt.
        let from = rows.tilted(0.8 * tilt.t, cut, lambda, true);
        let again = rows.tilt(blocks, items, allowed, Some(&from)).expect("a tilt");
        assert!(kept(&again) < best * 1.002, "k={probes} B={blocks}: {} but {best} is possible", kept(&again));
    }
}

/// Tests that the mean of the tilted loads is the filter's mean load. The probabilities of the
/// tilted loads are computed from their definition: they are proportional to `(lambda zeta)^l / l!`
/// times `E[exp(t min(Y, c))]`.
#[test]
fn balanced_loads_have_the_mean_that_the_items_have() {
    for (probes, blocks, items) in [(3, 40, 800), (7, 200_000, 10_000_000), (10, 300, 6_000), (5, 200, 20_000)] {
        let (b, lambda) = (blocks as f64, items as f64 / blocks as f64);
        let rows = BlockLaw::new(probes, lambda).expect("few balls");
        let tilt = rows.tilt(blocks, items, 1e-3, None).expect("a tilt");
        let cut = (rows.cut(blocks, items, 1e-3, tilt.share), tilt.share);
        for stronger in [1.0, 1.5] {
            let tilt = rows.tilted(stronger * tilt.t, cut, lambda, true);
            let (zeta, grown, variance) = rows.balance(&tilt, b, lambda);
            let weights: Vec<f64> = (0..tilt.loads.len()).map(|load| libm::exp(ln_poisson(lambda * zeta, load as f64))).collect();
            let moment = |power: i32| -> f64 {
                let parts = weights.iter().zip(&tilt.loads).enumerate();
                parts.map(|(load, (weight, (growth, _)))| weight * (1.0 + growth) * (load as f64 - lambda).powi(power)).sum()
            };
            let (mean, square) = (moment(1) / moment(0), moment(2) / moment(0));
            let what = format!("k={probes} B={blocks}: zeta {zeta}");
            println!("{what} mean {mean} variance {variance}");
            assert!(zeta < 1.0 && mean.abs() < 2e-3 * libm::sqrt(variance / b), "{what}: a mean of lambda + {mean}");
            assert!((variance / (square - mean * mean) - 1.0).abs() < 1e-9, "{what}: {variance}");
            let expected: f64 = weights.iter().zip(&tilt.loads).map(|(weight, (growth, _))| weight * growth).sum();
            assert!((grown / expected - 1.0).abs() < 1e-9, "{what}: {grown} for {expected}");
        }
    }
}

/// Compares the logarithm of each probability with the definition. A probability may exceed its
/// definition only because larger loads are left out.
#[test]
fn loads_have_the_binomial_law() {
    for (blocks, items, count) in
        [(2u64, 5u64, 20usize), (6, 50, 90), (40, 3_000, 200), (1_000_000, 2_000_000, 60), (8, 160, 32), (3, 100, 20)]
    {
        let (all, more) = binomial(blocks, items, count);
        let definition = |load: usize| if load as u64 > items { 0.0 } else { libm::exp(ln_binomial((blocks, items), load as f64)) };
        let beyond: f64 = (count..count + 200).map(definition).sum();
        for (load, weight) in all.iter().enumerate() {
            let (least, most) = (definition(load) * (1.0 - 1e-8), definition(load) / (1.0 - beyond) * (1.0 + 1e-8) + 1e-300);
            assert!((least..=most).contains(weight), "{blocks} {items}, load {load}: {weight:e} for {least:e}");
        }
        let within = if count < 30 && items > 30 { 1.0 } else { 3.0 * beyond };
        assert!(more >= beyond && more <= within, "{blocks} {items}: {more:e} beyond for {beyond:e}");
    }
}

/// Tests that the bound by residues is useful where the bound by curvature is not. For loads with
/// one mode, the bound exceeds the probability, computed by convolution, by less than a twentieth.
/// For loads with two modes, the bound must only be above the probability, because it ignores
/// phases.
#[test]
fn residues_bound_the_chance_of_a_sum() {
    let two_hills: Vec<f64> = poisson(8.0, 40).iter().zip(poisson(26.0, 40)).map(|(a, b)| 0.9 * a + 0.1 * b).collect();
    for (parts, blocks, items, within) in [(poisson(8.0, 40), 6, 48, 1.05), (poisson(1.0, 20), 9, 9, 1.05), (two_hills, 7, 68, 2.0)] {
        let sum: f64 = parts.iter().sum();
        let mut law = vec![1.0];
        for _ in 0..blocks {
            let mut next = vec![0.0; law.len() + parts.len() - 1];
            for (i, p) in law.iter().enumerate() {
                next[i..].iter_mut().zip(&parts).for_each(|(slot, q)| *slot += p * q / sum);
            }
            law = next;
        }
        let found = local(&parts, f64::from(blocks), 0.0);
        assert!(found >= law[items] && found <= within * law[items], "{blocks} {items}: {found} {}", law[items]);
    }
}

/// Tests curves that fall slowly and rise steeply, and curves that fall steeply and rise slowly,
/// with starts on both sides.
#[test]
fn the_lowest_point_is_found() {
    let steep = |x: f64| libm::exp(libm::exp(3.0 * x)) + libm::exp(-x);
    let gentle = |x: f64| 1.0 + x * x;
    let other = |x: f64| steep(-x);
    for start in [-1.0, -0.5, 0.0, 0.4, 1.0] {
        for curve in [&steep as &dyn Fn(f64) -> f64, &gentle, &other] {
            let found = lowest(curve, start, 0.35, 10.0, 0.3);
            let least = (-4_000..=4_000).map(|i| curve(1e-3 * f64::from(i))).fold(f64::INFINITY, f64::min);
            assert!(curve(found) < 1.01 * least, "from {start}: {found}");
        }
    }
    // The search does not go beyond `last`.
    assert_eq!(lowest(|x| -x, 0.0, 0.35, 2.5, 0.3), 2.5);
}

/// Compares the logarithm of each weight with the definition.
#[test]
fn poisson_weights_are_those_of_the_definition() {
    for (mean, count) in [(1e-6, 5), (0.4, 40), (7.0, 100), (63.9, 200), (512.0, 900), (40.0, 20)] {
        for (load, weight) in poisson(mean, count).into_iter().enumerate() {
            let ln = (1..=load).map(|i| libm::log(mean / i as f64)).sum::<f64>() - mean;
            assert!((libm::log(weight) - ln).abs() < 1e-11, "mean {mean}, load {load}: {weight:e}");
        }
    }
}

/// Compares `highest` with the largest value of the squared characteristic function, computed from
/// its definition as a sum of cosines on a fine grid.
#[test]
fn the_highest_value_is_above_all_and_near_the_largest() {
    let laws: [&[f64]; 5] =
        [&[0.5, 0.5], &[0.5, 0.0, 0.5], &[0.1, 0.2, 0.4, 0.2, 0.1], &[0.3, 0.0, 0.0, 0.4, 0.0, 0.0, 0.3], &[0.05, 0.9, 0.05]];
    for law in laws {
        let moment = |power: i32| law.iter().enumerate().map(|(i, p)| p * (i as f64).powi(power)).sum::<f64>();
        let slope = libm::sqrt(2.0 * (moment(2) - moment(1) * moment(1)));
        for start in [0.1, 0.8, 2.0] {
            let square = |s: f64| -> f64 {
                let pairs =
                    law.iter().enumerate().flat_map(|(i, p)| law.iter().enumerate().map(move |(j, q)| (p * q, i as f64 - j as f64)));
                pairs.map(|(p, apart)| p * libm::cos(apart * s)).sum()
            };
            let largest = (0..=2_000).map(|i| square(start + f64::from(i) / 2_000.0 * (core::f64::consts::PI - start))).fold(0.0, f64::max);
            let found = highest(law, start, slope);
            // The step is a quarter of the inverse slope, and half a step can be missed.
            assert!(found >= largest && found <= (largest + 0.13).min(1.0), "{law:?} from {start}: {found} {largest}");
        }
    }
}

/// Tests that there is no bound below 1 if blocks are too full, if a law has no rows for the size,
/// or if blocks above the cut use up the allowed probability.
#[test]
fn where_nothing_is_known_nothing_is_claimed() {
    // For a mean load of 1,000, the largest load is 1.3 * 1,000 + 12 * sqrt(1,000) + 30 items of 8
    // balls each. This is below 15,000 balls. For a mean load of 1,200, it is above.
    assert!(BlockLaw::new(8, 1_000.0).is_some() && BlockLaw::new(8, 1_200.0).is_none() && BlockLaw::new(8, f64::NAN).is_none());
    let rows = BlockLaw::new(3, 20.0).expect("few balls");
    let tilt = rows.tilt(40, 800, 1e-3, None).expect("a tilt");
    assert!(rows.tilt(40, 40 * 60, 1e-3, None).is_none() && rows.tilt(1, 20, 1e-3, None).is_none());
    assert_eq!((rows.kept(None, 40, 800, 1e-3), rows.kept(Some(&tilt), 40, 800, 1e-9)), (1.0, 1.0));
}

/// Starts the search from tilts that are far too strong or too weak, where the curve of the proven
/// rate is not convex. The search must still go in the right direction.
#[test]
fn tilts_are_looked_for_in_the_right_direction() {
    let (blocks, items, allowed) = (2_000, 100_000, 1e-3);
    let rows = BlockLaw::new(7, 50.0).expect("few balls");
    let tilt = rows.tilt(blocks, items, allowed, None).expect("a tilt");
    let cut = (rows.cut(blocks, items, allowed, tilt.share), tilt.share);
    for off in [0.05, 0.3, 3.0, 6.0, 30.0, 200.0] {
        let from = rows.tilted(off * tilt.t, cut, 50.0, true);
        let again = rows.tilt(blocks, items, allowed, Some(&from)).expect("a tilt");
        let from = from.t.min(MOST_GROWTH / rows.rates[cut.0]);
        assert!(if off < 1.0 { again.t > 1.1 * from } else { again.t < from / 1.1 }, "{off}: from {from} to {} for {}", again.t, tilt.t);
    }
}

/// Tests rows that end where loads are still likely. The loads beyond the rows must be counted with
/// their largest possible effect, both in the blocks above the cut and in the growth.
#[test]
fn loads_beyond_the_rows_are_counted() {
    let rows = BlockLaw::new(1, 0.01).expect("few balls");
    assert_eq!(rows.rows.len(), 32);
    let (blocks, items, lambda, t) = (8u64, 160u64, 20.0, 2.0);
    let (b, n) = (blocks as f64, items as f64);
    let tilt = rows.tilted(t, (BITS, 0.0), lambda, true);
    let tail = |mean: f64| (32..200).map(|load| libm::exp(ln_poisson(mean, f64::from(load)))).sum::<f64>();
    let full: f64 = (32..=160).map(|load| libm::exp(ln_binomial((blocks, items), f64::from(load)))).sum();
    let (zeta, _, _) = rows.balance(&tilt, b, lambda);
    let inside: f64 =
        tilt.loads.iter().enumerate().map(|(load, (growth, _))| libm::exp(ln_poisson(lambda * zeta, load as f64)) * growth).sum();
    // The bound on P(S = n) is 1 here.
    let expected = |allowed: f64, times: f64| {
        let grown = inside + times * tail(lambda * zeta) * libm::expm1(t);
        let constant = 0.5 * libm::log(2.0 * core::f64::consts::PI * n) + 1.0 / (12.0 * n) - libm::log(allowed - b * times * full);
        (constant + b * (libm::log1p(grown) + lambda * (zeta - 1.0 - libm::log(zeta)))) / (t * b)
    };
    for times in [1.5, 2.0, 4.0] {
        let allowed = times * b * full;
        let kept = rows.kept(Some(&tilt), blocks, items, allowed);
        let (least, most) = (expected(allowed, 1.0), expected(allowed, 1.2));
        println!("{times}: {least} {kept} {most}");
        assert!(least < kept && kept < most && most < 1.0, "{times}: {least} {kept} {most}");
    }
}
