//! The filters that are compared, ours and others, behind one interface. Each method is called once
//! per chunk of keys.

use crate::keys::Chunk;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use truebloom::{AtomicBlockedBloomFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter, KeyHasher, PortableHasher, Seed};

/// A filter under measurement.
pub(crate) trait Subject {
    fn bits(&self) -> u64;
    fn insert(&mut self, keys: &Chunk);
    /// Work that is necessary between the last insertion and the first query.
    fn finish(&mut self) {}
    fn hits(&self, keys: &Chunk) -> u64;
    /// Returns the filter's current rate, if it is proven. This is so only for our filters.
    fn own_rate(&self) -> Option<f64> {
        None
    }
    /// A proven upper bound on the expected rate.
    fn proven(&self) -> Option<f64> {
        None
    }
}

/// The name of a filter, and a function that makes the filter for a number of items and a rate.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) make: fn(u64, f64) -> Box<dyn Subject>,
}

pub(crate) const BASELINE: &str = "fastbloom + foldhash";

pub(crate) const ALL: [Entry; 15] = [
    Entry { name: "truebloom standard, single", make: |n, p| Box::new(Single(standard(n, p))) },
    Entry { name: "truebloom standard, bulk", make: |n, p| Box::new(Bulk(standard(n, p))) },
    Entry { name: "truebloom blocked, single", make: |n, p| Box::new(SingleBlocked(blocked(n, p))) },
    Entry { name: "truebloom blocked, bulk", make: |n, p| Box::new(BulkBlocked(blocked(n, p))) },
    Entry { name: "truebloom atomic standard, single", make: |n, p| Box::new(SingleAtomic(standard(n, p).into())) },
    Entry { name: "truebloom atomic standard, bulk", make: |n, p| Box::new(BulkAtomic(standard(n, p).into())) },
    Entry { name: "truebloom atomic blocked, single", make: |n, p| Box::new(SingleAtomicBlocked(blocked(n, p).into())) },
    Entry { name: "truebloom atomic blocked, bulk", make: |n, p| Box::new(BulkAtomicBlocked(blocked(n, p).into())) },
    Entry {
        name: "fastbloom (SipHash)",
        make: |n, p| Box::new(Fast(fastbloom::BloomFilter::with_false_pos(p).seed(&1).expected_items(n as usize))),
    },
    Entry {
        name: BASELINE,
        make: |n, p| Box::new(Fast(fastbloom::BloomFilter::with_false_pos(p).hasher(FixedState::with_seed(1)).expected_items(n as usize))),
    },
    Entry {
        name: "fastbloom atomic + foldhash",
        make: |n, p| {
            Box::new(FastAtomic(
                fastbloom::AtomicBloomFilter::with_false_pos(p).hasher(FixedState::with_seed(1)).expected_items(n as usize),
            ))
        },
    },
    Entry { name: "bloomfilter", make: |n, p| Box::new(Jedisct(bloomfilter_numbers(n, p), bloomfilter_texts(n, p))) },
    Entry { name: "sbbf-rs-safe 8x32 + foldhash", make: |n, p| Box::new(Split(split(n, p), Fold(FixedState::with_seed(1)))) },
    Entry { name: "sbbf-rs-safe 8x32 + our hash", make: |n, p| Box::new(Split(split(n, p), hasher())) },
    Entry { name: "xorf BinaryFuse8 (static)", make: |_, _| Box::new(Fuse::default()) },
];

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(1))
}

fn standard(items: u64, rate: f64) -> BloomFilter {
    BloomFilter::with_hasher(items, rate, hasher()).expect("a plan")
}

fn blocked(items: u64, rate: f64) -> BlockedBloomFilter {
    BlockedBloomFilter::with_hasher(items, rate, hasher()).expect("a plan")
}

/// Runs the body for each key, which is a number or bytes.
macro_rules! for_each {
    ($chunk:expr, $key:ident => $body:expr) => {
        match $chunk {
            Chunk::Numbers(keys) => {
                for $key in keys {
                    $body
                }
            }
            Chunk::Texts(keys) => {
                for text in keys {
                    let $key = text.bytes();
                    $body
                }
            }
        }
    };
}

