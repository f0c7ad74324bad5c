//! Adding items and looking them up.

use super::create::Request;
use super::parse::{self, Options};
use super::verb;
use crate::answer::{Failure, NOT_FOUND, Reply};
use crate::ffi::{self, Call};
use crate::value::Value;

verb!(
    /// BF.ADD key item
    Add,
    c"BF.ADD",
    Insert,
    3,
    c"Adds an item; makes the filter if it does not exist",
    c"O(k), with k probes per item",
    |call| {
        let added = insert(call, 2, || Request::of(&Options::default()).map(Some))?;
        Ok(added.into_iter().next().map_or(Reply::Null, answer))
    }
);

verb!(
    /// BF.MADD key item [item ...]
    MultiAdd,
    c"BF.MADD",
    Insert,
    -3,
    c"Adds items; makes the filter if it does not exist",
    c"O(k * n), with k probes per item and n items",
    |call| insert(call, 2, || Request::of(&Options::default()).map(Some)).map(answers)
);

verb!(
    /// BF.INSERT key [CAPACITY n] [ERROR rate] [NOCREATE] [options] ITEMS item [item ...]
    Insert,
    c"BF.INSERT",
    Insert,
    -4,
    c"Adds items; makes the filter with these options if it does not exist",
    c"O(k * n), with k probes per item and n items",
    |call| {
        let (options, may_make, first) = given(call)?;
        // Wrong options are an error even if they are not used.
        super::create::form(&options)?;
        insert(call, first, || if may_make { Request::of(&options).map(Some) } else { Ok(None) }).map(answers)
    }
);

verb!(
    /// BF.EXISTS key item
    Exists,
    c"BF.EXISTS",
    Read,
    3,
    c"Checks whether a filter contains an item",
    c"O(k), with k probes per item",
    |call| {
        let item = call.args().get(2);
        let found = call.look(1, |value| value.map_or(Ok(Vec::new()), |value| value.contains(std::iter::once(item))))?;
        Ok(Reply::Bool(found.first().copied().unwrap_or(false)))
    }
);

verb!(
    /// BF.MEXISTS key item [item ...]
    MultiExists,
    c"BF.MEXISTS",
    Read,
    -3,
    c"Checks which of several items a filter contains",
    c"O(k * n), with k probes per item and n items",
    |call| {
        let items = call.args().from(2);
        let count = items.len();
        let found = call.look(1, |value| value.map_or_else(|| Ok(vec![false; count]), |value| value.contains(items)))?;
        Ok(Reply::Array(found.into_iter().map(Reply::Bool).collect()))
    }
);

/// The options of BF.INSERT, whether a filter may be created, and the index of the first item.
fn given(call: &Call<'_>) -> Result<(Options, bool, usize), Failure> {
    let args = call.args();
    let (mut options, mut may_make) = (Options::default(), true);
    let mut rest = args.from(2);
    while let Some(name) = rest.next() {
        match &name.to_ascii_uppercase()[..] {
            b"ITEMS" if rest.len() > 0 => return Ok((options, may_make, args.len() - rest.len())),
            b"NOCREATE" => may_make = false,
            b"CAPACITY" => options.items = Some(parse::items(rest.next().ok_or(Failure::Arity)?)?),
            b"ERROR" => options.rate = Some(parse::rate(rest.next().ok_or(Failure::Arity)?)?),
            _ if options.take(name, &mut rest)? => {}
            b"ITEMS" => return Err(Failure::Arity),
            _ => return Err(Failure::text(format!("ERR unknown option {}", String::from_utf8_lossy(name)))),
        }
    }
    Err(Failure::Arity)
}

/// Adds the items, which start at this argument.
fn insert(
    call: &mut Call<'_>,
    first: usize,
    request: impl FnOnce() -> Result<Option<Request>, Failure>,
) -> Result<Vec<Result<bool, Failure>>, Failure> {
    let items = call.args().from(first);
    let is_limited = !call.is_replicated();
    let (mut made, mut turned, mut changed) = (None, None, false);
    let added = call.change(1, |slot| {
        if slot.value()?.is_none() {
            let request = request()?.ok_or(NOT_FOUND)?;
            slot.set(request.make(is_limited)?)?;
            made = Some(request);
        }
        let value = slot.value()?.ok_or(NOT_FOUND)?;
        // Only the primary decides when a filter moves to the next phase.
        if let Value::Turning(filter) = value
            && is_limited
        {
            let now = ffi::now();
            if filter.is_due(now) && filter.advance(now) {
                turned = Some(now);
            }
        }
        let added = value.add(items, is_limited)?;
        // Filters that forget change with every offered item, because they count it.
        changed = matches!(value, Value::Turning(_)) || added.contains(&Ok(true));
        if changed || turned.is_some() {
            slot.touch();
        }
        Ok(added)
    });
    if let Some(request) = made {
        call.replicate_as(c"BF.RESERVE", &request.words());
        call.notify(c"bf.reserve", 1);
    }
    if let Some(now) = turned {
        call.replicate_as(c"BF.RECYCLE", &["AT".to_owned(), now.to_string()]);
        call.notify(c"bf.recycle", 1);
    }
    if changed {
        replicate_added(call, first, &added);
        call.notify(c"bf.add", 1);
    }
    added
}

/// Replicates the command unchanged to replicas and the AOF. If some items were refused, only the
/// added items are replicated, because replicas have no limits and would also add the refused
/// items.
fn replicate_added(call: &mut Call<'_>, first: usize, added: &Result<Vec<Result<bool, Failure>>, Failure>) {
    let Ok(answers) = added else { return };
    if answers.iter().all(Result::is_ok) {
        return call.replicate();
    }
    let items: Vec<&[u8]> = call.args().from(first).zip(answers).filter(|(_, answer)| **answer == Ok(true)).map(|(item, _)| item).collect();
    call.replicate_as(c"BF.MADD", &items);
}

fn answer(added: Result<bool, Failure>) -> Reply {
    added.map_or_else(Failure::into_reply, Reply::Bool)
}

fn answers(added: Vec<Result<bool, Failure>>) -> Reply {
    Reply::Array(added.into_iter().map(answer).collect())
}
