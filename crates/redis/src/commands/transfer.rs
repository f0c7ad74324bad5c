//! Moving filters out of the server and into it: in chunks, as clients of RedisBloom do, and as
//! truebloom files.

use super::parse;
use super::verb;
use crate::answer::{EXISTS, Failure, NOT_FOUND, Reply};
use crate::ffi::Call;
use crate::large;
use crate::loading::{self, Loading};
use crate::memory;
use crate::settings;
use crate::state;
use crate::turning::Turning;
use crate::value::Value;
use truebloom::{AnyFilter, FileHeader, FileKind};

verb!(
    /// BF.SCANDUMP key iterator
    ScanDump,
    c"BF.SCANDUMP",
    Read,
    3,
    c"Returns a chunk of a filter and the next iterator; begin with 0, and stop when it is 0 again",
    c"O(n), with n bytes in the chunk; the first two chunks also take O(b), with b bits",
    scan_dump
);

verb!(
    /// BF.LOADCHUNK key iterator chunk
    LoadChunk,
    c"BF.LOADCHUNK",
    Replace,
    4,
    c"Loads the next chunk from BF.SCANDUMP; the first chunk replaces the key",
    c"O(n), with n bits",
    load_chunk
);

verb!(
    /// BF.DUMP key
    Dump,
    c"BF.DUMP",
    Read,
    2,
    c"Returns the filter as a truebloom file",
    c"O(n), with n bits",
    |call| call.look(1, |value| value.ok_or(NOT_FOUND)?.to_file().map(Reply::Bytes))
);

verb!(
    /// BF.LOAD key file [REPLACE]
    Load,
    c"BF.LOAD",
    Replace,
    -3,
    c"Makes a filter from a truebloom file",
    c"O(n), with n bits",
    load
);

fn scan_dump(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let number: u64 = parse::number(call.args().get(2)).ok_or_else(|| Failure::text("Second argument must be numeric"))?;
    let end = || Reply::Array(vec![Reply::Number(0), Reply::Bytes(Vec::new())]);
    call.look(1, |value| {
        let value = value.ok_or(NOT_FOUND)?;
        value.check_filter()?;
        let Some(chunk) = number.checked_sub(1) else {
            return Ok(Reply::Array(vec![Reply::Number(1), Reply::Bytes(loading::header(state::length(value)).to_vec())]));
        };
        let start = chunk.saturating_mul(state::CHUNK as u64);
        if start >= state::length(value) {
            return Ok(end());
        }
        let bytes = state::part(value, start, state::CHUNK)?;
        let next = i64::try_from(number + 1).unwrap_or(i64::MAX);
        Ok(Reply::Array(vec![Reply::Number(next), Reply::Bytes(bytes)]))
    })
}

fn load_chunk(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let number: u64 = parse::number(args.get(2)).ok_or_else(|| Failure::text("ERR Second argument must be numeric"))?;
    let chunk = args.get(3);
    let is_limited = !call.is_replicated();
    let refused = call.change(1, |slot| {
        // A value of another type is not replaced.
        let there = slot.value()?;
        if number == 1 {
            let loading = Loading::begin(chunk)?;
            if is_limited {
                let before = there.map_or(0, |value| value.bytes() as u64);
                memory::check(loading.total(), before)?;
            }
            return slot.set(Value::Loading(Box::new(loading))).map(|()| None);
        }
        let now = there.as_ref().map_or(0, |value| value.bytes() as u64);
        let Some(Value::Loading(loading)) = there else {
            return Err(Failure::text("ERR received bad data: the chunk with the iterator 1 must come first"));
        };
        let expected = loading.next(chunk.len());
        if number != expected {
            return Err(Failure::text(format!("ERR received bad data: the chunk with the iterator {expected} must come next")));
        }
        if is_limited {
            memory::check(now.saturating_add(chunk.len() as u64), now)?;
        }
        if !loading.take(chunk)? {
            slot.touch();
            return Ok(None);
        }
        let limit = is_limited.then(settings::most_bytes_of_a_key);
        let why = match loading.value(limit) {
            Ok(Value::Loading(_)) => "chunks of chunks".to_owned(),
            Ok(value) => return slot.replace(value).map(|()| None),
            Err(why) => why,
        };
        // The key is deleted, because its chunks can no longer become a value.
        slot.delete();
        Ok(Some(Failure::text(format!("ERR received bad data: {why}"))))
    })?;
    if let Some(refused) = refused {
        // A replica has no limits, and might accept a value that was refused here.
        call.replicate_as::<&[u8]>(c"DEL", &[]);
        return Err(refused);
    }
    call.replicate();
    call.notify(c"bf.loadchunk", 1);
    Ok(Reply::Ok)
}

/// The value in a file, if it is within the limits.
pub(crate) fn opened(bytes: &[u8], is_limited: bool) -> Result<Value, Failure> {
    let header = FileHeader::from_bytes(bytes).map_err(Failure::of)?;
    let needed = large::bytes_of_file(&header)?;
    if is_limited {
        memory::check(needed, 0)?;
    }
    Ok(match header.kind() {
        FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked => {
            if !bytes.starts_with(state::FILE_MAGIC) {
                return Err(Failure::text("ERR the file is compressed; decompress it first"));
            }
            Value::Turning(Box::new(Turning::from_bytes(bytes)?))
        }
        _ => {
            let filter = AnyFilter::from_bytes(bytes).map_err(Failure::of)?;
            let expansion = if matches!(filter, AnyFilter::Scalable(_)) { settings::USUAL_EXPANSION } else { 0 };
            Value::of(filter, expansion)
        }
    })
}

fn load(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let replaces = args.get(3).eq_ignore_ascii_case(b"REPLACE");
    if args.len() > 4 || (args.len() == 4 && !replaces) {
        return Err(Failure::Arity);
    }
    let is_limited = !call.is_replicated();
    call.change(1, |slot| {
        if slot.value()?.is_some() && !replaces {
            return Err(EXISTS);
        }
        slot.set(opened(args.get(2), is_limited)?)
    })?;
    call.replicate();
    call.notify(c"bf.load", 1);
    Ok(Reply::Ok)
}
