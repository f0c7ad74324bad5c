//! Count-Min sketches.

use super::info::number;
use super::parse;
use super::verb;
use crate::answer::{Failure, Reply};
use crate::ffi::Call;
use crate::memory;
use crate::settings;
use crate::sketch::{self, Sketch};
use crate::value::Value;
use std::borrow::Cow;
use truebloom::PortableHasher;
use truebloom_math::Rate;

verb!(
    /// CMS.INITBYDIM key width depth
    SketchByDim,
    c"CMS.INITBYDIM",
    Insert,
    -4,
    c"Makes a sketch with this width (counters per row) and depth (rows)",
    c"O(1)",
    by_dim
);

verb!(
    /// CMS.INITBYPROB key error probability
    SketchByProb,
    c"CMS.INITBYPROB",
    Insert,
    -4,
    c"Makes a sketch for an error (a share of all counts) and the probability of larger errors",
    c"O(1)",
    by_prob
);

verb!(
    /// CMS.INCRBY key item count [item count ...]
    SketchAdd,
    c"CMS.INCRBY",
    Update,
    -4,
    c"Counts items",
    c"O(d * n), with d rows and n items",
    add
);

verb!(
    /// CMS.QUERY key item [item ...]
    SketchQuery,
    c"CMS.QUERY",
    Read,
    -3,
    c"Returns upper bounds on the counts of items",
    c"O(d * n), with d rows and n items",
    |call| {
        let items = call.args().from(2);
        let counts = call.look(1, |value| {
            let sketch = value.ok_or(NO_KEY)?.sketch()?;
            Ok(items.map(|item| sketch.estimate(item)).collect::<Vec<_>>())
        })?;
        Ok(Reply::Array(counts.into_iter().map(number).collect()))
    }
);

verb!(
    /// CMS.MERGE destination count source [source ...] [WEIGHTS weight ...]
    SketchMerge,
    c"CMS.MERGE",
    CountedMerge,
    -4,
    c"Stores the sum of sketches in a sketch",
    c"O(c * n), with c counters and n sketches",
    merge
);

verb!(
    /// CMS.INFO key
    SketchInfo,
    c"CMS.INFO",
    Read,
    2,
    c"Returns the size of a sketch and the sum of its counts",
    c"O(1)",
    |call| {
        let (width, depth, total) = call.look(1, |value| {
            let sketch = value.ok_or(NO_KEY)?.sketch()?;
            let (width, depth) = sketch.size();
            Ok((width, depth, sketch.0.total()))
        })?;
        Ok(Reply::Map(vec![(c"width", number(width)), (c"depth", number(depth.into())), (c"count", number(total))]))
    }
);

const NO_KEY: Failure = Failure::Text(Cow::Borrowed("CMS: key does not exist"));
const KEY_EXISTS: Failure = Failure::Text(Cow::Borrowed("CMS: key already exists"));

/// The hasher and seed of a new sketch; for a replicated command, those of the primary.
fn seed(call: &Call<'_>) -> Result<truebloom::Seed, Failure> {
    let args = call.args();
    match args.len() {
        4 => Ok(settings::sketch_seed()),
        6 if args.get(4).eq_ignore_ascii_case(b"SEED") => {
            let text = std::str::from_utf8(args.get(5)).unwrap_or_default();
            text.parse().map_err(|_| Failure::text("CMS: invalid seed: it must have 1 to 32 hexadecimal digits"))
        }
        _ => Err(Failure::Arity),
    }
}

fn by_dim(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let size = |at: usize| parse::number::<u64>(args.get(at)).filter(|size| *size > 0);
    let width = size(2).ok_or(Failure::text("CMS: invalid width"))?;
    let depth = size(3).ok_or(Failure::text("CMS: invalid depth"))?;
    make(call, width, depth)
}

fn by_prob(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let rate = |at: usize| std::str::from_utf8(args.get(at)).ok().and_then(|text| text.parse::<Rate>().ok());
    let error = rate(2).ok_or(Failure::text("CMS: invalid overestimation value"))?.to_f64();
    let probability = rate(3).ok_or(Failure::text("CMS: invalid prob value"))?;
    let width = (2.0 / error).ceil();
    // Markov's inequality: the error of a row exceeds twice its mean with a probability of at most
    // one half.
    let depth = (-probability.ln() / std::f64::consts::LN_2).ceil();
    if width > 1e18 {
        return Err(Failure::text("CMS: invalid init arguments"));
    }
    make(call, width as u64, depth as u64)
}

