//! Predicting the size of a filter before it is created, and checking the rate of an existing
//! filter.

use super::create::{self, Form, Request};
use super::info::{guaranteed, kind, number, with_filter};
use super::parse::{self, Options};
use super::verb;
use crate::answer::{Failure, NOT_FOUND, Reply};
use crate::ffi::Call;
use crate::imported::Imported;
use crate::large;
use crate::memory;
use crate::plans;
use crate::turning::Turning;
use crate::value::{self, Value};
use std::ffi::CStr;
use truebloom::verify::ExpectedVerdict;
use truebloom_math::binomial;

verb!(
    /// BF.PLAN error_rate capacity [options of BF.RESERVE]
    Plan,
    c"BF.PLAN",
    None,
    -3,
    c"Computes the size, the memory and the rate of a filter without making it",
    c"The time to compute a plan: microseconds to about a second",
    plan
);

verb!(
    /// BF.VERIFY key [QUERIES n]
    Verify,
    c"BF.VERIFY",
    Read,
    -2,
    c"Checks whether a filter meets its rate: tests its counts, its bits and its hits against proven bounds",
    c"O(n + q), with n bits and q queries",
    verify
);

type Fields = Vec<(&'static CStr, Reply)>;

fn plan(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let given = Options { rate: Some(parse::rate(args.get(1))?), items: Some(parse::items(args.get(2))?), ..Options::default() };
    let request = Request::of(&create::options(&mut args.from(3), given)?)?;
    let mut fields: Fields = Vec::new();
    let (bits, probes, bytes, promised) = match request.form {
        Form::Growing { expansion } => {
            let growth = plans::growth(request.rate, request.items, expansion)?;
            let shape = plans::growing(growth, expansion, truebloom::HasherId::Xxh3)?;
            let layer = shape.layer(0).ok_or_else(|| Failure::text("ERR the filter would have more than 2^62 bits"))?;
            let bytes = value::bytes_of(Some(&shape), layer.scheme.bits());
            (layer.scheme.bits(), layer.scheme.probes(), bytes, request.rate.to_f64())
        }
        Form::Fixed | Form::Blocked => {
            let plan = plans::plan(request.rate, request.items, request.form == Form::Blocked)?;
            let shape = match request.form {
                Form::Fixed => Some(plans::fixed(plan.bits, plan.probes, plan.rate, Some(plan.items), truebloom::HasherId::Xxh3)?),
                _ => None,
            };
            (plan.bits, plan.probes, value::bytes_of(shape.as_deref(), plan.bits), plan.promised())
        }
        Form::Turning(window) => {
            let design = Turning::design(&request.rate, request.items, window)?;
            let bytes = Turning::bytes_of(&design);
            let worst = design.long_run().map_err(Failure::of)?.worst.upper;
            (design.total_bits(), design.probes(), bytes as u64, worst)
        }
    };
    fields.push((c"Bits", number(bits)));
    fields.push((c"Probes", Reply::Number(probes.into())));
    fields.push((c"Memory", number(bytes)));
    fields.push((c"Error rate guaranteed", Reply::Float(promised)));
    fields.push((c"Fits", Reply::Bool(memory::check(bytes, 0).is_ok())));
    if let Form::Growing { expansion } = request.form {
        let growth = plans::growth(request.rate, request.items, expansion)?;
        fields.push((c"Memory ratio", Reply::Float(growth.ratio())));
        fields.push((c"Growth", Reply::Array(steps(&growth))));
    }
    Ok(Reply::Map(fields))
}

/// The number of layers that `BF.PLAN` lists. With this many layers, the filter has grown by a
/// factor of a few hundred.
const STEPS: u32 = 8;

/// Returns the items and memory of a growing filter at the moments when its layers are full.
fn steps(growth: &truebloom_math::Growth) -> Vec<Reply> {
    let (mut items, mut bytes) = (0u64, 0u64);
    let mut step = |number_of: u32| {
        let layer = growth.layer(number_of).ok()?;
        items = items.saturating_add(layer.items);
        bytes = bytes.saturating_add(large::layer_bytes(layer.layer.bits()) as u64);
        Some(Reply::Array(vec![number(items), number(bytes)]))
    };
    (0..STEPS).map_while(&mut step).collect()
}

/// The largest number of random keys that one command queries (about 0.1 seconds), and the largest
/// number of look-ups in all layers together (about a second).
const MOST_QUERIES: u64 = 1_000_000;
const MOST_LOOKS: u64 = 30_000_000;

fn verify(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let queries = match args.len() {
        2 => 0,
        4 if args.get(2).eq_ignore_ascii_case(b"QUERIES") => {
            let queries = parse::number(args.get(3)).filter(|queries| *queries <= MOST_QUERIES);
            queries.ok_or_else(|| Failure::text(format!("ERR QUERIES must be at most {MOST_QUERIES}")))?
        }
        _ => return Err(Failure::Arity),
    };
    let seed = u128::from(truebloom::Seed::random().map_err(Failure::of)?) as u64;
    call.look(1, |value| {
        let value = value.ok_or(NOT_FOUND)?;
        value.check_filter()?;
        let most = MOST_LOOKS / value.layers().max(1);
        if queries > most {
            return Err(Failure::text(format!("ERR QUERIES must be at most {most} for a filter with {} layers", value.layers())));
        }
        if let Value::Imported(filter) = value {
            return Ok(Reply::Map(imported(filter, queries, seed)));
        }
        with_filter(value, |filter| fields(filter, queries, seed))?.map(Reply::Map)
    })
}

/// Reports on layers that were imported from RedisBloom. The rate of these layers is measured,
/// because nothing is proven about it.
fn imported(filter: &Imported, queries: u64, seed: u64) -> Fields {
    let mut fields: Fields = vec![
        (c"Holds", Reply::Null),
        (c"Kind", Reply::Text("imported".to_owned())),
        (c"Error rate asked", Reply::Text(filter.chain().asked().to_string())),
    ];
    if queries > 0 {
        let hits = filter.hits(queries, seed);
        let (least, most) = binomial::interval(hits, queries, 0.99);
        fields.push((c"Queries", number(queries)));
        fields.push((c"Hits", number(hits)));
        fields.push((c"Error rate measured", Reply::Float(hits as f64 / queries as f64)));
        fields.push((c"Error rate at least", Reply::Float(least)));
        fields.push((c"Error rate at most", Reply::Float(most)));
    }
    fields
}

fn fields(filter: &truebloom::AnyFilter, queries: u64, seed: u64) -> Result<Fields, Failure> {
    let found = filter.verification().map_err(Failure::of)?;
    let (fewest, _) = found.items();
    let fill = found.fill();
    let verdict = match found.expected_verdict() {
        ExpectedVerdict::Met => "met",
        ExpectedVerdict::Exceeded => "exceeded",
        ExpectedVerdict::NothingAsked => "nothing asked",
        _ => "undetermined",
    };
    let mut holds = found.holds();
    let mut fields: Fields = vec![
        (c"Holds", Reply::Null),
        (c"Kind", Reply::Text(kind(filter).to_owned())),
        (c"Items at least", number(fewest)),
        // Items that passed by chance were not offered to the filter, so its counts are only lower
        // bounds.
        (c"Items by the fill", filter.estimated_items().map_or(Reply::Null, Reply::Float)),
        (c"Error rate asked", filter.rate().map_or(Reply::Null, |rate| Reply::Text(rate.to_string()))),
        (c"Error rate guaranteed", guaranteed(filter).map_or(Reply::Null, Reply::Float)),
        (c"Error rate now", Reply::Float(filter.fpr().upper)),
        (c"Rate asked is", Reply::Text(verdict.to_owned())),
        (
            c"Fill",
            Reply::Text(
                if !fill.tested {
                    "untested"
                } else if fill.holds() {
                    "as predicted"
                } else {
                    "inconsistent"
                }
                .to_owned(),
            ),
        ),
    ];
    if queries > 0 {
        let mut measured = filter.measurement(seed);
        measured.query(queries);
        holds &= measured.holds();
        fields.push((c"Queries", number(queries)));
        fields.push((c"Hits", number(measured.hits())));
        fields.push((c"Error rate measured", Reply::Float(measured.rate())));
        fields.push((c"Chance of such hits", Reply::Float(measured.p_value())));
    }
    if let Some(first) = fields.first_mut() {
        first.1 = Reply::Bool(holds);
    }
    Ok(fields)
}
