//! Moving filters that forget to the next phase, by command or when the time of a phase is up.

use super::parse;
use super::verb;
use crate::answer::{Failure, NOT_FOUND, Reply};
use crate::ffi::{self, Call};
use crate::value::Value;

verb!(
    /// BF.RECYCLE key [FORCE]
    Recycle,
    c"BF.RECYCLE",
    Insert,
    -2,
    c"Begins the next phase of a filter that recycles, if its time is up or FORCE is given",
    c"O(n), with n bits",
    recycle
);

/// The latest time that a replica accepts from its primary (see [`parse::Options`]).
const MOST_CLOCK: u64 = u64::MAX / 2_000_000;

fn recycle(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let (mut force, mut at) = (false, None);
    let mut rest = args.from(2);
    while let Some(name) = rest.next() {
        match &name.to_ascii_uppercase()[..] {
            b"FORCE" => force = true,
            // A primary sends this to its replicas and to the AOF. Clients must not set the time.
            b"AT" if call.is_replicated() => {
                let time = rest.next().and_then(parse::number).filter(|time| *time < MOST_CLOCK);
                at = Some(time.ok_or_else(|| Failure::text("ERR bad AT: it must be a time in milliseconds since 1970"))?);
            }
            _ => return Err(Failure::text(format!("ERR unknown option {}", String::from_utf8_lossy(name)))),
        }
    }
    let now = at.unwrap_or_else(ffi::now);
    let (changed, turned) = call.change(1, |slot| {
        let value = slot.value()?.ok_or(NOT_FOUND)?;
        value.check_filter()?;
        let Value::Turning(filter) = value else {
            return Err(Failure::text("ERR the filter does not recycle; BF.RESERVE with RECYCLE or EVERY makes a filter that does"));
        };
        let before = filter.stats().cycles;
        // A replica follows the primary, regardless of its own clock.
        let mut changed = (force || at.is_some() || filter.is_due(now)) && filter.advance(now);
        if force {
            filter.turn();
            changed = true;
        }
        let turned = filter.stats().cycles > before;
        if changed {
            slot.touch();
        }
        Ok((changed, turned))
    })?;
    if changed {
        let mut words = vec!["AT".to_owned(), now.to_string()];
        if force {
            words.push("FORCE".to_owned());
        }
        call.replicate_as(c"BF.RECYCLE", &words);
        call.notify(c"bf.recycle", 1);
    }
    Ok(Reply::Bool(turned))
}
