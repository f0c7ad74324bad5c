//! Filters that forget: streams without end, in fixed memory, at a proven rate.
//!
//! A [`RecyclingFilter`] is emptied when it is full enough, so its rate never exceeds a worst one,
//! however long the stream. A recycle starts a new *cycle*; *new* means new to what is remembered,
//! and a forgotten item that comes again is new again. With two [phases](Phases) the previous cycle
//! is still looked up. [`BlockedRecyclingFilter`] takes one cache line per key;
//! [`AtomicRecyclingFilter`] is shared by threads. The average rate of a design and the items per
//! cycle come from [`truebloom_math::recycling`].
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
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod atomic;
mod file;
mod half;
mod halves;
mod keys;
mod lines;
mod memory;
mod policy;
mod recycle;
mod stored;

pub use account::{Stats, WrongDrops};
use alloc::format;
use alloc::string::ToString;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use atomic::AtomicRecyclingFilter;
pub use keys::Seen;
pub use lines::Blocked;
pub use memory::Layout;
pub use policy::{Phases, Policy, Seeds, Trigger, sigma_at_rate};

use crate::backing::{Backing, Counted, Owned, View};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHasher, PortableHasher, Salt, SaltUse, Seed};
use crate::items::ItemCount;
use crate::scheme::{FillScheme, SchemeId, Standard};
use account::Counts;
use core::fmt;
use core::time::Duration;
use memory::Memory;
use recycle::Clock;
use truebloom_math::recycling::{Design, Mode, min_bits};
use truebloom_math::{Error, Rate};

/// A filter that is emptied when it is full enough, and so can take a stream without end.
///
/// [`check_and_insert`](Self::check_and_insert) says whether an item is new to what is remembered,
/// and remembers it. A repeat is reported wrongly at a rate that starts at 0 with each cycle and
/// never exceeds [`worst_fpr`](Self::worst_fpr); a remembered item is never reported as new.
///
/// # What is remembered
/// * One phase: everything since the last recycle.
/// * Two phases: everything since the last recycle but one. An item that only the frozen phase
///   knows enters the active one when it comes again, which refreshes it.
///
/// With [`age`](Policy::age) T and two phases an item is remembered for at least T, unless the fill
/// forces recycles before ([`Stats::by_fill`] counts them), and less than 2T.
///
/// # Which items go wrong
/// Each item that is not remembered is reported as seen with the pass probability that the bits
/// have at that moment. All later offers of such an item are reported as seen too, until the
/// recycle. [`wrong_drops`](Self::wrong_drops) bounds the number of such items in the stream so
/// far.
///
/// `S` is the [scheme](crate::scheme): [`Standard`], or [`Classic`](crate::scheme::Classic) for
/// distinct probes; or [`Blocked`], for one cache line per key ([`BlockedRecyclingFilter`]). `H` as
/// for [`BloomFilter`](crate::BloomFilter).
///
/// `K` is where the bits are, as for [`FilterOf`](crate::FilterOf): [`view`](RecyclingFilter::view)
/// makes one of bytes, which answers what it remembers.
pub struct RecyclingFilter<H: KeyHasher = PortableHasher, S: Layout = Standard, K: Backing = Owned> {
    hasher: H,
    policy: Policy<S::Limit>,
    memory: S::Memory<K>,
    clock: Clock,
    counts: Counts,
    label: Label,
}

impl RecyclingFilter {
    /// A filter of `bits` bits *a phase*, 1 to 2^62, and 1 to [`MAX_PROBES`](crate::MAX_PROBES)
    /// probes, with a random seed.
    ///
    /// # Errors
    /// Bits, probes or a field of the policy out of range; not enough memory; no random numbers.
    #[cfg(feature = "random")]
    pub fn new(bits: u64, probes: u32, policy: Policy) -> Result<RecyclingFilter, BuildError> {
        RecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::random()?)
    }
}

