//! Counts a Zipf stream with our sketches, two other libraries and an exact hash map, and prints a
//! table of time, memory and observed error.
//!
//!     cargo bench -p truebloom-bench --bench count_min                  1e6 items, half a minute
//!     cargo bench -p truebloom-bench --bench count_min -- 100000000     the campaign: 1e8 items, 1e7 different keys
//!
//! The key of rank r has the probability `ln((r + 1) / r) / ln(keys + 1)`, which is proportional to
//! about 1/r. Keys are made in blocks, and this time is not measured. All sketches have the same
//! width and depth, except those of two hashes, which have the size that their proof requires.

use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::time::{Duration, Instant};
use truebloom::count_min::{CountMin, Counter, HeavyHitters, PairwiseCountMin, RowHashes, Sketch, TwoHashCountMin};
use truebloom::{PortableHasher, Rate, Seed};

/// The number of keys that are made and counted at a time: enough to be timed, and few enough to
/// leave the cache to the sketch.
const BLOCK: u64 = 1 << 16;

/// A common interface of all counters.
trait Contender {
    fn name(&self) -> String;
    fn add(&mut self, keys: &[u64]);
    fn estimate(&self, key: u64) -> u64;
    fn bytes(&self) -> usize;
}

struct Ours<R: RowHashes, C: Counter> {
    name: &'static str,
    sketch: Sketch<R, C>,
    bulk: bool,
}

impl<R: RowHashes, C: Counter> Contender for Ours<R, C> {
    fn name(&self) -> String {
        let shape = self.sketch.shape();
        format!("truebloom {}, {} rows of {}", self.name, shape.all_rows(), shape.width())
    }

    fn add(&mut self, keys: &[u64]) {
        if self.bulk {
            self.sketch.add_all(keys);
        } else {
            keys.iter().for_each(|key| self.sketch.add(key, 1));
        }
    }

    fn estimate(&self, key: u64) -> u64 {
        self.sketch.estimate(&key).value
    }

    fn bytes(&self) -> usize {
        self.sketch.shape().cells() as usize * C::BYTES as usize
    }
}

struct Heavy(HeavyHitters<u32>);

impl Contender for Heavy {
    fn name(&self) -> String {
        format!("truebloom heavy hitters, {} keys", self.0.capacity())
    }

    fn add(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| self.0.add(key, 1));
    }

    fn estimate(&self, key: u64) -> u64 {
        self.0.sketch().estimate(&key).value
    }

    fn bytes(&self) -> usize {
        // A listed key of eight bytes takes some hundred bytes, with its entry and its allocation.
        self.0.sketch().shape().cells() as usize * 4 + 2 * self.0.capacity() as usize * 100
    }
}

struct Datasketches(datasketches::countmin::CountMinSketch<u64>);

impl Contender for Datasketches {
    fn name(&self) -> String {
        "datasketches 0.6".to_owned()
    }

    fn add(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| self.0.update(key));
    }

    fn estimate(&self, key: u64) -> u64 {
        self.0.estimate(key)
    }

    fn bytes(&self) -> usize {
        self.0.num_buckets() as usize * usize::from(self.0.num_hashes()) * 8
    }
}

struct Pdatastructs(pdatastructs::countminsketch::CountMinSketch<u64, u32, BuildHasherDefault<DefaultHasher>>);

impl Contender for Pdatastructs {
    fn name(&self) -> String {
        "pdatastructs 0.7".to_owned()
    }

    fn add(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| {
            self.0.add(key);
        });
    }

    fn estimate(&self, key: u64) -> u64 {
        self.0.query_point(&key).into()
    }

    fn bytes(&self) -> usize {
        self.0.w() * self.0.d() * 4
    }
}

struct Exact(hashbrown::HashMap<u64, u64>);

impl Contender for Exact {
    fn name(&self) -> String {
        "hashbrown, exact".to_owned()
    }

    fn add(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| *self.0.entry(*key).or_default() += 1);
    }

    fn estimate(&self, key: u64) -> u64 {
        self.0.get(&key).copied().unwrap_or(0)
    }

    fn bytes(&self) -> usize {
        self.0.allocation_size()
    }
}

/// The keys of a fixed seed.
struct Zipf {
    state: u64,
    ln_keys: f64,
}

