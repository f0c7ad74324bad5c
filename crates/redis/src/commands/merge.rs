//! The union of filters.

use super::verb;
use crate::answer::{Failure, NOT_FOUND, Reply};
use crate::ffi::Call;
use crate::memory;
use crate::value::Value;
use truebloom::AnyFilter;

verb!(
    /// BF.MERGE destination source [source ...]
    Merge,
    c"BF.MERGE",
    Merge,
    -3,
    c"Adds all items of other filters of the same plan and seed; makes the filter if there is none",
    c"O(n), with n bits of all",
    merge
);

fn merge(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let mut sum = 0u64;
    let (mut merged, mut expansion): (Option<AnyFilter>, u32) = (None, 0);
    // The destination is the first of them, if it is there.
    for argument in 1..call.args().len() {
        let found = call.look(argument, |value| match value {
            None if argument == 1 => Ok(None),
            None => Err(NOT_FOUND),
            Some(value) => {
                value.check_filter()?;
                Ok(Some((value.to_filter()?, value.bytes() as u64, value.expansion())))
            }
        })?;
        let Some((filter, bytes, asked)) = found else { continue };
        sum = sum.saturating_add(bytes);
        match &mut merged {
            None => (merged, expansion) = (Some(filter), asked.unwrap_or(0)),
            Some(merged) => merged.union_with(&filter).map_err(cannot)?,
        }
    }
    let merged = merged.ok_or(NOT_FOUND)?;
    if !call.is_replicated() {
        memory::check(sum, 0)?;
    }
    call.change(1, |slot| slot.set(Value::of(merged, expansion)))?;
    call.replicate();
    call.notify(c"bf.merge", 1);
    Ok(Reply::Ok)
}

fn cannot(error: truebloom::MergeError) -> Failure {
    let remedy = match error {
        truebloom::MergeError::Seed => "; filters that are to be merged need the same SEED in BF.RESERVE",
        _ => "",
    };
    Failure::text(format!("ERR {error}{remedy}"))
}
