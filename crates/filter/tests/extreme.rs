//! Tests that no call of the crate panics or takes more than two seconds of CPU time, whatever the
//! arguments or the bytes of a file. Each call returns a result or an error.
//!
//! The test makes 500 calls with extreme arguments, drawn with a fixed seed. Allocated memory is
//! not touched before it is used, so most sizes are limited only by the memory that the system
//! grants. Sizes of filters that are filled or copied are limited to 2^27 bits.
//!
//! `EXTREME_SECONDS=2 EXTREME_SEED=7 EXTREME_SCALE=10 cargo test -p truebloom --test extreme` tests
//! the promised limit with more and different arguments; `EXTREME_ONLY=new` selects one kind of
//! call. The limit is promised for the processors on which the benchmarks were recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;
use truebloom::count_min::{CountMin, DyadicCountMin, HeavyHitters, TwoHashCountMin};
use truebloom::recycling::{Blocked, Policy, RecyclingFilter, sigma_at_rate};
use truebloom::scheme::{Partitioned, Scheme, SchemeId, Standard};
use truebloom::truebloom_math::Rate;
use truebloom::truebloom_math::law::simulation::SplitMix64;
use truebloom::{AnyFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter, Filter, FilterOf, PortableHasher, Seed};
use xxhash_rust::xxh3::xxh3_64;

/// The limit is four times the promised one, so that the test also passes on slower processors.
const MOST_SECONDS: u64 = 8;
/// A call that takes longer than this is reported as never returning.
const NEVER: Duration = Duration::from_secs(600);
/// Calls of each kind.
const TIMES: u64 = 50;

type Call = (&'static str, fn(&mut Draw));

const CALLS: [Call; 10] = [
    ("forged file", forged_file),
    ("forged file of two hashes", two_hashes),
    ("new", |draw| _ = (BloomFilter::new(draw.size(), draw.rate()), FilterOf::<Partitioned>::new(draw.size(), draw.rate()))),
    ("new blocked", |draw| _ = BlockedBloomFilter::new(draw.size(), draw.rate())),
    ("atomic", |draw| _ = BloomFilter::with_bits_and_probes(draw.size() % (1 << 27), draw.probes()).map(AtomicBloomFilter::from)),
    ("for items", |draw| _ = RecyclingFilter::for_items(draw.size(), draw.rate())),
    ("recycling", recycling),
    ("sigma", |draw| _ = Standard::new(draw.size(), draw.probes()).map(|scheme| sigma_at_rate(&scheme, &draw.rate()))),
    ("sketch", sketch),
    ("range sketch", range_sketch),
];

#[test]
fn no_call_takes_long() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (scale, seed) = (number("EXTREME_SCALE").unwrap_or(1), number("EXTREME_SEED").unwrap_or(0));
    let most = Duration::from_secs(number("EXTREME_SECONDS").unwrap_or(MOST_SECONDS));
    let mut failures = Vec::new();
    let mut longest = (Duration::ZERO, "");
    let only = std::env::var("EXTREME_ONLY").ok();
    for (index, (name, call)) in CALLS.iter().enumerate().filter(|(_, (name, _))| only.as_ref().is_none_or(|only| only == name)) {
        for time in 0..TIMES * scale {
            let took = on_a_clock(Draw(SplitMix64::of(&[seed, index as u64, time])), *call);
            match took {
                Ok(took) if took <= most => longest = longest.max((took, name)),
                _ => failures.push(format!("{name}, time {time}: {took:?}")),
            }
        }
    }
    println!("the longest took {:?}: {}", longest.0, longest.1);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The CPU time of a call, or an error if the call does not return.
fn on_a_clock(mut draw: Draw, call: fn(&mut Draw)) -> Result<Duration, &'static str> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let before = clock();
        let returned = catch_unwind(AssertUnwindSafe(|| call(&mut draw)));
        // If the call took too long, the receiver is gone.
        let _ = sender.send(returned.map(|()| clock().saturating_sub(before)).map_err(|_| "panicked"));
    });
    receiver.recv_timeout(NEVER).unwrap_or(Err("never returned"))
}

