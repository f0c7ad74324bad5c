//! The processor time of this thread, which does not include other work on the machine.

/// Returns the time of `run` in nanoseconds, and its result.
pub(crate) fn timed<R>(run: impl FnOnce() -> R) -> (f64, R) {
    let start = now();
    let result = run();
    (now() - start, result)
}

#[cfg(target_os = "linux")]
fn now() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// On systems other than Linux, elapsed time is used instead.
#[cfg(not(target_os = "linux"))]
fn now() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as f64
}

pub(crate) fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

pub(crate) fn best(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}
