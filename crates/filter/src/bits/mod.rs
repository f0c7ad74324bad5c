//! The bits of a filter in memory. Depending on the scheme, the bits of a key are spread over the
//! whole filter ([`Spread`]), or lie within one cache line ([`Lined`](lined::Lined)).

mod ahead;
#[cfg(target_has_atomic = "64")]
mod atomic;
mod drawn;
mod flight;
mod lined;
mod probing;
mod spread;
mod undecided;
mod words;

pub(crate) use ahead::Ahead;
#[cfg(target_has_atomic = "64")]
pub(crate) use atomic::AtomicBits;
pub(crate) use flight::Flights;
pub(crate) use probing::Probing;
pub(crate) use spread::Spread;
pub(crate) use words::{Bits, combine, count_ones, count_ones_in, count_pairs, words_for};

/// A filter of up to this many bits (2 MiB) fits in the cache, so prefetching takes more time than
/// it saves. This was measured with a filter of two layers, at a rate of 1%. With 300,000 keys per
/// layer, prefetching made it a third slower. With 3 million keys per layer or more, prefetching
/// made it twice as fast.
pub(crate) const IN_CACHE: u64 = 1 << 24;
