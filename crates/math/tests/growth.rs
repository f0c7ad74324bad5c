//! Tests the growth of filters: shares, limits, sizes, and the law of layers.

use truebloom_math::law::{Layer, Layered};
use truebloom_math::{Growth, Law, Method, Plan, Rate, Target};

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

/// The layers that `items` items need on average.
fn layers_for(growth: &Growth, items: u64) -> Vec<truebloom_math::growth::PlannedLayer> {
    let mut room = 0;
    let mut layers = Vec::new();
    while room < items {
        let next = growth.layer(layers.len() as u32).expect("in range");
        room += next.items;
        layers.push(next);
    }
    layers
}

/// Tests that the bound is at most the rate for any number of layers with any content.
#[test]
fn the_bound_is_at_most_the_rate() {
    for text in ["90%", "10%", "1%", "1e-6", "1e-13", "1/3"] {
        let asked = rate(text);
        let growth = Growth::new(asked, 100).expect("in range");
        let planned: Vec<Layer> = (0..24).map(|number| growth.layer(number).expect("in range").layer).collect();
        for count in [1, 2, 5, 12, 24] {
            let law = Layered::new(planned[..count].to_vec()).expect("layers");
            let floor = 2f64.powi(-64);
            assert!(law.bound().expect("a rate").upper + floor <= asked.to_f64(), "{text} {count}");
            assert!(law.meets(u64::MAX, &asked, 128).expect("decided"), "{text} {count}");
            let sum: f64 = planned[..count].iter().map(|layer| layer.bound().expect("a rate").upper).sum();
            // Rounding to whole bits loses only a little of the shares.
            let share = count as f64 / (8.0 + count as f64);
            assert!(sum > 0.97 * share * asked.to_f64(), "{text} {count}: {sum}");
            let closed = law.closed().expect("a rate");
            assert!(closed.lower > 0.5 * closed.upper && closed.upper <= law.bound().expect("a rate").upper, "{text} {count}");
        }
    }
}

#[test]
fn limits_are_the_largest() {
    for text in ["10%", "0.1%", "1e-9"] {
        let growth = Growth::new(rate(text), 1_000).expect("in range");
        for number in [0, 1, 7] {
            let most = rate(text).to_f64() * Growth::share(number) * (1.0 - 2f64.powi(-20));
            let planned = growth.layer(number).expect("in range");
            let layer = planned.layer;
            assert!(planned.fpr.upper <= most && layer.fpr_at_fill(layer.limit() + 1).expect("a rate").upper > most, "{text} {number}");
            assert!(layer.bits().is_multiple_of(64) && layer.limit() >= 10 * u64::from(layer.probes()));
        }
    }
}

/// Tests the rate `1 - prod (1 - r_i)` in rational numbers, for layers of few bits.
#[test]
fn the_rate_at_a_fill_is_exact() {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    let layers = [(64u64, 3u32, 40u64, 20u64), (128, 5, 90, 77), (192, 7, 150, 1), (64, 1, 60, 60)];
    let law = Layered::new(layers.map(|(bits, probes, limit, _)| Layer::new(bits, probes, limit).expect("in range")).to_vec());
    let law = law.expect("layers");
    let one = BigRational::from_integer(BigInt::from(1));
    let none_passes = layers.iter().fold(one.clone(), |product, (bits, probes, _, ones)| {
        let share = BigRational::new(BigInt::from(*ones), BigInt::from(*bits));
        product * (&one - (0..*probes).fold(one.clone(), |power, _| power * &share))
    });
    let truth = one - none_passes;
    let found = law.fpr_at_fill(&layers.map(|layer| layer.3)).expect("a rate").expect("known");
    let exactly = |end: f64| BigRational::from_float(end).expect("finite");
    assert!(exactly(found.lower) <= truth && truth <= exactly(found.upper));
    assert!(found.upper / found.lower - 1.0 < 1e-14 && found.method == Method::Exact);
    assert_eq!(law.fpr_at_fill(&[0; 4]).expect("a rate").expect("known").upper, 0.0);
    assert!(law.fpr_at_fill(&[0; 3]).is_err() && law.fpr_at_fill(&[65, 0, 0, 0]).is_err());
}

