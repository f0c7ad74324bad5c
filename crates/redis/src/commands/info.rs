//! What a filter reports about itself.

use super::verb;
use crate::answer::{Failure, NOT_FOUND, Reply};
use crate::ffi::Call;
use crate::imported::Imported;
use crate::plans;
use crate::value::Value;
use std::ffi::CStr;
use truebloom::AnyFilter;

verb!(
    /// BF.CARD key
    Card,
    c"BF.CARD",
    Read,
    2,
    c"Returns the number of items that were added to a filter",
    c"O(1)",
    |call| {
        let items = call.look(1, |value| {
            value.map_or(Ok(0), |value| {
                value.check_filter()?;
                Ok(value.items())
            })
        })?;
        Ok(number(items))
    }
);

verb!(
    /// BF.INFO key [field | ALL]
    Info,
    c"BF.INFO",
    Read,
    -2,
    c"Returns the properties of a filter: its size, its items and its rates",
    c"O(1); O(n) for NOW, GUARANTEED and ALL, with n bits",
    info
);

verb!(
    /// BF.DEBUG key
    Debug,
    c"BF.DEBUG",
    Read,
    2,
    c"Describes each layer of a filter",
    c"O(n), with n bits",
    |call| call.look(1, |value| debug(value.ok_or(NOT_FOUND)?))
);

/// A number as a reply.
pub(crate) fn number(number: u64) -> Reply {
    Reply::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The fields that clients of RedisBloom know: their names in a call, and in the reply.
const KNOWN: [(&[u8], &CStr); 5] = [
    (b"CAPACITY", c"Capacity"),
    (b"SIZE", c"Size"),
    (b"FILTERS", c"Number of filters"),
    (b"ITEMS", c"Number of items inserted"),
    (b"EXPANSION", c"Expansion rate"),
];

/// The additional fields of this module.
const OURS: [(&[u8], &CStr); 10] = [
    (b"KIND", c"Kind"),
    (b"ASKED", c"Error rate asked"),
    (b"GUARANTEED", c"Error rate guaranteed"),
    (b"NOW", c"Error rate now"),
    (b"FILL", c"Fill"),
    (b"BITS", c"Bits"),
    (b"LAYERS", c"Layers"),
    (b"MEMORY", c"Memory"),
    (b"TURNS", c"Turns"),
    (b"RATIO", c"Memory ratio"),
];

fn info(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    if args.len() > 3 {
        return Err(Failure::Arity);
    }
    let wanted = args.get(2).to_ascii_uppercase();
    let is_all = wanted == b"ALL";
    call.look(1, |value| {
        let value = value.ok_or(NOT_FOUND)?;
        value.check_filter()?;
        if args.len() == 3 && !is_all {
            let mut fields = KNOWN.iter().chain(&OURS);
            let (name, _) = fields.find(|(name, _)| *name == wanted).ok_or_else(|| Failure::text("ERR invalid information value"))?;
            return Ok(Reply::Array(vec![field(value, name)?]));
        }
        let ours = if is_all { &OURS[..] } else { &[] };
        let fields = KNOWN.iter().chain(ours).map(|(name, title)| Ok((*title, field(value, name)?)));
        Ok(Reply::Map(fields.collect::<Result<_, Failure>>()?))
    })
}

fn field(value: &Value, name: &[u8]) -> Result<Reply, Failure> {
    Ok(match name {
        b"CAPACITY" => number(value.capacity()),
        b"SIZE" | b"MEMORY" => number(value.bytes() as u64),
        b"FILTERS" => number(value.layers()),
        b"ITEMS" => number(value.items()),
        b"EXPANSION" => value.expansion().map_or(Reply::Null, |expansion| Reply::Number(expansion.into())),
        b"TURNS" => {
            if let Value::Turning(filter) = value {
                number(filter.stats().cycles)
            } else {
                Reply::Number(0)
            }
        }
        _ => match value {
            Value::Turning(filter) => {
                let (worst, now) = filter.rates();
                let (bits, ones, probes) = filter.shape();
                match name {
                    b"KIND" => Reply::Text("recycling".to_owned()),
                    b"ASKED" | b"RATIO" => Reply::Null,
                    b"GUARANTEED" => Reply::Float(worst),
                    b"NOW" => Reply::Float(now),
                    b"FILL" => Reply::Float(ones as f64 / (bits / filter.phases()) as f64),
                    b"BITS" => number(bits),
                    _ => Reply::Array(vec![Reply::Array([bits, probes.into(), ones, value.items()].map(number).into())]),
                }
            }
            Value::Imported(filter) => of_imported(filter, name)?,
            _ => with_filter(value, |filter| of_filter(filter, name))?,
        },
    })
}

/// Calls `look` with a filter as the library's type.
pub(crate) fn with_filter<R>(value: &Value, look: impl FnOnce(&AnyFilter) -> R) -> Result<R, Failure> {
    if let Value::Large(large) = value { Ok(look(large.filter())) } else { value.to_filter().map(|filter| look(&filter)) }
}

fn of_filter(filter: &AnyFilter, name: &[u8]) -> Reply {
    match name {
        b"KIND" => Reply::Text(kind(filter).to_owned()),
        b"ASKED" => filter.rate().map_or(Reply::Null, |rate| Reply::Text(rate.to_string())),
        b"GUARANTEED" => guaranteed(filter).map_or(Reply::Null, Reply::Float),
        b"NOW" => Reply::Float(filter.fpr().upper),
        b"FILL" => Reply::Float(filter.fill()),
        b"BITS" => number(filter.bits()),
        b"RATIO" => ratio(filter).map_or(Reply::Null, Reply::Float),
        _ => Reply::Array(layers(filter).into_iter().map(|layer| Reply::Array(layer.map(number).into())).collect()),
    }
}

/// Reports a field of a filter that was imported from RedisBloom. The rate of its layers is
/// measured on every call, because nothing is proven about it.
fn of_imported(filter: &Imported, name: &[u8]) -> Result<Reply, Failure> {
    let mut layers = filter.counts();
    if let Some(own) = filter.own() {
        layers.extend(with_filter(own, self::layers)?);
    }
    let sum = |of: fn(&[u64; 4]) -> u64| layers.iter().map(of).sum::<u64>();
    let (bits, ones) = (sum(|layer| layer[0]), sum(|layer| layer[2]));
    Ok(match name {
        b"KIND" => Reply::Text("imported".to_owned()),
        b"ASKED" => Reply::Text(filter.chain().asked().to_string()),
        b"GUARANTEED" | b"RATIO" => Reply::Null,
        b"NOW" => {
            let own = filter.own().map_or(Ok(0.0), |own| with_filter(own, |own| own.fpr().upper))?;
            Reply::Float((filter.most_now() + own).min(1.0))
        }
        b"FILL" => Reply::Float(ones as f64 / bits as f64),
        b"BITS" => number(bits),
        _ => Reply::Array(layers.into_iter().map(|layer| Reply::Array(layer.map(number).into())).collect()),
    })
}

/// Returns an upper bound on the memory of a filter that grows, divided by the memory of a filter
/// that is planned for the right number of items. Returns `None` for filters that do not grow, and
/// for merged filters.
fn ratio(filter: &AnyFilter) -> Option<f64> {
    match filter {
        AnyFilter::Scalable(grows) if !grows.is_merged() => Some(grows.growth().ratio()),
        _ => None,
    }
}

pub(crate) fn kind(filter: &AnyFilter) -> &'static str {
    match filter {
        AnyFilter::Scalable(_) => "growing",
        AnyFilter::Blocked(_) => "blocked",
        _ => "fixed",
    }
}

