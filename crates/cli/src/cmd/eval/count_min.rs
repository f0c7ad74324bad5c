//! Sizes of Count-Min sketches.

use super::query::{Answer, Query, brief, explain, object};
use serde_json::{Value, json};
use truebloom_math::count_min::{Family, Rows, Shape};

pub(super) fn count_min(query: &mut Query) -> Result<Answer, String> {
    let (epsilon, delta) = (query.rate("epsilon")?, query.rate("delta")?);
    let rows = match query.take("two_hash")? {
        Value::Bool(true) => Rows::TwoHash,
        Value::Bool(false) => Rows::Independent,
        other => return Err(format!("field `two_hash` is {}, but must be true or false", brief(&other))),
    };
    let family = match query.fields.remove("family") {
        None => Family::Ideal,
        Some(Value::String(name)) if name == "ideal" => Family::Ideal,
        Some(Value::String(name)) if name == "pairwise" => Family::Pairwise,
        Some(other) => return Err(format!("field `family` is {}, but must be \"ideal\" or \"pairwise\"", brief(&other))),
    };
    query.finish()?;
    let shape = Shape::for_error(&epsilon, &delta, rows).map_err(explain)?;
    let bound = shape.failure_bound(&epsilon, family).map_err(explain)?;
    // The number of copies in the papers, and the number that the hash family needs for the
    // requested error.
    let copies_proven = match rows {
        Rows::Independent => Some(shape.copies()),
        Rows::TwoHash => shape.copies_proven(&epsilon, &delta, family).map_err(explain)?,
    };
    Ok(object(json!({
        "width": shape.width(),
        "depth": shape.depth(),
        "copies": shape.copies(),
        "hash_functions": shape.hash_functions(),
        "bound": bound.value,
        "bound_lower": bound.lower,
        "bound_upper": bound.upper,
        "bound_ln": bound.ln,
        "method": "bound",
        "family": family.to_string(),
        "meets": copies_proven.is_some_and(|proven| proven <= shape.copies()),
        "copies_proven": copies_proven,
        "cells": whole(shape.cells()),
        "cells_classic": Shape::for_error(&epsilon, &delta, Rows::Independent).ok().map(|classic| whole(classic.cells())),
    })))
}

/// Converts a whole number to JSON with all its digits, even if it does not fit in 64 bits.
fn whole(number: u128) -> Value {
    number.to_string().parse().map_or(Value::Null, Value::Number)
}
