//! Formulas from the papers that planning does not use: limits, bounds and concentration.

use super::query::{Answer, Query, explain, object};
use crate::report::fpr_value;
use serde_json::{Value, json};
use truebloom_math::convergence::{
    LARGE_POWER_OF_TWO, LARGE_PRIME, best_limit_rate, hits_normal, hits_of_one_filter, lemma_6_1_upper, limit_rate, negligible_up_to,
    odd_step_constant, partition_constant, rate_deviation, slices_constant, standard_constant, theorem_6_1_printed,
    theorem_6_2_lower_printed, theorem_6_2_upper, theorem_6_3_lower_printed, theorem_7_1, theorem_7_2,
};
use truebloom_math::law::{Double, Offsets, Step};
use truebloom_math::recycling::{Bracket, Stream, simulate};
use truebloom_math::{
    Fpr, Plan, Target, best_probes_approximation, bounds, half_full_items, items_by_likelihood, items_by_moments, peak_items_approximation,
    standard_limit, valley_efficiency,
};

/// The largest number of probes for which coefficients of 1/n are computed. The number of steps
/// grows with the square of the number of probes. For pairs of positions it grows with the fourth
/// power, which is checked separately.
const MOST_PROBES: u32 = 1_000;

/// Returns the limit of the rate for a constant number of bits per item, and the coefficients of
/// its 1/n terms (Kirsch and Mitzenmacher, sections 2 and 4 to 6).
pub(super) fn convergence(query: &mut Query) -> Result<Answer, String> {
    let (c, probes) = (query.number("bits_per_item", 0.0)?, query.probes()?);
    let slice_bits = if query.fields.contains_key("slice_bits") { Some(query.whole("slice_bits")?) } else { None };
    query.finish()?;
    if !(1..=MOST_PROBES).contains(&probes) {
        return Err(format!("field `probes` is {probes}, but must be from 1 to {MOST_PROBES} for this fn"));
    }
    if slice_bits == Some(0) {
        return Err("field `slice_bits` is 0, but must be at least 1".to_owned());
    }
    // If there are too many probes for computing all pairs, the number is left out.
    let double = |modulus, step, offsets| Double::new(modulus, probes, step, offsets).and_then(|law| law.constant(c)).ok();
    let prime = |offsets| double(LARGE_PRIME, Step::Any, offsets);
    Ok(object(json!({
        "limit": limit_rate(c, probes),
        "best_limit": best_limit_rate(c),
        "standard": standard_constant(c, probes),
        "partition": partition_constant(c, probes),
        "partition_slices": slice_bits.map(|bits| slices_constant(c, probes, bits)),
        "double": prime(Offsets::Linear),
        "double_nonzero": double(LARGE_PRIME, Step::NonZero, Offsets::Linear),
        "double_power_of_two": double(LARGE_POWER_OF_TWO, Step::Any, Offsets::Linear),
        "double_power_of_two_odd": odd_step_constant(c, probes).ok(),
        "square": prime(Offsets::Square),
        "cube": prime(Offsets::Cube),
        "enhanced": prime(Offsets::Enhanced),
        "theorem_6_1_printed": theorem_6_1_printed(c, probes),
        "theorem_6_2_lower_printed": theorem_6_2_lower_printed(c, probes),
        "theorem_6_3_lower_printed": theorem_6_3_lower_printed(c, probes),
        "theorem_6_2_upper": theorem_6_2_upper(c, probes),
    })))
}

/// Returns how far offsets are from satisfying the conditions of Lemma 4.1 for one filter size, and
/// the upper bound of Lemma 6.1 for that size.
pub(super) fn conditions(query: &mut Query) -> Result<Answer, String> {
    let offsets = match query.text("scheme")?.as_str() {
        "double" => Offsets::Linear,
        "square" => Offsets::Square,
        "cube" => Offsets::Cube,
        "enhanced" => Offsets::Enhanced,
        other => return Err(format!("field `scheme` is \"{other}\", but must be \"double\", \"square\", \"cube\" or \"enhanced\"")),
    };
    let (bits, items, probes) = (query.whole("bits")?, query.whole("items")?, query.probes()?);
    query.finish()?;
    let law = Double::new(bits, probes, Step::Any, offsets).map_err(explain)?;
    let one = truebloom_math::convergence::conditions(&law, 1);
    let all = truebloom_math::convergence::conditions(&law, items);
    let pairs = f64::from(probes) * (f64::from(probes) - 1.0) / 2.0 * one.pair;
    let upper = lemma_6_1_upper(items, pairs);
    Ok(object(json!({ "single": all.single, "pair": all.pair, "repeat": all.repeat, "lemma_6_1_upper": upper })))
}

