//! Filters that forget old items after a number of new items, or after a time. Only the primary
//! server decides when a filter moves to the next phase.

use crate::answer::Failure;
use crate::{large, plans};
use std::io::{self, Read, Write};
use std::time::Duration;
use truebloom::recycling::{BlockedRecyclingFilter, Policy, RecyclingFilter, Stats};
use truebloom::{FileHeader, FileKind, PortableHasher};
use truebloom_math::recycling::{Mode, min_bits, worst_min_bits};
use truebloom_math::{Error, Rate};

/// A filter that forgets.
#[derive(Clone)]
pub(crate) struct Turning {
    filter: Either,
}

#[derive(Clone)]
enum Either {
    Spread(RecyclingFilter),
    Lines(BlockedRecyclingFilter),
}

/// Evaluates an expression for either layout of phases.
macro_rules! each {
    ($self:expr, $filter:ident => $value:expr) => {
        match $self {
            Either::Spread($filter) => $value,
            Either::Lines($filter) => $value,
        }
    };
}

/// How a filter forgets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    /// Whether there are two phases. If so, the previous phase is still queried.
    pub(crate) two: bool,
    /// The longest duration of a phase in milliseconds; 0 if a phase ends only when it is full.
    pub(crate) every: u64,
}

/// The range of rates for which designs are computed. Outside of this range, computing a design
/// would take up to a second, during which the server could not answer any command.
const RATES: std::ops::RangeInclusive<f64> = 1e-12..=0.5;

impl Turning {
    /// A design for `items` per phase. If a phase ends only when it is full, `rate` is the average
    /// rate. If it also ends after a time, `rate` is the worst rate, because `items` items may come
    /// in every phase.
    pub(crate) fn design(rate: &Rate, items: u64, window: Window) -> Result<truebloom_math::recycling::Design, Failure> {
        if !RATES.contains(&rate.to_f64()) {
            let (least, most) = (RATES.start(), RATES.end());
            return Err(Failure::text(format!("ERR error rate of a filter that recycles must be in the range [{least}, {most}]")));
        }
        plans::design(*rate, items, window.two, window.every > 0, || {
            let mode = if window.two { Mode::two_phase() } else { Mode::default() };
            let items = items as f64;
            let found = if window.every > 0 { worst_min_bits(items, rate, mode) } else { min_bits(items, rate, mode) };
            let too_many = || Error::OutOfRange { name: "items", found: items.to_string(), expected: format!("fewer at a rate of {rate}") };
            Ok(found.and_then(|found| found.ok_or_else(too_many)).map_err(Failure::of)?.design)
        })
    }

    /// An empty filter with a design, whose first phase begins now.
    pub(crate) fn new(
        design: &truebloom_math::recycling::Design,
        window: Window,
        hasher: PortableHasher,
        now: u64,
    ) -> Result<Turning, Failure> {
        let age = (window.every > 0).then(|| Duration::from_millis(window.every));
        let policy = Policy { age, ..Policy::from(design) };
        let mut filter = RecyclingFilter::with_hasher(design.bits(), design.probes(), policy, hasher).map_err(Failure::of)?;
        if age.is_some() {
            filter.advance(Duration::from_millis(now));
        }
        Ok(Turning { filter: Either::Spread(filter) })
    }

    /// The filter in a file, if it is one that forgets.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Turning, Failure> {
        let header = FileHeader::from_bytes(bytes).map_err(Failure::of)?;
        let filter = match header.kind() {
            FileKind::RecyclingBlocked => Either::Lines(BlockedRecyclingFilter::from_bytes(bytes).map_err(Failure::of)?),
            _ => Either::Spread(RecyclingFilter::from_bytes(bytes).map_err(Failure::of)?),
        };
        Ok(Turning { filter })
    }

    pub(crate) fn read(mut source: impl Read) -> Result<Turning, Failure> {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(Failure::of)?;
        Turning::from_bytes(&bytes)
    }

    pub(crate) fn write(&self, target: &mut dyn Write) -> io::Result<()> {
        each!(&self.filter, filter => filter.write_to(target))
    }

    /// The bytes of the filter's file from a position on.
    pub(crate) fn part(&self, start: u64, length: usize) -> Result<Vec<u8>, Failure> {
        each!(&self.filter, filter => filter.part_of_bytes(start, length).map_err(Failure::of))
    }

    pub(crate) fn file_bytes(&self) -> u64 {
        each!(&self.filter, filter => filter.encoded_bytes())
    }

    /// Whether the time of the active phase is up, to the nanosecond. If its time is not up,
    /// [`advance`](Turning::advance) must not be called, because it would set the filter's clock.
    /// The clocks of replicas would then differ, because only moves to a new phase are replicated.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        let start = each!(&self.filter, filter => filter.phase_start());
        self.age().is_some_and(|age| Duration::from_millis(now).saturating_sub(start) >= age)
    }

    /// How long a phase lasts.
    fn age(&self) -> Option<Duration> {
        each!(&self.filter, filter => filter.policy().age)
    }

    /// Begins as many new phases as the time requires. Returns whether anything changed; the start
    /// of the clock is a change.
    pub(crate) fn advance(&mut self, now: u64) -> bool {
        let state = |filter: &Turning| (filter.stats().cycles, each!(&filter.filter, filter => (filter.phase_start(), filter.now())));
        let before = state(self);
        if self.age().is_some() {
            each!(&mut self.filter, filter => filter.advance(Duration::from_millis(now)));
        }
        state(self) != before
    }

    /// Moves to the next phase now, whatever the time is.
    pub(crate) fn turn(&mut self) {
        each!(&mut self.filter, filter => filter.recycle());
    }

    /// Offers an item; returns true if it was new, that is, not remembered.
    pub(crate) fn add(&mut self, item: &[u8]) -> bool {
        each!(&mut self.filter, filter => filter.check_and_insert(item).is_new())
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        each!(&self.filter, filter => filter.contains(item))
    }

    pub(crate) fn stats(&self) -> Stats {
        each!(&self.filter, filter => filter.stats())
    }

    /// Returns the worst rate and the current rate.
    pub(crate) fn rates(&self) -> (f64, f64) {
        each!(&self.filter, filter => (filter.worst_fpr(), filter.fpr()))
    }

    /// The bits of all phases, the set bits in the active one, and the probes.
    pub(crate) fn shape(&self) -> (u64, u64, u32) {
        let phases = self.phases();
        each!(&self.filter, filter => (filter.bits() * phases, filter.ones(), filter.probes()))
    }

    pub(crate) fn phases(&self) -> u64 {
        let two = each!(&self.filter, filter => filter.policy().phases != truebloom::recycling::Phases::One);
        1 + u64::from(two)
    }

    /// Returns the number of bytes that a filter with this design takes.
    pub(crate) fn bytes_of(design: &truebloom_math::recycling::Design) -> usize {
        large::bytes_with((0..design.mode().filters()).map(|_| design.bits()))
    }

    pub(crate) fn bytes(&self) -> usize {
        let phase = each!(&self.filter, filter => filter.bits());
        large::bytes_with((0..self.phases()).map(|_| phase))
    }
}