/// The CPU time of this thread, on systems that report it (Linux). On other systems the result is
/// 0, because wall time says little about the work; the test then only checks that calls return.
fn clock() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}

struct Draw(SplitMix64);

impl Draw {
    /// Draws 0, 1, a number next to a power of two, a small number, or any number.
    fn size(&mut self) -> u64 {
        match self.0.below(6) {
            0 => [0, 1, 2, u64::MAX, 1 << 62, (1 << 62) + 1][self.0.below(6) as usize],
            1 => (1 << self.0.below(63)) - 1,
            2 => 1 << self.0.below(63),
            3 => self.0.below(5_000),
            _ => self.0.word() >> self.0.below(64),
        }
    }

    fn probes(&mut self) -> u32 {
        match self.0.below(4) {
            0 => [0, 1, 64, 65, 100_000, 100_001, u32::MAX][self.0.below(7) as usize],
            1 => 1 + self.0.below(2_000) as u32,
            _ => 1 + self.0.below(64) as u32,
        }
    }

    fn rate(&mut self) -> Rate {
        let text = match self.0.below(5) {
            0 => ["1e-340", "1/3", "0.999999", "1e-4000"][self.0.below(4) as usize].to_owned(),
            1 => format!("0.{}", 1 + self.0.below(999_998)),
            _ => format!("{}e-{}", 1 + self.0.below(9), 1 + self.0.below(40)),
        };
        text.parse().expect("a rate")
    }

    fn confidence(&mut self) -> f64 {
        [0.0, 0.5, 0.999, 1.0 - 1e-15, 1e-300, 1.0, f64::NAN][self.0.below(7) as usize]
    }
}

fn forged_file(draw: &mut Draw) {
    let scheme = SchemeId::ALL[draw.0.below(SchemeId::ALL.len() as u64) as usize];
    forged(draw, scheme);
}

fn two_hashes(draw: &mut Draw) {
    let schemes: Vec<SchemeId> = SchemeId::ALL.into_iter().filter(|scheme| !scheme.has_guarantee()).collect();
    let scheme = schemes[draw.0.below(schemes.len() as u64) as usize];
    forged(draw, scheme);
}

/// Makes a file with an arbitrary header and correct checksums, and calls one of the filter's
/// methods.
fn forged(draw: &mut Draw, scheme: SchemeId) {
    let probes = draw.probes();
    let bits = (1 + draw.size() % (1 << 18)).next_multiple_of(scheme.bits_unit(probes.min(1 << 16)));
    let Ok(mut filter) = AnyFilter::from_bytes(&file(draw, scheme, bits, probes)) else { return };
    let items = draw.size();
    match draw.0.below(6) {
        0 => _ = (filter.fpr(), filter.estimated_items(), filter.is_over_capacity()),
        1 => _ = filter.expected_fpr(),
        2 => _ = filter.expected_fpr_at(items),
        3 => _ = filter.law().fpr(items),
        4 => _ = filter.verification().map(|found| (found.holds(), found.fill(), found.limit(), format!("{found:?}"))),
        _ => {
            let mut measured = filter.measurement(1);
            measured.query(10);
            let _ = (measured.interval(), measured.p_value(), measured.agrees(), measured.is_overfull(), measured.noticed());
        }
    }
    filter.insert("key");
    assert!(filter.contains("key"));
}

