//! Filters that forget old items, so that they can process endless streams in fixed memory. The
//! false-positive rate has a proven limit.
//!
//! A [`RecyclingFilter`] *recycles* when the number of set bits exceeds a threshold: it forgets old
//! items and starts a new *cycle*. Its false-positive rate therefore never exceeds a known limit,
//! however long the stream is. An item is *new* if the filter does not remember the item. A
//! forgotten item is therefore new again. With two [phases](Phases), the filter also remembers the
//! items of the previous cycle. [`BlockedRecyclingFilter`] uses one cache line per key. Several
//! threads can share an [`AtomicRecyclingFilter`]. The module [`truebloom_math::recycling`]
//! computes two averages for a filter: the average rate, and the average number of items per cycle.
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
mod batch;
mod file;
mod flight;
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

/// A filter that forgets old items (*recycles*) when its fill exceeds a threshold. The filter can
/// therefore process an endless stream.
///
/// [`check_and_insert`](Self::check_and_insert) reports whether an item is new (not remembered),
/// and then remembers the item. A new item can be wrongly reported as seen. The probability of this
/// error rises until the filter recycles, but never exceeds [`worst_fpr`](Self::worst_fpr). A
/// remembered item is never reported as new.
///
/// # What is remembered
/// * With one phase, the filter remembers all items that were offered after the most recent
///   recycle.
/// * With two phases, the filter remembers all items that were offered after the second most recent
///   recycle. For an item that was offered several times, only the latest offer counts. There is
///   one exception: with [`Trigger::Excluded`], the item that ends a phase can be forgotten
///   immediately.
///
/// A policy can make the filter recycle when the active phase reaches a given [`age`](Policy::age),
/// called T below. With two phases, the filter then remembers an item for at least T and less than
/// 2T on the caller's clock. If the filter recycles earlier for another reason, the filter forgets
/// items sooner. [`Stats::by_fill`] counts the recycles that happened because of the fill. The
/// filter has no clock of its own. The caller passes the time to [`advance`](Self::advance) or
/// [`check_and_insert_at`](Self::check_and_insert_at). The method
/// [`check_and_insert`](Self::check_and_insert) ignores the age.
///
/// # Sizes
/// [`for_items`](RecyclingFilter::for_items) makes a filter with one phase. For a filter with two
/// phases, first compute a [`Design`] with a function of [`truebloom_math::recycling`]. Then
/// convert the design to a policy with [`Policy::from`]. If at most a million distinct keys are
/// offered in an hour, the filter in this example remembers the keys of the last hour. The filter
/// reports a new key as seen with a probability of at most 0.1%, whatever keys were offered before:
///
/// ```
/// use std::time::Duration;
/// use truebloom::recycling::{Policy, RecyclingFilter};
/// use truebloom::truebloom_math::recycling::{Mode, worst_remember};
/// let sized = worst_remember(1_000_000, 0.0, &"0.1%".parse()?, Mode::two_phase())?;
/// let design = sized.expect("within 2^62 bits").design;
/// let policy = Policy { age: Some(Duration::from_secs(3600)), ..Policy::from(&design) };
/// let mut seen = RecyclingFilter::new(design.bits(), design.probes(), policy)?;
/// assert!(seen.worst_fpr() <= 0.001);
///
/// // The time since a fixed moment, which must not change when the filter is saved and opened.
/// let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
/// assert!(seen.check_and_insert_at("a key", now).is_new());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If more than a million new keys are offered in an hour, the filter forgets some keys after less
/// than an hour. Its rate is still at most 0.1%.
///
/// # Files
/// To open a file, write `<RecyclingFilter>::open(path)`. If you leave out the angle brackets,
/// annotate the variable with its type. Otherwise, the compiler cannot infer the scheme `S`.
///
/// # Which answers are wrong
/// The probability that a new item is wrongly reported as seen depends on the bits that are set
/// when the item is offered. A wrongly reported item is also reported as seen at every later offer,
/// until the filter forgets it. [`wrong_drops`](Self::wrong_drops) estimates the number of wrongly
/// reported items so far, and gives an upper bound on this number.
///
/// The type parameter `S` is the [scheme](crate::scheme), which maps a key to positions. The
/// default scheme is [`Standard`]. With [`Classic`](crate::scheme::Classic), the positions of a key
/// are distinct. With [`Blocked`], the positions of a key are in one cache line
/// ([`BlockedRecyclingFilter`]). The type parameter `H` is the hasher, which computes the hash of a
/// key.
///
/// The type parameter `K` says where the bits are stored: for example, in the filter's own memory
/// ([`Owned`]) or in existing bytes ([`View`]). [`view`](RecyclingFilter::view) makes a filter that
/// reads its bits from the given bytes.
pub struct RecyclingFilter<H: KeyHasher = PortableHasher, S: Layout = Standard, K: Backing = Owned> {
    hasher: H,
    policy: Policy<S::Limit>,
    memory: S::Memory<K>,
    clock: Clock,
    counts: Counts,
    label: Label,
}