fn make(call: &mut Call<'_>, width: u64, depth: u64) -> Result<Reply, Failure> {
    let seed = seed(call)?;
    let depth = u32::try_from(depth).ok().filter(|depth| *depth <= truebloom::MAX_PROBES);
    let depth = depth.ok_or_else(|| Failure::text(format!("CMS: invalid depth: it must be at most {}", truebloom::MAX_PROBES)))?;
    let is_limited = !call.is_replicated();
    call.change(1, |slot| {
        if slot.value()?.is_some() {
            return Err(KEY_EXISTS);
        }
        if is_limited {
            memory::check(sketch::bytes_of(width, depth) as u64, 0)?;
        }
        slot.set(Value::Sketch(Box::new(Sketch::new(width, depth, PortableHasher::xxh3(seed))?)))
    })?;
    call.replicate_as(c"CMS.INITBYDIM", &[width.to_string(), depth.to_string(), "SEED".to_owned(), seed.to_string()]);
    call.notify(c"cms.init", 1);
    Ok(Reply::Ok)
}

fn add(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    if !args.len().is_multiple_of(2) {
        return Err(Failure::Arity);
    }
    // All arguments are checked before any item is counted.
    let counts = args.from(3).step_by(2).map(|count| match parse::number::<i64>(count) {
        Some(count) => u64::try_from(count).map_err(|_| Failure::text("CMS: Number cannot be negative")),
        None => Err(Failure::text("CMS: Cannot parse number")),
    });
    let counts = counts.collect::<Result<Vec<u64>, Failure>>()?;
    let replies = call.change(1, |slot| {
        let sketch = slot.value()?.ok_or(NO_KEY)?.sketch_mut()?;
        let replies = args
            .from(2)
            .step_by(2)
            .zip(counts)
            .map(|(item, count)| sketch.add(item, count).map_or(Reply::Error(Cow::Borrowed("CMS: INCRBY overflow")), number));
        let replies = replies.collect();
        slot.touch();
        Ok(replies)
    })?;
    call.replicate();
    call.notify(c"cms.incrby", 1);
    Ok(Reply::Array(replies))
}

fn merge(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let count = parse::number::<usize>(args.get(2)).filter(|count| *count > 0);
    let count = count.ok_or(Failure::text("CMS: invalid numkeys"))?;
    let weights = match args.len().checked_sub(3) {
        Some(rest) if rest == count => vec![1; count],
        Some(rest) if count.checked_mul(2).and_then(|both| both.checked_add(1)) == Some(rest) => {
            if !args.get(3 + count).eq_ignore_ascii_case(b"WEIGHTS") {
                return Err(Failure::text("CMS: wrong number of keys/weights"));
            }
            let weights = args.from(4 + count).map(parse::number::<u64>);
            weights.collect::<Option<Vec<u64>>>().ok_or(Failure::text("CMS: invalid weight value"))?
        }
        _ => return Err(Failure::text("CMS: wrong number of keys/weights")),
    };
    let is_limited = !call.is_replicated();
    let (size, hasher) = call.look(1, |value| {
        let value = value.ok_or(NO_KEY)?;
        let sketch = value.sketch()?;
        let bytes = value.bytes() as u64;
        if is_limited {
            memory::check(bytes, bytes)?;
        }
        Ok((sketch.size(), *sketch.0.hasher()))
    })?;
    let mut sum = Sketch::new(size.0, size.1, hasher)?;
    for (argument, weight) in (3..).zip(weights) {
        call.look(argument, |value| {
            let source = value.ok_or(NO_KEY)?.sketch()?;
            if source.size() != size {
                return Err(Failure::text("CMS: width/depth is not equal"));
            }
            sum.add_times(source, weight)
        })?;
    }
    call.change(1, |slot| slot.replace(Value::Sketch(Box::new(sum))))?;
    call.replicate();
    call.notify(c"cms.merge", 1);
    Ok(Reply::Ok)
}
