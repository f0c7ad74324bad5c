//! Filters that forget: streams without end, in fixed memory, at a proven rate.
//!
//! A [`RecyclingFilter`] is emptied when it is full enough, so its rate never exceeds a worst one, however long the stream. A recycle starts a new *cycle*; *new* means new to
//! what is remembered, and a forgotten item that comes again is new again. With two [phases](Phases) the cycle before the present one is still asked.
//! [`AtomicRecyclingFilter`] is shared by threads. The average rate of a design and the items of a cycle come from [`truebloom_math::recycling`].
//!
//! ```
//! use truebloom::recycling::{Policy, RecyclingFilter, Seen};
//! // A million bits, recycled when more than 600,000 are set.
//! let mut seen = RecyclingFilter::new(1_000_000, 6, Policy::one_phase(600_000))?;
//! let firsts = (0..1_000_000).filter(|i| seen.check_and_insert(&(i % 1_000)) == Seen::New).count();
//! assert!((999..=1_000).contains(&firsts));
//! let drops = seen.wrong_drops(0.999_999)?.expect("seeds are renewed");
//! assert!(drops.at_most < 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod account;
mod atomic;
mod file;
mod half;
mod keys;
mod policy;
mod recycle;
mod stored;

pub use account::{Stats, WrongDrops};
pub use atomic::AtomicRecyclingFilter;
pub use keys::Seen;
pub use policy::{Phases, Policy, Seeds, Trigger, sigma_at_rate};

use crate::error::BuildError;
use crate::hash::{KeyHasher, PortableHasher, Seed};
use crate::scheme::{FillScheme, Standard};
use account::Counts;
use half::{Half, Salt};
use recycle::Clock;
use std::fmt;
use std::time::Duration;

/// A filter that is emptied when it is full enough, and so can take a stream without end.
///
/// [`check_and_insert`](Self::check_and_insert) says whether an item is new to what is remembered, and remembers it. "Known" is wrong at a rate that starts at 0 with each cycle and never
/// exceeds [`worst_fpr`](Self::worst_fpr); "new" is never wrong of a remembered item.
///
/// # What is remembered
/// * One phase: everything since the last recycle.
/// * Two phases: everything since the last recycle but one. An item that only the frozen phase knows enters the active one when it comes again, which refreshes it.
///
/// With [`age`](Policy::age) T and two phases an item is remembered for at least T, unless the fill forces recycles before ([`Stats::by_fill`] counts them), and less than 2T.
///
/// # Which items go wrong
/// Of the items that are new to what is remembered, each is taken for known with the pass probability that the bits have at that moment. All later offers of such an item are taken for known
/// too, until the recycle. [`wrong_drops`](Self::wrong_drops) says how many items this was for the stream that came by.
///
/// `S` is the [scheme](crate::scheme): [`Standard`], or [`Classic`](crate::scheme::Classic) for distinct probes. `H` as for [`BloomFilter`](crate::BloomFilter).
#[derive(Clone, PartialEq)]
pub struct RecyclingFilter<H: KeyHasher = PortableHasher, S: FillScheme = Standard> {
    hasher: H,
    scheme: S,
    policy: Policy,
    active: Half,
    /// The phase before, if there are to be two.
    frozen: Option<Half>,
    /// Bits that are set in both phases, kept exact where they share their positions.
    both: u64,
    /// The rate of the frozen phase alone.
    frozen_rate: f64,
    clock: Clock,
    counts: Counts,
}

impl RecyclingFilter {
    /// A filter of `bits` bits *a phase*, 1 to 2^62, and 1 to [`MAX_PROBES`](crate::MAX_PROBES) probes, with a random seed.
    ///
    /// Errors: bits, probes or a field of the policy out of range; not enough memory; no random numbers.
    pub fn new(bits: u64, probes: u32, policy: Policy) -> Result<RecyclingFilter, BuildError> {
        RecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::xxh3(Seed::random()?))
    }
}

impl<H: KeyHasher, S: FillScheme> RecyclingFilter<H, S> {
    /// [`new`](RecyclingFilter::new) with a hasher and a scheme of one's own.
    ///
    /// ```
    /// use truebloom::recycling::{Policy, RecyclingFilter};
    /// use truebloom::{PortableHasher, Seed, scheme::Classic};
    /// let hasher = PortableHasher::sip13(Seed::random()?);
    /// let seen: RecyclingFilter<_, Classic> = RecyclingFilter::with_hasher(1_000, 5, Policy::two_phases(500), hasher)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_hasher(bits: u64, probes: u32, policy: Policy, hasher: H) -> Result<RecyclingFilter<H, S>, BuildError> {
        let scheme = S::new(bits, probes)?;
        policy.check(bits, probes)?;
        let frozen = match policy.phases {
            Phases::One => None,
            Phases::Two(_) => Some(Half::new(bits, Salt::NONE)?),
        };
        let active = Half::new(bits, salt(&hasher, &policy, 0))?;
        let (clock, counts) = (Clock::default(), Counts::default());
        Ok(RecyclingFilter { hasher, scheme, policy, active, frozen, both: 0, frozen_rate: 0.0, clock, counts })
    }

    /// Number of bits m of a phase.
    pub fn bits(&self) -> u64 {
        self.scheme.bits()
    }

    /// Probes k of a key.
    pub fn probes(&self) -> u32 {
        self.scheme.probes()
    }

    /// When it forgets, and what it keeps then.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The seed of the hasher, from which those of the phases are derived.
    pub fn seed(&self) -> Seed {
        self.hasher.seed()
    }

    /// Set bits of the active phase; at most [`sigma`](Policy::sigma).
    pub fn ones(&self) -> u64 {
        self.active.ones
    }

    /// Set bits of the frozen phase; 0 if there is none.
    pub fn frozen_ones(&self) -> u64 {
        self.frozen.as_ref().map_or(0, |frozen| frozen.ones)
    }

    /// The latest time that was passed in.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now)
    }
}

/// The salt of the phase after so many recycles.
fn salt(hasher: &impl KeyHasher, policy: &Policy, cycle: u64) -> Salt {
    match policy.seeds {
        Seeds::Renewed => Salt::of_cycle(hasher.seed(), cycle),
        Seeds::Kept => Salt::NONE,
    }
}

impl<H: KeyHasher, S: FillScheme> fmt::Debug for RecyclingFilter<H, S> {
    /// The parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecyclingFilter")
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("scheme", &self.scheme.id())
            .field("hasher", &self.hasher.id())
            .field("policy", &self.policy)
            .field("ones", &self.ones())
            .field("frozen_ones", &self.frozen_ones())
            .field("clock", &self.clock)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