/// An upper bound on the rate, as `BF.PLAN` reports it. For a filter that grows, the bound always
/// holds, for any number of items. For any other filter, the rate is at most the bound with a
/// probability of 99.9% once the filter holds its capacity. For schemes without such a guarantee,
/// the number is the average rate.
pub(crate) fn guaranteed(filter: &AnyFilter) -> Option<f64> {
    match filter {
        AnyFilter::Scalable(grows) => {
            let asked = grows.growth().rate().to_f64();
            Some(if grows.is_merged() { grows.bound().upper } else { asked })
        }
        other => {
            let one = plans::kept_by_one(other.scheme_id(), other.bits(), other.probes(), other.capacity()?);
            one.ok().or_else(|| other.expected_fpr().ok().flatten().map(|rate| rate.upper))
        }
    }
}

/// The bits, probes, set bits and items of each layer.
fn layers(filter: &AnyFilter) -> Vec<[u64; 4]> {
    match filter {
        AnyFilter::Scalable(grows) => {
            let counts = grows.layer_ones().into_iter().zip(grows.inserted());
            grows.layers().iter().zip(counts).map(|(layer, (ones, items))| [layer.bits(), layer.probes().into(), ones, items]).collect()
        }
        other => vec![[other.bits(), other.probes().into(), other.ones(), other.changed()]],
    }
}

fn debug(value: &Value) -> Result<Reply, Failure> {
    value.check_filter()?;
    let mut lines = vec![format!("size:{}", value.items())];
    if let Value::Turning(filter) = value {
        let (bits, ones, probes) = filter.shape();
        lines.push(format!("bytes:{} bits:{bits} hashes:{probes} hashwidth:128 set:{ones}", bits / 8));
    } else {
        let layers = match value {
            Value::Imported(filter) => filter.counts(),
            _ => with_filter(value, layers)?,
        };
        lines.extend(layers.iter().map(|[bits, probes, ones, items]| {
            format!("bytes:{} bits:{bits} hashes:{probes} hashwidth:128 set:{ones} size:{items}", bits.div_ceil(8))
        }));
    }
    Ok(Reply::Array(lines.into_iter().map(Reply::Text).collect()))
}
