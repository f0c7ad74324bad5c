//! Runs calls on a separate thread and measures their time.

use crate::draw::Draw;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// A call of the public interface: its name, and a function that draws the arguments and makes the
/// call.
pub(crate) type Call = (&'static str, fn(&mut Draw));

/// Seconds of CPU time that a call may take. Wall time is not used, because it says little about
/// the work on a busy machine. The promise is two seconds on the processors of the records
/// (docs/TRUST.md has the command). The limit is four times as long, so that the test also passes
/// on slower processors.
const MOST: u64 = 8;

/// The time after which a call is considered endless.
const NEVER: Duration = Duration::from_secs(600);

/// Makes each call `times` times with different arguments, and reports the calls that panic or take
/// too long.
///
/// Environment variables change the run: `EXTREME_SCALE=10 EXTREME_SEED=7` makes more calls with
/// other arguments, `EXTREME_ONLY=name` makes only this call, and `EXTREME_SECONDS=2` sets the
/// promised limit.
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

/// Returns the CPU time of a call, and whether it returned without panicking; `None` if it does not
/// end.
fn on_a_clock(mut draw: Draw, call: fn(&mut Draw)) -> Option<(Duration, bool)> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let before = clock();
        let returned = catch_unwind(AssertUnwindSafe(|| call(&mut draw))).is_ok();
        // If the call took too long, the receiver is gone.
        let _ = sender.send((clock().saturating_sub(before), returned));
    });
    receiver.recv_timeout(NEVER).ok()
}

/// The CPU time of this thread, if the system reports it (Linux). On other systems the result is 0,
/// so no time limit applies, but calls must still return.
pub(crate) fn clock() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}