impl RecyclingFilter {
    /// A filter with a random seed. `bits` is the number of bits *per phase*, from 1 to 2^62.
    /// `probes` is the number of probes per key, from 1 to [`MAX_PROBES`](crate::MAX_PROBES).
    ///
    /// # Errors
    /// Returns an error if `bits`, `probes` or a field of the policy is out of range, if the memory
    /// cannot be allocated, or if the system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn new(bits: u64, probes: u32, policy: Policy) -> Result<RecyclingFilter, BuildError> {
        RecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::random()?)
    }
}

impl RecyclingFilter {
    /// A filter with one phase and a random seed. A cycle lasts from one recycle to the next, and
    /// has at least `items` new items on average. The average rate at which the filter wrongly
    /// reports new items as seen is at most `rate`. The function [`min_bits`] computes the size of
    /// the filter. The section [Sizes](Self#sizes) shows how to choose the size of a filter with
    /// two phases.
    ///
    /// The average rate is a long-run average. This bound on the average rate is proven for every
    /// stream that is chosen without knowing the seed. For an individual new item, the rate may be
    /// several times the average, but never exceeds [`worst_fpr`](Self::worst_fpr).
    ///
    /// ```
    /// use truebloom::recycling::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(1_000_000, 0.001)?;
    /// assert!(seen.check_and_insert("a line").is_new());
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `items` is 0 or above 10^18, if `rate` is invalid or below 1e-300, or if
    /// the filter would need more than 2^62 bits. Returns an error if the memory cannot be
    /// allocated, or if the system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn for_items<R: TryInto<Rate>>(items: impl ItemCount, rate: R) -> Result<RecyclingFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        RecyclingFilter::for_items_with_hasher(items, rate, PortableHasher::random()?)
    }

    /// Like [`for_items`](Self::for_items), with a hasher that you choose, such as one with a known
    /// seed or one for untrusted keys.
    ///
    /// # Errors
    /// Returns the same errors as `for_items`, but never fails for lack of random numbers.
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
    /// The design of this filter. The long-run rates of the filter can be computed from the design.
    /// The design ignores two limits of the policy: the number of insertions, and the age of a
    /// phase. Returns `None` for a filter with two phases and a [`retaining`](Policy::retaining)
    /// policy: no known method computes its rates.
    pub fn design(&self) -> Option<Design> {
        let Policy { phases, sigma, retaining, seeds, .. } = self.policy;
        let colliding = S::new(self.bits(), self.probes()).ok()?.id() != SchemeId::Classic;
        Design::new(self.bits(), self.probes(), sigma, Mode { phases, colliding, retaining, seeds }).ok()
    }
}