macro_rules! count {
    ($chunk:expr, $key:ident => $test:expr) => {{
        let mut hits = 0;
        for_each!($chunk, $key => hits += u64::from($test));
        hits
    }};
}

macro_rules! ours {
    ($single:ident, $bulk:ident, $filter:ty, $own_rate:expr, $proven:expr) => {
        struct $single($filter);
        struct $bulk($filter);

        impl Subject for $single {
            fn bits(&self) -> u64 {
                self.0.bits()
            }
            fn insert(&mut self, keys: &Chunk) {
                for_each!(keys, key => { self.0.insert(key); });
            }
            fn hits(&self, keys: &Chunk) -> u64 {
                count!(keys, key => self.0.contains(key))
            }
            fn own_rate(&self) -> Option<f64> {
                $own_rate(&self.0)
            }
            fn proven(&self) -> Option<f64> {
                $proven(&self.0)
            }
        }

        impl Subject for $bulk {
            fn bits(&self) -> u64 {
                self.0.bits()
            }
            fn insert(&mut self, keys: &Chunk) {
                match keys {
                    Chunk::Numbers(keys) => drop(self.0.insert_all(keys)),
                    Chunk::Texts(keys) => drop(self.0.insert_all(keys)),
                }
            }
            fn hits(&self, keys: &Chunk) -> u64 {
                match keys {
                    Chunk::Numbers(keys) => self.0.contains_all(keys).count_ones() as u64,
                    Chunk::Texts(keys) => self.0.contains_all(keys).count_ones() as u64,
                }
            }
            fn own_rate(&self) -> Option<f64> {
                $own_rate(&self.0)
            }
            fn proven(&self) -> Option<f64> {
                $proven(&self.0)
            }
        }
    };
}

/// The upper bound on the rate for which a filter was planned.
macro_rules! proven {
    ($filter:ty) => {
        |filter: &$filter| filter.expected_fpr().ok().flatten().map(|fpr| fpr.upper)
    };
}

ours!(Single, Bulk, BloomFilter, |filter: &BloomFilter| Some(filter.fpr().value), proven!(BloomFilter));
ours!(SingleBlocked, BulkBlocked, BlockedBloomFilter, |filter: &BlockedBloomFilter| Some(filter.fpr().value), proven!(BlockedBloomFilter));
ours!(SingleAtomic, BulkAtomic, AtomicBloomFilter, |filter: &AtomicBloomFilter| Some(filter.fpr().value), |_| None);
ours!(
    SingleAtomicBlocked,
    BulkAtomicBlocked,
    AtomicBlockedBloomFilter,
    |filter: &AtomicBlockedBloomFilter| Some(filter.fpr().value),
    |_| None
);

/// A filter of fastbloom; the ordinary and the atomic kind have the same methods.
macro_rules! fast {
    ($name:ident, $filter:ident) => {
        struct $name<S: BuildHasher>(fastbloom::$filter<S>);

        impl<S: BuildHasher> Subject for $name<S> {
            fn bits(&self) -> u64 {
                self.0.num_bits() as u64
            }
            fn insert(&mut self, keys: &Chunk) {
                for_each!(keys, key => { self.0.insert(key); });
            }
            fn hits(&self, keys: &Chunk) -> u64 {
                count!(keys, key => self.0.contains(key))
            }
        }
    };
}

fast!(Fast, BloomFilter);
fast!(FastAtomic, AtomicBloomFilter);

/// A filter of `bloomfilter`. Its type includes the type of the keys, so there is one filter for
/// each type of keys. Only one of the two filters is used.
struct Jedisct(bloomfilter::Bloom<u64>, bloomfilter::Bloom<[u8]>);

fn bloomfilter_numbers(items: u64, rate: f64) -> bloomfilter::Bloom<u64> {
    bloomfilter::Bloom::new_for_fp_rate_with_seed(items as usize, rate, &std::array::from_fn(|i| i as u8)).expect("in range")
}

fn bloomfilter_texts(items: u64, rate: f64) -> bloomfilter::Bloom<[u8]> {
    bloomfilter::Bloom::new_for_fp_rate_with_seed(items as usize, rate, &std::array::from_fn(|i| i as u8)).expect("in range")
}

