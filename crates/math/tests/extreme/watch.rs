//! Runs calls on a thread with a clock.

use crate::draw::Draw;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// A call of the public interface: its name, and what draws its arguments and makes it.
pub(crate) type Call = (&'static str, fn(&mut Draw));

/// Seconds of CPU time that a call may take. Not wall time: on a busy machine that says nothing
/// about the work. Two are promised on the processors of the records (docs/TRUST.md has the
/// command); slower ones have four times as much, so that this is a test of the calls and not of
/// the machine.
const MOST: u64 = 8;

/// A call that has not returned by then never will.
const NEVER: Duration = Duration::from_secs(600);

/// Makes each call this many times, each time with other arguments, and says which of them panic or
/// work for too long.
///
/// `EXTREME_SCALE=10 EXTREME_SEED=7` make more calls, with other arguments; `EXTREME_ONLY=name`
/// makes one; `EXTREME_SECONDS=2` is what is promised.
pub(crate) fn watch(area: u64, calls: &[Call], times: u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (times, seed) = (times * number("EXTREME_SCALE").unwrap_or(1), number("EXTREME_SEED").unwrap_or(0));
    let only = std::env::var("EXTREME_ONLY").ok();
    let most = Duration::from_secs(number("EXTREME_SECONDS").unwrap_or(MOST));
    let mut failures = Vec::new();
    let (mut all, mut worst) = (Duration::ZERO, (Duration::ZERO, ""));
    for (index, (name, call)) in calls.iter().enumerate().filter(|(_, (name, _))| only.as_ref().is_none_or(|only| only == name)) {
        for time in 0..times {
            let drawn = Arc::new(Mutex::new(String::new()));
            let outcome = on_a_clock(Draw::new(&[seed, area, index as u64, time], drawn.clone()), *call);
            let (took, problem) = match outcome {
                None => (NEVER, format!("no answer in {NEVER:?}")),
                Some((took, false)) => (took, "panicked".to_owned()),
                Some((took, true)) if took > most => (took, format!("{:.1} s", took.as_secs_f64())),
                Some((took, true)) => (took, String::new()),
            };
            all += took;
            worst = worst.max((took, name));
            if !problem.is_empty() {
                failures.push(format!("{name}({}): {problem}", drawn.lock().expect("it ended").trim_end_matches(", ")));
                eprintln!("{}", failures[failures.len() - 1]);
            }
        }
    }
    println!(
        "{} calls in {:.1} s; the longest {:.3} s, of {}",
        calls.len() as u64 * times,
        all.as_secs_f64(),
        worst.0.as_secs_f64(),
        worst.1
    );
    assert!(failures.is_empty(), "{} calls failed:\n{}", failures.len(), failures.join("\n"));
}

/// The CPU time of a call, and whether it returned; nothing if it runs for ever.
fn on_a_clock(mut draw: Draw, call: fn(&mut Draw)) -> Option<(Duration, bool)> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let before = clock();
        let returned = catch_unwind(AssertUnwindSafe(|| call(&mut draw))).is_ok();
        // The receiver is gone if it took too long.
        let _ = sender.send((clock().saturating_sub(before), returned));
    });
    receiver.recv_timeout(NEVER).ok()
}

/// CPU time of this thread, where the system tells it (Linux). Elsewhere nothing is held to a time,
/// as wall time says nothing about the work; that a call returns is.
pub(crate) fn clock() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}
