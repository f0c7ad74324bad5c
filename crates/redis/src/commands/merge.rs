//! The union of filters.

use super::info::with_filter;
use super::verb;
use crate::answer::{Failure, NOT_FOUND, Reply};
use crate::ffi::{self, Call};
use crate::large;
use crate::memory;
use crate::value::Value;
use truebloom::AnyFilter;

verb!(
    /// BF.MERGE destination source [source ...]
    Merge,
    c"BF.MERGE",
    Merge,
    -3,
    c"Adds all items of filters with the same plan and seed; makes the destination if it does not exist",
    c"O(n), with n bits in all filters",
    merge
);

fn merge(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let is_limited = !call.is_replicated();
    let mut there = 0;
    let mut merged: Option<(AnyFilter, u32)> = None;
    // If the destination exists, it is merged first.
    for argument in 1..call.args().len() {
        call.look(argument, |value| {
            let Some(value) = value else { return if argument == 1 { Ok(()) } else { Err(NOT_FOUND) } };
            value.check_filter()?;
            if argument == 1 {
                there = value.bytes() as u64;
            }
            // When filters that grow are merged, two layers with the same number become one layer
            // only if their items fit into it. Otherwise, both layers are kept.
            let layers_of_both =
                merged.as_ref().filter(|(one, _)| matches!(one, AnyFilter::Scalable(_))).map_or(0, |(one, _)| large::bytes(one));
            let needed = value.bytes().saturating_add(layers_of_both);
            if is_limited {
                memory::check(needed as u64, there)?;
            }
            if !ffi::has_room(needed) {
                return Err(Failure::text(format!("ERR cannot allocate {needed} bytes")));
            }
            match &mut merged {
                None => merged = Some((value.to_filter()?, value.expansion().unwrap_or(0))),
                Some((merged, _)) => {
                    with_filter(value, |filter| merged.union_with(filter).map_err(cannot))??;
                    if let (AnyFilter::Scalable(merged), true) = (merged, is_limited) {
                        large::check_layers(merged.layers().len() as u64)?;
                    }
                }
            }
            Ok(())
        })?;
    }
    let (merged, expansion) = merged.ok_or(NOT_FOUND)?;
    call.change(1, |slot| slot.replace(Value::of(merged, expansion)))?;
    call.replicate();
    call.notify(c"bf.merge", 1);
    Ok(Reply::Ok)
}

fn cannot(error: truebloom::MergeError) -> Failure {
    let remedy = match error {
        truebloom::MergeError::Seed => "; make filters for merging with the same SEED in BF.RESERVE",
        _ => "",
    };
    Failure::text(format!("ERR {error}{remedy}"))
}