impl Subject for Jedisct {
    fn bits(&self) -> u64 {
        self.0.len()
    }
    fn insert(&mut self, keys: &Chunk) {
        match keys {
            Chunk::Numbers(keys) => keys.iter().for_each(|key| self.0.set(key)),
            Chunk::Texts(keys) => keys.iter().for_each(|key| self.1.set(key.bytes())),
        }
    }
    fn hits(&self, keys: &Chunk) -> u64 {
        match keys {
            Chunk::Numbers(keys) => keys.iter().filter(|key| self.0.check(key)).count() as u64,
            Chunk::Texts(keys) => keys.iter().filter(|key| self.1.check(key.bytes())).count() as u64,
        }
    }
}

/// A hash function of 64 bits.
trait Hash64 {
    fn number(&self, key: u64) -> u64;
    fn bytes(&self, key: &[u8]) -> u64;
}

struct Fold(FixedState);

impl Hash64 for Fold {
    fn number(&self, key: u64) -> u64 {
        self.0.hash_one(key)
    }
    fn bytes(&self, key: &[u8]) -> u64 {
        self.0.hash_one(key)
    }
}

/// The half of our hash that a filter with 64-bit hashes uses. Filters with the same hash differ
/// only in their layouts.
impl Hash64 for PortableHasher {
    fn number(&self, key: u64) -> u64 {
        u128::from(self.hash_number(key)) as u64
    }
    fn bytes(&self, key: &[u8]) -> u64 {
        u128::from(self.hash(key)) as u64
    }
}

struct Split<H>(sbbf_rs_safe::Filter, H);

/// A filter of `sbbf-rs-safe`. Its arguments are the number of bits per key, which must be an
/// integer, and the number of keys; it accepts no rate. So this program computes the number of bits
/// by the exact formula for the filter's layout, and passes arguments with this product.
fn split(items: u64, rate: f64) -> sbbf_rs_safe::Filter {
    use truebloom_math::{Law, law};
    let fits = |blocks: u64| {
        let law = law::Blocked::new(256 * blocks, 256, law::InBlock::Split { word_bits: 32 }, 8);
        law.and_then(|law| law.fpr(items)).is_ok_and(|fpr| fpr.upper <= rate)
    };
    let (mut low, mut high) = (1, 1);
    while !fits(high) {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { high = middle } else { low = middle }
    }
    sbbf_rs_safe::Filter::new(8, (256 * high / 8) as usize)
}

impl<H: Hash64> Subject for Split<H> {
    fn bits(&self) -> u64 {
        8 * self.0.as_bytes().len() as u64
    }
    fn insert(&mut self, keys: &Chunk) {
        match keys {
            Chunk::Numbers(keys) => keys.iter().for_each(|key| _ = self.0.insert_hash(self.1.number(*key))),
            Chunk::Texts(keys) => keys.iter().for_each(|key| _ = self.0.insert_hash(self.1.bytes(key.bytes()))),
        }
    }
    fn hits(&self, keys: &Chunk) -> u64 {
        let hits = match keys {
            Chunk::Numbers(keys) => keys.iter().filter(|key| self.0.contains_hash(self.1.number(**key))).count(),
            Chunk::Texts(keys) => keys.iter().filter(|key| self.0.contains_hash(self.1.bytes(key.bytes()))).count(),
        };
        hits as u64
    }
}

/// A filter of `xorf`, which is built from all keys at once. Its rate is always 1/256.
#[derive(Default)]
struct Fuse {
    hashes: Vec<u64>,
    hasher: FixedState,
    built: Option<xorf::BinaryFuse8>,
}

impl Subject for Fuse {
    fn bits(&self) -> u64 {
        self.built.as_ref().map_or(0, |built| 8 * built.fingerprints.len() as u64)
    }
    fn insert(&mut self, keys: &Chunk) {
        for_each!(keys, key => self.hashes.push(self.hasher.hash_one(key)));
    }
    fn finish(&mut self) {
        self.built = xorf::BinaryFuse8::try_from(std::mem::take(&mut self.hashes)).ok();
    }
    fn hits(&self, keys: &Chunk) -> u64 {
        use xorf::Filter;
        let Some(built) = &self.built else { return 0 };
        count!(keys, key => built.contains(&self.hasher.hash_one(key)))
    }
}