fn file(draw: &mut Draw, scheme: SchemeId, bits: u64, probes: u32) -> Vec<u8> {
    let blocks = scheme.block_bits();
    let mut file = vec![0; 256 + 8 * bits.div_ceil(64) as usize];
    // The fill: empty, some bits, half of the bits, all bits.
    let fill = draw.0.below(4);
    for bit in 0..bits as usize {
        let set = match fill {
            0 => false,
            1 => draw.0.below(50) == 0,
            2 => draw.0.below(2) == 0,
            _ => true,
        };
        file[256 + bit / 8] |= u8::from(set) << (bit % 8);
    }
    let (offered, changed, capacity) = (draw.size(), draw.size(), draw.size());
    let mut put = |at: usize, field: &[u8]| file[at..at + field.len()].copy_from_slice(field);
    put(0, b"\x89TBL\r\n\x1a\n\x01\x00");
    let kind = AnyFilter::with_scheme(scheme, 64 * scheme.bits_unit(1), 1, PortableHasher::xxh3(Seed::from(1))).expect("small").kind();
    put(10, &(kind as u16).to_le_bytes());
    put(12, &scheme.number().to_le_bytes());
    put(14, &[3, 0]);
    put(20, &probes.to_le_bytes());
    put(24, &bits.to_le_bytes());
    put(48, &offered.to_le_bytes());
    put(56, &changed.min(offered).to_le_bytes());
    if draw.0.below(2) == 0 {
        // A rate from 7e-1 down to 7e-30.
        put(64, &capacity.max(1).to_le_bytes());
        put(72, &7u64.to_le_bytes());
        put(80, &1u64.to_le_bytes());
        put(88, &(-1 - draw.0.below(30) as i32).to_le_bytes());
    }
    put(96, &256u64.to_le_bytes());
    put(104, &(8 * bits.div_ceil(64)).to_le_bytes());
    put(120, &blocks.unwrap_or(0).to_le_bytes());
    let payload = xxh3_64(&file[256..]);
    file[112..120].copy_from_slice(&payload.to_le_bytes());
    let header = xxh3_64(&file[..248]);
    file[248..256].copy_from_slice(&header.to_le_bytes());
    file
}

fn recycling(draw: &mut Draw) {
    let (bits, probes, hasher) = (draw.size() % (1 << 27), draw.probes(), PortableHasher::xxh3(Seed::from(1)));
    let sigma = draw.size() % (bits + 2);
    let policy = if draw.0.below(2) == 0 { Policy::one_phase(sigma) } else { Policy::two_phases(sigma) };
    if let Ok(mut filter) = RecyclingFilter::new(bits, probes, policy) {
        (0..20u64).for_each(|key| _ = filter.check_and_insert(&key));
        let _ = (filter.worst_fpr(), filter.wrong_drops(draw.confidence()), filter.average_fpr(), filter.design(), filter.stats());
    }
    let limit = [0.0, 1e-300, 0.01, 0.9, 1.0, f64::NAN][draw.0.below(6) as usize];
    let lines: Result<RecyclingFilter<_, Blocked>, _> = RecyclingFilter::with_hasher(bits, probes, Policy::one_phase(limit), hasher);
    if let Ok(mut filter) = lines {
        (0..20u64).for_each(|key| _ = filter.check_and_insert(&key));
        let _ = (filter.worst_fpr(), filter.wrong_drops(draw.confidence()), filter.average_fpr());
    }
}

fn sketch(draw: &mut Draw) {
    if let Ok(mut sketch) = CountMin::<u64>::new(draw.rate(), draw.rate()) {
        sketch.add("key", draw.size());
        sketch.add("key", draw.size());
        let _ = sketch.estimate("key");
        // The time is linear in the number of counters.
        if sketch.shape().cells() < 1 << 20 {
            let _ = (sketch.error_bound(&draw.rate()), sketch.inner_product(&sketch.clone(), &draw.rate()));
        }
    }
    if let Ok(mut sketch) = TwoHashCountMin::<u32>::new(draw.rate(), draw.rate()) {
        sketch.add("key", draw.size());
        let _ = sketch.estimate("key");
        if sketch.shape().cells() < 1 << 20 {
            let _ = sketch.error_bound(&draw.rate());
        }
    }
    if let Ok(mut heavy) = HeavyHitters::<u64>::for_share(draw.rate(), draw.rate()) {
        heavy.add("key", draw.size());
        let _ = (heavy.above(draw.size()), heavy.top(draw.size() as usize), heavy.missed_at_most());
    }
}

fn range_sketch(draw: &mut Draw) {
    let epsilon = draw.rate();
    // The time is linear in the number of counters.
    let is_small = epsilon.to_f64() > 1e-3;
    if let Ok(mut sketch) = DyadicCountMin::<u64>::new(draw.probes(), epsilon, draw.rate()) {
        let _ = sketch.add(draw.size(), draw.size());
        let _ = (sketch.range(draw.size()..=draw.size()), is_small.then(|| sketch.error_bound(&draw.rate())));
    }
}