/// Tests the promise of `ratio` with real plans: the ratio at the moment when a layer is opened, if
/// the previous layers hold their average numbers of items. Rounding to whole bits and the
/// guarantee of the plan cost small layers a few percent.
#[test]
fn the_memory_keeps_the_ratio() {
    for (text, most) in [("10%", 6.0), ("1%", 4.0), ("0.1%", 3.5), ("1e-6", 3.0)] {
        let growth = Growth::new(rate(text), 1_000).expect("in range");
        assert!(growth.ratio() < most, "{text}: {}", growth.ratio());
        let layers = layers_for(&growth, 1_000_000_000);
        assert!(layers.len() <= 20, "{text}: {} layers", layers.len());
        let (mut items, mut bits) = (layers[0].items, layers[0].layer.bits());
        for layer in &layers[1..] {
            bits += layer.layer.bits();
            let known = Plan::new(&Target::new().items(items).rate(rate(text))).expect("a plan");
            let ratio = bits as f64 / known.bits as f64;
            assert!(ratio < 1.005 * growth.ratio() && ratio > 0.93 * growth.ratio(), "{text}: {ratio} at {items}");
            items += layer.items;
        }
    }
}

/// Tests how far real layers can exceed `ratio`, compared with plans for the mean and with
/// guaranteed plans: by at most 10% with a first layer of 64 items, and by at most 0.6% from 1,000
/// items on, as the documentation says.
#[test]
fn the_ratio_is_about_the_largest() {
    let mut most = [0.0f64; 2];
    for first in [64, 100, 1_000, 10_000] {
        for text in ["50%", "10%", "1%", "0.1%", "1e-6"] {
            let growth = Growth::new(rate(text), first).expect("in range");
            let layers = layers_for(&growth, 1_000_000 * first);
            let (mut items, mut bits) = (layers[0].items, layers[0].layer.bits());
            for layer in &layers[1..] {
                bits += layer.layer.bits();
                let target = Target::new().items(items).rate(rate(text));
                for target in [target.clone(), target.mean()] {
                    let excess = bits as f64 / Plan::new(&target).expect("a plan").bits as f64 / growth.ratio() - 1.0;
                    let most = &mut most[usize::from(first >= 1_000)];
                    *most = most.max(excess);
                }
                items += layer.items;
            }
        }
    }
    let [small, usual] = most;
    assert!(small > 0.05 && small <= 0.1, "{small}");
    assert!(usual > 0.001 && usual <= 0.006, "{usual}");
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(Growth::new(rate("1e-14"), 1_000).is_err());
    assert!(Growth::new(rate("1%"), 63).is_err() && Growth::new(rate("1%"), Growth::MOST_FIRST + 1).is_err());
    // With a ratio of 2.5, layers shrink from the 81st on, after they have reached 50,000 times the
    // first size.
    for ratio in [0.0, 1.0, 1.9, 2.5, f64::NAN, f64::INFINITY, 1e10] {
        assert!(Growth::with_ratio(rate("1%"), 1_000, ratio).is_err(), "{ratio}");
    }
    let endless = Growth::new(rate("1%"), Growth::MOST_FIRST).expect("in range");
    assert!(endless.layer(100).is_err() && endless.layer(u32::MAX).is_err());
    assert!(Layer::new(64, 7, 6).is_err() && Layer::new(64, 7, 64).is_err() && Layered::new(Vec::new()).is_err());
}

/// The columns of the tables that describe a layer.
struct Row {
    items: u64,
    bits: u64,
    rate: f64,
}