/// The probability that one filter's rate is far from its mean: bounds of Kirsch and Mitzenmacher,
/// section 7.
pub(super) fn deviation(query: &mut Query) -> Result<Answer, String> {
    let (bits, items, probes) = (query.whole("bits")?, query.whole("items")?, query.probes()?);
    let distance = query.number("distance", 0.0)?;
    let optional = |query: &mut Query, name: &str, least: f64| match query.fields.contains_key(name) {
        true => query.number(name, least),
        false => Ok(0.0),
    };
    let (bias, delta) = (optional(query, "bias", 0.0)?, optional(query, "delta", f64::MIN)?);
    let queries = if query.fields.contains_key("queries") { query.whole("queries")? } else { 0 };
    query.finish()?;
    if bits == 0 || items == 0 || probes == 0 {
        return Err("fields `bits`, `items` and `probes` must be at least 1".to_owned());
    }
    // k^2 / c
    let lambda = f64::from(probes) * f64::from(probes) * items as f64 / bits as f64;
    Ok(object(json!({
        "bound": rate_deviation(bits, items, probes, distance),
        "theorem_7_1": theorem_7_1(items, probes, lambda, delta, bias, distance),
        "theorem_7_2": (queries > 0).then(|| theorem_7_2(queries, items, probes, lambda, delta, bias, distance)),
    })))
}

/// The probability of this number of hits among the queries of one filter with a known rate,
/// exactly and by the normal approximation.
pub(super) fn hits_at_rate(query: &mut Query) -> Result<Answer, String> {
    let (queries, hits, rate) = (query.whole("queries")?, query.whole("hits")?, query.rate("fpr")?.to_f64());
    query.finish()?;
    if queries == 0 {
        return Err("field `queries` is 0, but must be at least 1".to_owned());
    }
    if hits > queries {
        return Err(format!("field `hits` is {hits}, but must be at most `queries` ({queries})"));
    }
    Ok(object(json!({ "value": hits_of_one_filter(queries, rate, hits), "normal": hits_normal(queries, rate, hits as f64) })))
}

/// Returns the largest number of bits per item for which the term of order 1/n is less than a given
/// share of the rate.
pub(super) fn negligible(query: &mut Query) -> Result<Answer, String> {
    let (items, share) = (query.whole("items")?, query.rate("share")?.to_f64());
    query.finish()?;
    match items {
        0 => Err("field `items` is 0, but must be at least 1".to_owned()),
        _ => Ok(object(json!({ "bits_per_item": negligible_up_to(items, share) }))),
    }
}

fn put_rate(answer: &mut Answer, name: &str, fpr: &Fpr) {
    for (field, value) in fpr_value(fpr) {
        answer.insert(if field == "value" { name.to_owned() } else { format!("{name}_{field}") }, value);
    }
}

/// The bounds of Burns' corollary 23; with `order`, also the chain of bounds of his theorem 15.
pub(super) fn bounds_of_rates(query: &mut Query) -> Result<Answer, String> {
    let (bits, items, probes) = (query.whole("bits")?, query.whole("items")?, query.probes()?);
    let order = if query.fields.contains_key("order") { Some(query.whole("order")?) } else { None };
    query.finish()?;
    let found = bounds::rates(bits, items, probes).map_err(explain)?;
    let mut answer = Answer::new();
    for (name, fpr) in [("lower_by_mean", &found.lower_by_mean), ("lower", &found.lower), ("upper", &found.upper)] {
        put_rate(&mut answer, name, fpr);
    }
    if let Some(order) = order {
        let order = u32::try_from(order).map_err(|_| format!("field `order` is {order}, but must be at most `probes`"))?;
        let chain = bounds::chain(bits, items, probes, order).map_err(explain)?;
        for (name, fpr) in [
            ("mean_power", &chain.mean_power),
            ("distinct", &chain.distinct),
            ("mean_binomial", &chain.mean_binomial),
            ("single", &chain.single),
        ] {
            put_rate(&mut answer, name, fpr);
        }
    }
    Ok(answer)
}

/// The probability that the probes of one item are all different.
pub(super) fn collision_free(query: &mut Query) -> Result<Answer, String> {
    let (bits, probes) = (query.whole("bits")?, query.probes()?);
    query.finish()?;
    Ok(fpr_value(&bounds::collision_free(bits, probes).map_err(explain)?))
}

