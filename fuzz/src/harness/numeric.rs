//! Calls the functions of `truebloom-math` with arguments from the input, and measures the time.

use crate::draw::Draw;
use crate::watch::{Call, clock};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The limit of CPU time. The limit of two seconds in the test (`crates/math/tests/extreme`) is for
/// code without instrumentation, which is several times faster.
const MOST: Duration = Duration::from_secs(12);

/// The first two bytes choose the call, and the others are its arguments.
pub fn numeric(data: &[u8]) {
    let Some((number, data)) = data.split_first_chunk::<2>() else { return };
    let calls: Vec<&Call> =
        [crate::laws::CALLS, crate::numbers::CALLS, crate::plans::CALLS, crate::recycling::CALLS].into_iter().flatten().collect();
    let (name, call) = calls[usize::from(u16::from_le_bytes(*number)) % calls.len()];
    let drawn = Arc::new(Mutex::new(String::new()));
    let before = clock();
    call(&mut Draw::from_bytes(data, Arc::clone(&drawn)));
    let took = clock().saturating_sub(before);
    assert!(took < MOST, "{name}({}) took {took:?}", drawn.lock().expect("it ended"));
}