impl RecyclingFilter {
    /// A filter that is emptied after `items` new items on average, or some more, and reports a new
    /// item as seen at an average rate of at most `rate`, the decimal as written: the smallest one
    /// that [`min_bits`] finds, with one phase and a random seed.
    ///
    /// The average is proven for the long run of every stream that is chosen independently of the
    /// seed. [`worst_fpr`](Self::worst_fpr), several times as high, holds for each new item.
    ///
    /// ```
    /// use truebloom::recycling::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(1_000_000, 0.001)?;
    /// assert!(seen.check_and_insert("a line").is_new());
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// No items, or above 10^18; an invalid rate, or one below 1e-300; more than 2^62 bits, or more
    /// than the memory; no random numbers.
    #[cfg(feature = "random")]
    pub fn for_items<R: TryInto<Rate>>(items: impl ItemCount, rate: R) -> Result<RecyclingFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        RecyclingFilter::for_items_with_hasher(items, rate, PortableHasher::random()?)
    }

    /// [`for_items`](Self::for_items) with a known seed, or for untrusted keys.
    ///
    /// # Errors
    /// As for `for_items`, but no random numbers are needed.
    pub fn for_items_with_hasher<R: TryInto<Rate>>(
        items: impl ItemCount,
        rate: R,
        hasher: PortableHasher,
    ) -> Result<RecyclingFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        let (items, rate) = (items.item_count()?, rate.try_into()?);
        let found = min_bits(items as f64, &rate, Mode::default())?;
        let fewer = || format!("fewer at a rate of {rate}: they need more than 2^62 bits");
        let too_many = || Error::OutOfRange { name: "items", found: items.to_string(), expected: fewer() };
        let design = found.ok_or_else(too_many)?.design;
        RecyclingFilter::with_hasher(design.bits(), design.probes(), Policy::from(&design), hasher)
    }
}

impl<H: KeyHasher, S: FillScheme, K: Backing> RecyclingFilter<H, S, K> {
    /// The model of this filter, with the laws of its long run: what follows from its bits, probes
    /// and [`Policy`], leaving out recycles by insertions or age, which come earlier. `None` for
    /// two phases that retain, of which no law is known.
    pub fn design(&self) -> Option<Design> {
        let Policy { phases, sigma, retaining, seeds, .. } = self.policy;
        let colliding = S::new(self.bits(), self.probes()).ok()?.id() != SchemeId::Classic;
        Design::new(self.bits(), self.probes(), sigma, Mode { phases, colliding, retaining, seeds }).ok()
    }
}

impl<H: KeyHasher, S: Layout> RecyclingFilter<H, S> {
    /// [`new`](RecyclingFilter::new) with a given hasher. The type says the scheme or layout, so it
    /// has to be written:
    ///
    /// ```
    /// use truebloom::recycling::{Policy, RecyclingFilter};
    /// use truebloom::{PortableHasher, Seed, scheme::Classic};
    /// let hasher = PortableHasher::sip13(Seed::random()?);
    /// let seen: RecyclingFilter = RecyclingFilter::with_hasher(1_000, 5, Policy::two_phases(500), hasher)?;
    /// let seen: RecyclingFilter<_, Classic> = RecyclingFilter::with_hasher(1_000, 5, Policy::two_phases(500), hasher)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`new`](Self::new), but no random numbers are needed.
    pub fn with_hasher(bits: u64, probes: u32, policy: Policy<S::Limit>, hasher: H) -> Result<RecyclingFilter<H, S>, BuildError> {
        let scheme = S::Memory::<Owned>::scheme(bits, probes)?;
        S::Memory::<Owned>::check(&scheme, &policy)?;
        let memory = S::Memory::<Owned>::new(scheme, &policy, salt(&hasher, policy.seeds, 0))?;
        Ok(RecyclingFilter { hasher, policy, memory, clock: Clock::default(), counts: Counts::default(), label: Label::default() })
    }
}

impl<H: KeyHasher, S: Layout, K: Backing> RecyclingFilter<H, S, K> {
    /// Number of bits m of a phase.
    pub fn bits(&self) -> u64 {
        self.memory.bits()
    }