/// Returns the efficiency that no standard filter exceeds, and the fractional number of items that
/// reaches it: Burns (74).
pub(super) fn limit(query: &mut Query) -> Result<Answer, String> {
    let bits = query.whole("bits")?;
    query.finish()?;
    let (items, value) = standard_limit(bits).map_err(explain)?;
    Ok(object(json!({ "items": items, "value": value })))
}

/// The number of items that fills half of the bits on average.
pub(super) fn half_full(query: &mut Query) -> Result<Answer, String> {
    let (bits, probes) = (query.whole("bits")?, query.probes()?);
    query.finish()?;
    Ok(object(json!({ "items": half_full_items(bits, probes).map_err(explain)? })))
}

/// Burns (76): a number of items near the peak of the classic filter's efficiency.
pub(super) fn peak_items(query: &mut Query) -> Result<Answer, String> {
    let (bits, probes) = (query.whole("bits")?, query.probes()?);
    query.finish()?;
    Ok(object(json!({ "items": peak_items_approximation(bits, probes).map_err(explain)? })))
}

/// Burns (77): a number of probes near the peak of the classic filter's efficiency.
pub(super) fn peak_probes(query: &mut Query) -> Result<Answer, String> {
    let (bits, items) = (query.whole("bits")?, query.whole("items")?);
    query.finish()?;
    Ok(object(json!({ "probes": best_probes_approximation(bits, items).map_err(explain)? })))
}

/// The efficiency at which k and k + 1 probes are equally good.
pub(super) fn valley(query: &mut Query) -> Result<Answer, String> {
    let probes = query.probes()?;
    query.finish()?;
    Ok(object(json!({ "value": valley_efficiency(probes).map_err(explain)? })))
}

/// The most likely number of items, and the estimate by moments.
pub(super) fn likelihood(query: &mut Query) -> Result<Answer, String> {
    let (variant, bits, probes, ones) = (query.variant()?, query.whole("bits")?, query.probes()?, query.whole("ones")?);
    query.finish()?;
    let likely = items_by_likelihood(variant, bits, probes, ones).map_err(explain)?;
    let moments = items_by_moments(variant, bits, probes, ones).map_err(explain)?;
    Ok(object(json!({ "value": likely, "moments": moments })))
}

/// The textbook's size for items and a rate, and the true rate of that size.
pub(super) fn textbook(query: &mut Query) -> Result<Answer, String> {
    let (items, rate) = (query.whole("items")?, query.rate("fpr")?);
    query.finish()?;
    let plan = Plan::new(&Target::new().items(items).rate(rate).mean()).map_err(explain)?;
    let found = plan.textbook().map_err(explain)?;
    let mut answer = object(json!({ "bits": found.bits, "probes": found.probes, "claimed": found.claimed, "meets": found.meets }));
    put_rate(&mut answer, "fpr", &found.fpr);
    Ok(answer)
}

/// One query simulates at most this many arrivals, which takes some seconds.
const MOST_ARRIVALS: u64 = 10_000_000;

/// Simulates a recycling filter over new items, or over a population of equally likely items.
/// Errors are counted in the three ways of Dozier, Salamatian and Rubenstein.
pub(super) fn simulated(query: &mut Query) -> Result<Answer, String> {
    let design = super::recycling::design(query)?;
    let (arrivals, seed) = (query.whole("arrivals")?, query.whole("seed")?);
    let stream = match query.fields.contains_key("population") {
        true => Stream::Uniform { items: query.whole("population")? },
        false => Stream::New,
    };
    query.finish()?;
    if arrivals > MOST_ARRIVALS {
        return Err(format!(
            "field `arrivals` is {arrivals}, but must be at most {MOST_ARRIVALS} in a query; the command `simulate` takes more"
        ));
    }
    let seen = simulate(&design, stream, arrivals, seed).map_err(explain)?;
    let shown = |Bracket { value, lower, upper, .. }: &Bracket| json!({ "value": value, "lower": lower, "upper": upper });
    let all: [(&str, &Bracket); 4] =
        [("instance", &seen.instance), ("first", &seen.first), ("each", &seen.each), ("items_per_cycle", &seen.items_per_cycle)];
    let mut answer: Answer = all.iter().map(|(name, bracket)| ((*name).to_owned(), shown(bracket))).collect();
    answer.insert("method".to_owned(), Value::from("simulation"));
    Ok(answer)
}
