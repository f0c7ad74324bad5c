//! Bloom filters whose false-positive rate is proven, and can be checked.
//!
//! ```
//! use truebloom::BloomFilter;
//!
//! // At most one wrong "yes" in a thousand, for a million keys: 1.8 MB.
//! let mut seen = BloomFilter::new(1_000_000, 0.001)?;
//!
//! assert!(seen.insert("https://example.org/a"));   // true: certainly new
//! assert!(!seen.insert("https://example.org/a"));  // false: seen before, or a false positive
//! assert!(seen.contains("https://example.org/a")); // never a wrong "no"
//!
//! // The proven rate of the full filter, and the rate right now.
//! let expected = seen.expected_fpr()?.expect("planned for a number of items");
//! assert!(expected.upper <= 0.001);
//! println!("{} bits, {} probes; the rate right now is {:e}", seen.bits(), seen.probes(), seen.fpr().value);
//!
//! // The bytes are the same on every platform and in every process.
//! let copy = BloomFilter::from_bytes(&seen.to_bytes()?)?;
//! assert!(copy.contains("https://example.org/a"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//! You request a rate for a planned number of items. When the filter holds that many items, its own
//! rate is at most the requested rate. This is true with a probability of at least 99.9% over the
//! filter's random seed. The mean rate over all seeds is at most the requested rate, too. Both
//! bounds are proven for a random hash function. The crate [`truebloom_math`] computes the required
//! size exactly. The textbook formula gives a size that is too small for this guarantee.
//!
//! * [`insert`](BloomFilter::insert) returns true if the key was certainly new. It returns false if
//!   the key is a repeat or a false positive.
//! * [`contains`](BloomFilter::contains) returns true for every key that was inserted. For any
//!   other key, `contains` returns true with probability [`fpr`](BloomFilter::fpr).
//! * The *expected* rate is the mean over all seeds. The rate of a single filter differs from the
//!   expected rate. For a requested rate of 1%, the typical difference is 12% of the expected rate
//!   with 100 items, and 0.4% with 100,000 items. The guarantee for a single filter accounts for
//!   this difference, so it needs more bits than a guarantee of the mean. For a rate of 1%, it
//!   needs 2.6% more bits with 1,000 items, and 0.26% more bits with 100,000 items.
//! * A plan for the mean alone ([`Target::mean`]) needs fewer bits. But about half of the filters
//!   with such a plan have a rate slightly above the requested rate. Some schemes derive all
//!   positions from two hashes. For these schemes, only the mean can be guaranteed.
//!
//! # What is assumed
//! *Proven* means proven under two assumptions. First, the hash function is a random function.
//! Second, the keys were chosen independently of the seed. A key that was not inserted can have the
//! same 128-bit hash as an inserted key. With n inserted keys, the probability of this is at most
//! n/2^128. Every proven bound includes this probability. With a random hash function, the bits of
//! a key are chosen exactly uniformly, whatever the number of bits. XXH3 and SipHash are assumed to
//! behave like random functions. This is tested, not proven. If an attacker may choose the keys,
//! use [`PortableHasher::sip13`] and keep the seed secret.
//!
//! # When not to use it
//! * Do not use a filter alone if a wrong "yes" does lasting harm. Look up the key in the real set
//!   after every "yes", or use only the real set.
//! * Do not use a filter if keys must be removed, listed or counted exactly. A bit does not show
//!   which key set it.
//! * Do not use a filter if the keys fit into memory anyway. A `HashSet` is simpler than a filter,
//!   and never wrong.
//!
//! # Where things are
//! | | |
//! |---|---|
//! | the filter | [`BloomFilter`]: [`new`](BloomFilter::new), [`insert`](BloomFilter::insert), [`contains`](BloomFilter::contains), [`union_with`](BloomFilter::union_with), [`fpr`](BloomFilter::fpr), [`save`](BloomFilter::save), [`open`](BloomFilter::open) |
//! | one cache line per key | [`BlockedBloomFilter`] |
//! | filters of any scheme, files of any scheme, code for all types of filters | [`FilterOf`], [`AnyFilter`], [`Filter`] |
//! | filters in existing bytes (a slice, a block of a larger file, a `static`, a mapped file) | [`BloomFilter::view`], [`View`], [`Checked`]; with the feature `mmap` also [`BloomFilter`]`::map` |
//! | many small filters with the same plan, in memory and in files | [`BloomFilter::into_shared`], [`Pack`] |
//! | filters that threads share | [`AtomicBloomFilter`], [`AtomicBlockedBloomFilter`], [`AtomicScalableFilter`], [`recycling::AtomicRecyclingFilter`] |
//! | many keys at a time | [`insert_all`](BloomFilter::insert_all), [`contains_all`](BloomFilter::contains_all), [`Answers`] |
//! | many keys by many threads | `par_insert_all` and `par_contains_all`, with the feature `rayon` |
//! | a filter that grows, for an unknown number of keys | [`ScalableFilter`] |
//! | a filter that forgets, for endless streams | [`recycling`] |
//! | sending files: compressed, or as the difference between two states | [`wire`] |
//! | comparing the contents of filters | [`Comparison`] |
//! | counts, frequent keys | `count_min`, with the feature `sketches` |
//! | types of keys | [`Key`] |
//! | hashers and seeds | [`PortableHasher`], [`ForeignHasher`], [`Seed`]; [`KeyHash`] for keys that are hashed once and used often |
//! | how a hash becomes positions | [`scheme`] |
//! | sizes, rates and their probability distributions | [`Plan`], [`Target`], [`Rate`], [`Fpr`], and the rest of [`truebloom_math`] |
//! | the contents of a file; replacing files atomically | [`FileKind`], [`FileHeader`]; [`file`](mod@file) |
//! | errors | [`BuildError`], [`MergeError`], [`FormatError`], [`ReadError`], [`FileError`] |
//!
//! In the repository, docs/FORMAT.md describes the file format, and docs/DESIGN.md explains the
//! design.

