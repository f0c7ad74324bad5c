//! Bits in memory, and how the keys of a scheme get at them: anywhere ([`Spread`]) or in lines
//! ([`Lined`]).

#[cfg(target_has_atomic = "64")]
mod atomic;
mod flight;
mod lined;
mod probing;
mod spread;
mod words;

#[cfg(target_has_atomic = "64")]
pub(crate) use atomic::AtomicBits;
pub(crate) use flight::Flights;
pub(crate) use probing::Probing;
pub(crate) use spread::Spread;
pub(crate) use words::{Bits, combine, count_ones, count_ones_in, count_pairs, words_for};

/// Up to this many bits (2 MiB) a filter lies in cache, and asking ahead takes longer than it
/// spares: two layers of 300,000 keys at 1% were a third slower with it, and from 3 million on
/// twice as fast.
pub(crate) const IN_CACHE: u64 = 1 << 24;