/// A layer of RedisBloom by its published rules (`sb.c` and `bloom.c` of RedisBloom 2). The first
/// layer has half the requested rate; each later layer has half the rate and twice the number of
/// items of the previous one. A layer has `-ln(rate) / 0.480453` bits per item, in whole words, and
/// `ceil(0.693147 bits)` probes, and is closed by its number of items. The rate is computed for
/// independent positions, which is lower than the actual one.
#[expect(clippy::approx_constant, reason = "theirs, to the digits that they have")]
fn redisbloom(asked: f64, first: u64, layer: u32) -> Row {
    let (items, error) = (first << layer, asked * 0.5f64.powi(layer as i32 + 1));
    let each = -error.ln() / 0.480453;
    let bits = ((items as f64 * each) as u64).next_multiple_of(64);
    let fpr = truebloom_math::Variant::Standard.fpr(bits, items, (0.693147 * each).ceil() as u32).expect("a rate");
    Row { items, bits, rate: fpr.value }
}

fn ours(growth: &Growth, layer: u32) -> Row {
    let planned = growth.layer(layer).expect("in range");
    Row { items: planned.items, bits: planned.layer.bits(), rate: planned.fpr.value }
}

/// The number of layers that hold `items` items, their total bits per item, and their rate when
/// full.
fn at(items: u64, layer: impl Fn(u32) -> Row) -> (u32, f64, f64) {
    let (mut room, mut bits, mut none, mut layers) = (0, 0, 1.0, 0);
    while room < items {
        let row = layer(layers);
        (room, bits, none, layers) = (room + row.items, bits + row.bits, none * (1.0 - row.rate), layers + 1);
    }
    (layers, bits as f64 / items as f64, 1.0 - none)
}

/// `cargo test -p truebloom-math --test growth beside -- --nocapture` prints the tables of
/// docs/GROWTH.md.
#[test]
fn beside_redisbloom() {
    let first = 1_000;
    for text in ["1%", "0.1%", "1e-6"] {
        let growth = Growth::new(rate(text), first).expect("in range");
        let asked = rate(text).to_f64();
        println!(
            "\n{text}: ratio {}\n| items | known before | layers | bits per item | rate | RedisBloom: layers | bits per item | rate |\n|---|---|---|---|---|---|---|---|",
            growth.ratio()
        );
        let (mut worst, mut least, mut sum) = ((0.0f64, 0.0f64), f64::INFINITY, 0.0);
        for step in 0..=240 {
            let items = (first as f64 * 10f64.powf(f64::from(step) / 40.0)).round() as u64;
            let known = Plan::new(&Target::new().items(items).rate(rate(text))).expect("a plan").bits as f64 / items as f64;
            let (layers, bits, own) = at(items, |layer| ours(&growth, layer));
            let (their_layers, their_bits, theirs) = at(items, |layer| redisbloom(asked, first, layer));
            worst = (worst.0.max(bits / known), worst.1.max(their_bits / known));
            (least, sum) = (least.min(bits / known), sum + bits / known / 241.0);
            if step % 40 == 0 {
                println!("| {items} | {known:.1} | {layers} | {bits:.1} | {own:.3e} | {their_layers} | {their_bits:.1} | {theirs:.3e} |");
            }
            assert!(own <= asked && layers <= 20);
        }
        // The ratio is highest just after a layer was opened.
        for number in 1..20 {
            let items = (0..number).map(|layer| ours(&growth, layer).items).sum::<u64>() + 1;
            let their_items = (0..number).map(|layer| redisbloom(asked, first, layer).items).sum::<u64>() + 1;
            let known = |items: u64| Plan::new(&Target::new().items(items).rate(rate(text))).expect("a plan").bits as f64 / items as f64;
            if items <= 1_000_000 * first {
                worst.0 = worst.0.max(at(items, |layer| ours(&growth, layer)).1 / known(items));
            }
            if their_items <= 1_000_000 * first {
                worst.1 = worst.1.max(at(their_items, |layer| redisbloom(asked, first, layer)).1 / known(their_items));
            }
        }
        println!("worst: {:.2} times the memory of the right size; RedisBloom {:.2}", worst.0, worst.1);
        println!("least: {least:.2} times, average: {sum:.2} times");
        assert!((0.35..0.6).contains(&(least / growth.ratio())) && (0.65..0.75).contains(&(sum / growth.ratio())));
        assert!(worst.0 < 1.005 * growth.ratio() && worst.0 < worst.1);
    }
}