#![warn(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::return_self_not_must_use)]
#![cfg_attr(not(any(test, feature = "std")), no_std)]
// If some features are disabled, some helpers are unused. So only a build with all features warns
// about unused code.
#![cfg_attr(not(all(feature = "any", feature = "recycling", feature = "sketches")), allow(dead_code, unused_imports, unreachable_pub))]

extern crate alloc;

#[cfg(feature = "any")]
mod any_filter;
mod arch;
mod backing;
mod bits;
mod bloom;
mod bulk;
#[cfg(feature = "any")]
mod compare;
#[cfg(feature = "sketches")]
pub mod count_min;
#[cfg(feature = "fs")]
mod disk;
mod error;
#[cfg(feature = "fs")]
pub mod file;
mod filter;
mod format;
mod hash;
mod ids;
#[cfg(feature = "mmap")]
mod in_place;
mod items;
mod key;
mod pack;
#[cfg(feature = "serde")]
mod readable;
#[cfg(feature = "recycling")]
pub mod recycling;
#[cfg(feature = "growth")]
mod scalable;
pub mod scheme;
#[cfg(target_has_atomic = "64")]
mod sync;
#[cfg(target_has_atomic = "64")]
mod tally;
mod tied;
pub mod verify;
#[cfg(all(feature = "any", feature = "std"))]
mod whole;
mod word;

#[cfg(feature = "any")]
pub use any_filter::AnyFilter;
pub use backing::{Backing, Checked, Counted, Owned, Shared, Uncounted, View, Writable};
#[cfg(target_has_atomic = "64")]
pub use bloom::{AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicFilterOf};
pub use bloom::{BlockedBloomFilter, BlockedBloomView, BloomFilter, BloomView, FilterBuilder, FilterFamily, FilterOf, Unseeded};
pub use bulk::{Answers, AnswersIter};
#[cfg(feature = "any")]
pub use compare::{CompareError, Comparison, Quantity, Share};
#[cfg(feature = "fs")]
pub use error::FileError;
#[cfg(feature = "std")]
pub use error::ReadError;
pub use error::{BuildError, Expected, FormatError, MergeError, ParseSeedError};
pub use filter::Filter;
pub use format::{FileHeader, wire};
pub use hash::{ForeignHasher, KeyHash, KeyHasher, PortableHasher, Prehashed, Seed};
pub use ids::{FileKind, HasherId};
pub use items::ItemCount;
pub use key::{Key, KeyWriter};
pub use pack::{CheckedMember, Member, Pack, PackView, Packed};
#[cfg(feature = "recycling")]
pub use recycling::RecyclingFilter;
#[cfg(all(feature = "growth", feature = "std", target_has_atomic = "64"))]
pub use scalable::AtomicScalableFilter;
#[cfg(feature = "growth")]
pub use scalable::{FIRST_ITEMS, ScalableFilter, ScalableView};
#[cfg(feature = "derive")]
pub use truebloom_derive::Key;
pub use truebloom_math::{self, Fpr, Plan, Promise, Rate, Target};

/// The largest number of probes per key. The file format sets this limit. For the false-positive
/// rates that are used in practice, a plan needs fewer than 100 probes per key.
pub const MAX_PROBES: u32 = 1_000;

#[cfg(all(feature = "any", feature = "std"))]
whole::each_kind_is_read_as! {
    Bloom | Blocked | Scalable if "any" => [],
    RecyclingOnePhase | RecyclingTwoPhase if "recycling" => [RecyclingFilter, RecyclingFilter<PortableHasher, scheme::Classic>],
    RecyclingBlocked if "recycling" => [recycling::BlockedRecyclingFilter],
    CountMin if "sketches" => [
        count_min::HeavyHitters<u64>,
        count_min::CountMin<u64>,
        count_min::CountMin<u32>,
        count_min::ListedSketch<count_min::PairwiseRows, u64>,
        count_min::PairwiseCountMin<u64>,
        count_min::PairwiseCountMin<u32>,
    ],
    TwoHashCountMin if "sketches" => [
        count_min::ListedSketch<count_min::TwoHashRows, u64>,
        count_min::TwoHashCountMin<u64>,
        count_min::TwoHashCountMin<u32>,
    ],
    Pack if "std" => [Pack<scheme::Standard>, Pack<scheme::InLines>, Pack<scheme::AnyScheme>],
}
