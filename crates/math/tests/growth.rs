//! Growth: shares, limits, sizes, and the law of layers.

use truebloom_math::law::{Layer, Layered};
use truebloom_math::{Growth, Law, Method, Plan, Rate, Target};

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

/// The layers that so many items take on average.
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

/// However many layers there are, and whatever is in them.
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
            // What whole bits leave of the shares is little.
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

/// `1 - prod (1 - r_i)` in rational numbers, for layers of few bits.
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

/// The promise of `ratio`, by real plans: at the moment when a layer is opened, with the average number of items in those before. Whole bits and the guarantee of the plan cost small layers some percent.
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

#[test]
fn what_cannot_be_is_refused() {
    assert!(Growth::new(rate("1e-14"), 1_000).is_err());
    assert!(Growth::new(rate("1%"), 63).is_err() && Growth::new(rate("1%"), Growth::MOST_FIRST + 1).is_err());
    for ratio in [0.0, 1.0, 1.9, f64::NAN, f64::INFINITY, 1e10] {
        assert!(Growth::with_ratio(rate("1%"), 1_000, ratio).is_err(), "{ratio}");
    }
    let endless = Growth::new(rate("1%"), Growth::MOST_FIRST).expect("in range");
    assert!(endless.layer(100).is_err() && endless.layer(u32::MAX).is_err());
    assert!(Layer::new(64, 7, 6).is_err() && Layer::new(64, 7, 64).is_err() && Layered::new(Vec::new()).is_err());
}