/// Prints the options for the ratio: the number of layers for 10^6 times the first size. Each layer
/// costs about two probes for a key that is not contained.
#[test]
fn beside_other_ratios() {
    println!("| ratio | 10% | 1% | 0.1% | 1e-6 |\n|---|---|---|---|---|");
    let mut fewest = usize::MAX;
    for ratio in [2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0] {
        let layers: Vec<Option<usize>> = ["10%", "1%", "0.1%", "1e-6"]
            .into_iter()
            .map(|text| Growth::with_ratio(rate(text), 1_000, ratio).ok().map(|growth| layers_for(&growth, 1_000_000_000).len()))
            .collect();
        let shown: Vec<String> = layers.iter().map(|layers| layers.map_or("-".to_owned(), |layers| layers.to_string())).collect();
        println!("| {ratio} | {} |", shown.join(" | "));
        let now = layers[3].expect("in reach");
        assert!(now <= fewest, "a higher ratio takes no more layers");
        fewest = now;
    }
}

/// Tests that layers grow for every ratio, until a layer cannot be planned.
#[test]
fn layers_grow_until_memory_ends() {
    for text in ["99%", "90%", "50%", "10%", "1%", "1e-6", "1e-13"] {
        for first in [64, 1_000_000] {
            // The lowest ratio that is accepted, and the default.
            let chosen = Growth::new(rate(text), first).expect("in range");
            let (mut low, mut high) = (1.0, chosen.ratio());
            while high - low > 1e-3 {
                let middle = low + (high - low) / 2.0;
                if Growth::with_ratio(rate(text), first, middle).is_ok() { high = middle } else { low = middle }
            }
            let least = Growth::with_ratio(rate(text), first, high).expect("it was taken");
            for growth in [chosen, least] {
                // Planning takes some time, so not every layer is tested.
                let (mut before, mut bits) = (0, 0.0);
                for number in (2..1_000).step_by(7) {
                    // With more layers, the total would reach 2^62 bits.
                    let Some(planned) = growth.layer(number).ok().filter(|_| bits < 2f64.powi(55)) else { break };
                    assert!(planned.items > before, "{text} {first} {}: layer {number}", growth.ratio());
                    (before, bits) = (planned.items, planned.layer.bits() as f64);
                }
                assert!(before as f64 > 1e15 || bits > 1e15, "{text} {first} {}: {before}", growth.ratio());
            }
        }
    }
}

/// Tests layers with the same number. Such layers depend on each other, so their rates are added,
/// and the result is not exact.
#[test]
fn twins_are_bounded_by_their_sum() {
    let layer = Layer::new(64, 3, 40).expect("in range");
    let law = Layered::numbered(vec![layer; 3], vec![0, 0, 1]);
    let one = layer.fpr_at_fill(32).expect("a rate");
    let found = law.fpr_at_fill(&[32, 32, 0]).expect("a rate").expect("known");
    assert!(found.method != Method::Exact && found.upper >= 2.0 * one.lower && found.upper < 2.0001 * one.upper);
    assert!(found.lower <= one.upper && found.lower > 0.9999 * one.lower);
    let alone = law.fpr_at_fill(&[0, 0, 32]).expect("a rate").expect("known");
    assert!(alone.lower <= one.upper && alone.upper >= one.lower && law.bound().expect("a rate").upper > 3.0 * one.upper * 0.9);
    assert_eq!(Layered::numbered(vec![layer; 3], vec![0, 1, 2]).bound(), Layered::new(vec![layer; 3]).expect("layers").bound());
}