impl<H: KeyHasher, S: Layout> RecyclingFilter<H, S> {
    /// Like [`new`](RecyclingFilter::new), with a hasher that you choose. The compiler cannot infer
    /// the scheme from the arguments, so annotate the variable with its type:
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
    /// Returns the same errors as [`new`](Self::new), but never fails for lack of random numbers.
    pub fn with_hasher(bits: u64, probes: u32, policy: Policy<S::Limit>, hasher: H) -> Result<RecyclingFilter<H, S>, BuildError> {
        let scheme = S::Memory::<Owned>::scheme(bits, probes)?;
        S::Memory::<Owned>::check(&scheme, &policy)?;
        let memory = S::Memory::<Owned>::new(scheme, &policy, salt(&hasher, policy.seeds, 0))?;
        Ok(RecyclingFilter { hasher, policy, memory, clock: Clock::default(), counts: Counts::default(), label: Label::default() })
    }
}

impl<H: KeyHasher, S: Layout, K: Backing> RecyclingFilter<H, S, K> {
    /// The number of bits per phase.
    pub fn bits(&self) -> u64 {
        self.memory.bits()
    }

    /// The number of probes per key, k.
    pub fn probes(&self) -> u32 {
        self.memory.probes()
    }

    /// The policy, which says when the filter recycles, and what the filter still remembers after a
    /// recycle.
    pub fn policy(&self) -> &Policy<S::Limit> {
        &self.policy
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The seed of the hasher, from which the seeds of the phases are derived.
    pub fn seed(&self) -> Seed {
        self.hasher.seed()
    }

    /// The time on the caller's clock when the active phase began; 0 until the caller passes a
    /// time.
    pub fn phase_start(&self) -> Duration {
        Duration::from_nanos(self.clock.start)
    }

    /// The latest time that the caller passed.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now)
    }

    /// The label that was set with [`set_label`](Self::set_label), if there is one.
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// Attaches a text to the filter and its file, as
    /// [`FilterOf::set_label`](crate::FilterOf::set_label) does. A label has at most 104 bytes and
    /// no NUL. For any other text, the method returns false and changes nothing. An empty text
    /// removes the label.
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
    /// The number of set bits in the active phase, which is at most [`sigma`](Policy::sigma). In a
    /// [`Blocked`] filter, `sigma` is a rate, and does not limit the number of set bits directly.
    /// For a [`Blocked`] filter, this method takes time linear in the number of bits, because it
    /// counts the set bits.
    pub fn ones(&self) -> u64 {
        self.memory.ones()
    }

    /// The number of set bits in the frozen phase; 0 if there is no frozen phase.
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

/// A read-only recycling filter that uses existing bytes without copying them. `B` is the type of
/// the bytes, for example `&[u8]` or `Vec<u8>`. The method `view` of `RecyclingFilter` makes such a
/// filter.
pub type RecyclingView<B, S = Standard> = RecyclingFilter<PortableHasher, S, View<B>>;

/// A recycling filter that accesses one cache line per key: see [`Blocked`].
///
/// ```
/// use truebloom::recycling::{BlockedRecyclingFilter, Policy};
/// use truebloom::{PortableHasher, Seed};
/// // A filter of 2^20 bits, which is emptied when its rate exceeds 2%.
/// let hasher = PortableHasher::random()?;
/// let mut seen = BlockedRecyclingFilter::with_hasher(1 << 20, 6, Policy::one_phase(0.02), hasher)?;
/// let firsts = (0..1_000_000).filter(|i| seen.check_and_insert(&(i % 1_000)).is_new()).count();
/// assert!((999..=1_000).contains(&firsts) && seen.fpr() <= 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BlockedRecyclingFilter<H = PortableHasher> = RecyclingFilter<H, Blocked>;

/// The salt of the phase after `cycle` recycles.
fn salt(hasher: &impl KeyHasher, seeds: Seeds, cycle: u64) -> Salt {
    if seeds == Seeds::Kept { Salt::NONE } else { Salt::numbered(SaltUse::Phase, hasher.seed(), cycle) }
}

impl<H: KeyHasher, S: Layout, K: Backing> fmt::Debug for RecyclingFilter<H, S, K> {
    /// Formats the parameters and counts, not the bits.
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