    /// Probes k per key.
    pub fn probes(&self) -> u32 {
        self.memory.probes()
    }

    /// When it forgets, and what it keeps then.
    pub fn policy(&self) -> &Policy<S::Limit> {
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

    /// When the active phase began, by the same clock. 0 until a time was passed in.
    pub fn phase_start(&self) -> Duration {
        Duration::from_nanos(self.clock.start)
    }

    /// The latest time that was passed in.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now)
    }

    /// The label, if it has one: [`set_label`](Self::set_label).
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// Keeps a text with the filter, in its file too, as
    /// [`FilterOf::set_label`](crate::FilterOf::set_label) does: at most 104 bytes without NUL;
    /// false, and nothing changes, for others. An empty text is no label.
    ///
    /// ```
    /// use truebloom::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(100, 0.01)?;
    /// assert!(seen.set_label("addresses"));
    /// let found: RecyclingFilter = RecyclingFilter::from_bytes(&seen.to_bytes()?)?;
    /// assert_eq!(found.label(), Some("addresses"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn set_label(&mut self, text: &str) -> bool {
        self.label.set(text)
    }
}

impl<H: KeyHasher, S: Layout, K: Counted> RecyclingFilter<H, S, K> {
    /// Set bits of the active phase; at most [`sigma`](Policy::sigma). Linear in the bits of a
    /// [`Blocked`] filter, which does not count them along.
    pub fn ones(&self) -> u64 {
        self.memory.ones()
    }

    /// Set bits of the frozen phase; 0 if there is none.
    pub fn frozen_ones(&self) -> u64 {
        self.memory.frozen_ones()
    }
}

impl<H: KeyHasher + Clone, S: Layout, K: Backing> Clone for RecyclingFilter<H, S, K>
where
    K::Words: Clone,
{
    fn clone(&self) -> RecyclingFilter<H, S, K> {
        RecyclingFilter { hasher: self.hasher.clone(), memory: self.memory.copied(), label: self.label.clone(), ..*self }
    }
}

impl<H: KeyHasher + PartialEq, S: Layout, K: Backing> PartialEq for RecyclingFilter<H, S, K> {
    fn eq(&self, other: &RecyclingFilter<H, S, K>) -> bool {
        let state = self.hasher == other.hasher && self.policy == other.policy && self.memory == other.memory;
        state && self.clock == other.clock && self.counts == other.counts
    }
}

/// A view of a recycling filter, in bytes that `B` holds.
pub type RecyclingView<B, S = Standard> = RecyclingFilter<PortableHasher, S, View<B>>;

/// A recycling filter that touches one cache line per key: see [`Blocked`].
///
/// ```
/// use truebloom::recycling::{BlockedRecyclingFilter, Policy};
/// use truebloom::{PortableHasher, Seed};
/// // A mebibit, emptied when more than 2% of fresh keys would pass.
/// let hasher = PortableHasher::random()?;
/// let mut seen = BlockedRecyclingFilter::with_hasher(1 << 20, 6, Policy::one_phase(0.02), hasher)?;
/// let firsts = (0..1_000_000).filter(|i| seen.check_and_insert(&(i % 1_000)).is_new()).count();
/// assert!((999..=1_000).contains(&firsts) && seen.fpr() <= 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BlockedRecyclingFilter<H = PortableHasher> = RecyclingFilter<H, Blocked>;

/// The salt of the phase after this many recycles.
fn salt(hasher: &impl KeyHasher, seeds: Seeds, cycle: u64) -> Salt {
    if seeds == Seeds::Kept { Salt::NONE } else { Salt::numbered(SaltUse::Phase, hasher.seed(), cycle) }
}

impl<H: KeyHasher, S: Layout, K: Backing> fmt::Debug for RecyclingFilter<H, S, K> {
    /// The parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecyclingFilter")
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("scheme", &self.memory.name())
            .field("hasher", &self.hasher.id())
            .field("policy", &self.policy)
            .field("clock", &self.clock)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