impl Zipf {
    fn fill(&mut self, keys: &mut [u64]) {
        for key in keys {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let unit = (mix(self.state) >> 11) as f64 / (1u64 << 53) as f64;
            // Ranks are scrambled, so that neighbouring ranks are not neighbours in a table.
            *key = mix((unit * self.ln_keys).exp() as u64);
        }
    }
}

fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

fn run(contender: &mut dyn Contender, items: u64) -> Duration {
    let mut zipf = Zipf { state: 1, ln_keys: (items as f64 / 10.0 + 1.0).ln() };
    let (mut spent, mut left) = (Duration::ZERO, items);
    let mut keys = vec![0; BLOCK as usize];
    while left > 0 {
        let keys = &mut keys[..left.min(BLOCK) as usize];
        zipf.fill(keys);
        let start = Instant::now();
        contender.add(keys);
        spent += start.elapsed();
        left -= keys.len() as u64;
    }
    spent
}

fn table(items: u64, epsilon: &str, delta: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (epsilon, delta): (Rate, Rate) = (epsilon.parse()?, delta.parse()?);
    let hasher = PortableHasher::xxh3(Seed::from(7));
    let full = CountMin::<u32>::with_hasher(epsilon, delta, hasher)?;
    let (width, depth) = (full.shape().width() as usize, full.shape().depth());
    let mut exact = Exact(hashbrown::HashMap::new());
    let exact_time = run(&mut exact, items);
    println!(
        "\n{items} items, {} different keys; epsilon {epsilon}, delta {delta}: {width} counters per row, {depth} rows\n",
        exact.0.len()
    );
    println!("| sketch | ns per item | MB | mean error / N | largest error / N | above epsilon N |\n|---|---|---|---|---|---|");
    let mut contenders: Vec<Box<dyn Contender>> = vec![
        Box::new(Ours { name: "one by one, u32", sketch: full.clone(), bulk: false }),
        Box::new(Ours { name: "in bulk, u32", sketch: full.clone(), bulk: true }),
        Box::new(Ours { name: "in bulk, u64", sketch: CountMin::<u64>::with_hasher(epsilon, delta, hasher)?, bulk: true }),
        Box::new(Ours { name: "conservative, u32", sketch: full.clone().with_conservative_update(), bulk: true }),
        Box::new(Ours { name: "pairwise, u32", sketch: PairwiseCountMin::<u32>::with_hasher(epsilon, delta, hasher)?, bulk: true }),
        Box::new(Ours { name: "two hashes, u32", sketch: TwoHashCountMin::<u32>::with_hasher(epsilon, delta, hasher)?, bulk: true }),
        Box::new(Heavy(HeavyHitters::new(full, 1_000)?)),
        Box::new(Datasketches(datasketches::countmin::CountMinSketch::new(depth as u8, width as u32)?)),
        Box::new(Pdatastructs(pdatastructs::countminsketch::CountMinSketch::with_params_and_hasher(
            width,
            depth as usize,
            BuildHasherDefault::default(),
        ))),
    ];
    // Every key, or a million keys.
    let step = exact.0.len() / 1_000_000 + 1;
    let checked: Vec<(u64, u64)> = exact.0.iter().step_by(step).map(|(key, count)| (*key, *count)).collect();
    for contender in &mut contenders {
        let time = run(contender.as_mut(), items);
        let errors: Vec<u64> = checked.iter().map(|(key, count)| contender.estimate(*key) - count).collect();
        let total = items as f64;
        let mean = errors.iter().map(|error| *error as f64).sum::<f64>() / errors.len() as f64 / total;
        let largest = errors.iter().max().copied().unwrap_or(0) as f64 / total;
        let above = errors.iter().filter(|error| **error as f64 > epsilon.to_f64() * total).count();
        row(contender.as_ref(), time, items, &format!("{mean:.1e} | {largest:.1e} | {above} of {}", errors.len()));
    }
    row(&exact, exact_time, items, "0 | 0 | 0");
    Ok(())
}

fn row(contender: &dyn Contender, time: Duration, items: u64, errors: &str) {
    let (nanoseconds, megabytes) = (time.as_nanos() as f64 / items as f64, contender.bytes() as f64 / 1e6);
    println!("| {} | {nanoseconds:.1} | {megabytes:.2} | {errors} |", contender.name());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let items = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    // Counters that fit into the second-level cache, and counters that fit into no cache.
    table(items, "1e-3", "1e-3")?;
    table(items, "1e-6", "1e-3")
}
