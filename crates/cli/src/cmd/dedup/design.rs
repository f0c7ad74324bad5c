//! Turns the options into a design, which determines the size, when lines are forgotten, and which
//! rate is guaranteed.

use super::filter::Filter;
use super::remember::remember;
use crate::args;
use crate::failure::Failure;
use crate::filters::Layout;
use crate::report;
use std::time::Duration;
use truebloom::recycling::{BlockedRecyclingFilter, Policy};
use truebloom::{BuildError, PortableHasher, RecyclingFilter};
use truebloom_math::recycling::{
    BlockedDesign, BlockedSized, Design, LongRun, Mode, SizedDesign, blocked_capacity, blocked_min_bits, capacity, min_bits,
    worst_capacity, worst_min_bits,
};
use truebloom_math::{BLOCK_BITS, Error, Law, MAX_BITS, Rate, law};
use truebloom_report::read::Span;

/// The default memory.
const DEFAULT_BYTES: u64 = 64 << 20;

/// The largest number of entries for which designs are searched; no memory holds more.
const MOST_ENTRIES: u64 = 1_000_000_000_000_000_000;

/// The default rate.
pub(super) const DEFAULT_RATE: &str = "1e-6";

/// The largest allowed probability that a phase ends, and forgets lines, earlier than requested.
const TOO_SOON: f64 = 1e-6;

/// The options about memory.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Memory")]
pub(super) struct Sizing {
    /// Number of distinct lines that the filter holds before it forgets any. The probability that
    /// it forgets earlier is at most one in a million (not proven with --layout blocked). If
    /// --remember is a time, -n is the number of distinct lines that come during that time. If none
    /// of -n, --memory and --remember is given, the filter has room for all lines of the named
    /// files, and takes at least 64 MiB
    #[arg(short = 'n', long, value_name = "N", value_parser = args::items, allow_hyphen_values = true)]
    items: Option<u64>,

    /// Rate at which first occurrences may be wrongly dropped, such as 0.1%; the default is 1e-6.
    /// With --second, it is the rate of lines that are printed too early or never. The filter meets
    /// the rate on average over the long run; with --remember, it meets the rate for every line,
    /// whatever lines came before
    #[arg(short = 'p', long = "fpr", value_name = "RATE", value_parser = args::rate, allow_hyphen_values = true)]
    rate: Option<Rate>,

    /// Memory for the filter: 64MiB, 2GB
    #[arg(long, value_name = "BYTES", value_parser = args::memory, conflicts_with = "items", allow_hyphen_values = true)]
    memory: Option<u64>,

    /// Remember a line until this many other lines (10M) or this time (1h) have passed since its
    /// last occurrence. Two filters (phases) take turns: when the newer one is full or old enough,
    /// the older one is emptied. `truebloom plan --recycling --remember N -p RATE --forget 1e-6`
    /// predicts the memory approximately
    #[arg(long, value_name = "SPAN", value_parser = remember)]
    remember: Option<Span>,

    /// standard (the default): the fewest bits; blocked: one cache line per key; auto: blocked if
    /// that needs at most 10% more bits. A blocked filter that is larger than the processor's
    /// caches is faster than a standard filter; a smaller one is slower if -p is low. `blocked` is
    /// not allowed with --remember. The layout of a state cannot be changed
    #[arg(long, value_name = "LAYOUT", value_enum, hide_possible_values = true)]
    layout: Option<Layout>,
}

/// A design, and the options for which it was made.
pub(super) struct Chosen {
    pub(super) design: Designed,
    /// The longest duration of a phase; `None` if phases end only when they are full.
    pub(super) age: Option<Duration>,
    /// A line is remembered until this many other lines have come, except in one phase in a
    /// million.
    pub(super) items: Option<u64>,
    /// The requested rate, per line.
    pub(super) rate: Option<Rate>,
    /// The largest number of entries that a line takes in the filter: two if second occurrences are
    /// stored, too, and otherwise one. Each entry has a look-up of its own, which may be wrong.
    /// Designs count entries.
    pub(super) entries: u64,
}

impl Sizing {
    /// Returns advice on how to remember more.
    pub(super) fn advice(&self) -> &'static str {
        match (self.memory, self.items) {
            (Some(_), _) => "give more --memory",
            (_, Some(_)) => "give a larger -n",
            _ => "give more --memory or a larger -n",
        }
    }

    /// How to change the options so that only old lines are forgotten: these words, followed by
    /// `--remember`.
    pub(super) fn advice_to_remember(&self) -> &'static str {
        if self.items.is_some() { "replace -n by" } else { "add" }
    }

    /// Whether no option is given.
    pub(super) fn is_empty(&self) -> bool {
        self.is_unsized() && self.rate.is_none()
    }

    /// Whether the options give no size, neither in lines nor in bytes.
    pub(super) fn is_unsized(&self) -> bool {
        self.items.is_none() && self.memory.is_none() && self.remember.is_none()
    }

    /// Whether a size is given, in lines or in bytes; a time to remember is not a size.
    pub(super) fn asks_size(&self) -> bool {
        self.items.is_some() || self.memory.is_some() || matches!(self.remember, Some(Span::Items(_)))
    }

    /// Whether an option says how long to remember.
    pub(super) fn asks_phases(&self) -> bool {
        self.remember.is_some()
    }

    /// Whether a rate is given.
    pub(super) fn asks_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// A design that is guaranteed to hold this many lines, which were counted before. The filter
    /// is at least as large as the one for a pipe, because using memory that would otherwise stay
    /// unused makes errors rarer.
    pub(super) fn choose_for(&self, counted: u64, entries: u64) -> Result<Chosen, Failure> {
        let usual = self.choose(Layout::Standard, entries)?;
        // A filter is needed even if there are no lines.
        let sizing = Sizing { items: Some(counted.max(1)), rate: self.rate, memory: None, remember: None, layout: self.layout };
        let chosen = sizing.choose(Layout::Standard, entries)?;
        Ok(if chosen.bytes() <= usual.bytes() { usual } else { chosen })
    }

    /// The design for these options. If the options do not name a layout, the design has the layout
    /// `there`; each line takes up to `entries` entries.
    ///
    /// A line is wrong only if one of its look-ups is wrong. So its rate is at most the sum of the
    /// look-ups' rates, and each look-up gets an equal share of the requested rate.
    pub(super) fn choose(&self, there: Layout, entries: u64) -> Result<Chosen, Failure> {
        let asked = match self.rate {
            Some(rate) => rate,
            None => args::rate(DEFAULT_RATE).map_err(Failure::new)?,
        };
        let rate = share(&asked, entries)?;
        let (mode, age, items) = match (self.remember, self.items) {
            (None, items) => (Mode::default(), None, items),
            (Some(Span::Time(age)), items) => (Mode::two_phase(), Some(age), items),
            (Some(Span::Items(_)), Some(_)) => {
                return Err(Failure::new(
                    "-n and --remember both give a number of lines; leave one of them out, or give --remember a time, such as 1h",
                ));
            }
            (Some(Span::Items(items)), None) => (Mode::two_phase(), None, Some(items)),
        };
        if items == Some(0) {
            return Err(Failure::new("a filter for 0 lines remembers nothing; give a number above 0 with -n"));
        }
        self.check_countable(items, entries)?;
        let held = items.map(|items| items.saturating_mul(entries));
        let phased = self.remember.is_some();
        // Only the standard layout has two phases.
        let layout = self.layout.unwrap_or(if phased { Layout::Standard } else { there });
        if phased && layout == Layout::Blocked {
            return Err(Failure::new(
                "--remember cannot be used with --layout blocked, because the rate of this combination is not known; omit --remember, or use --layout standard",
            ));
        }
        if layout == Layout::Blocked {
            let sized = self.blocked(held, &rate)?.ok_or_else(|| self.too_small(&asked))?;
            return Ok(Chosen { design: Designed::Blocked(sized.design), age, items: None, rate: Some(asked), entries });
        }
        let sized = match (self.memory, held) {
            (None, Some(held)) => surely_remembering(held, &rate, mode),
            (memory, _) => {
                // Refreshed lines can fill a phase before any new line comes, so with two phases
                // only the worst rate holds for every stream.
                let search = if phased { worst_capacity } else { capacity };
                search(memory.unwrap_or(DEFAULT_BYTES).saturating_mul(8), &rate, mode)
            }
        };
        let sized = sized.map_err(|error| of_lines(error, &asked, entries))?;
        let sized = sized.ok_or_else(|| self.too_small(&asked))?;
        let remembered = items.filter(|_| phased);
        if let (Some(items), Some(held), Some(memory)) = (remembered, held, self.memory)
            && too_soon(&sized.design, held)? > TOO_SOON
        {
            let needed = surely_remembering(held, &rate, mode).ok().flatten().map(|sized| sized.design.total_bits().div_ceil(8));
            return Err(not_enough(items, memory, &asked, needed));
        }
        // If no blocked filter is possible, as at very low rates, the standard one is used.
        let blocked = if layout == Layout::Auto && !phased { self.blocked(held, &rate).ok().flatten() } else { None };
        let design = match blocked.filter(|blocked| blocked.is_worth_it(&sized)) {
            Some(blocked) => Designed::Blocked(blocked.design),
            None => Designed::Standard(sized.design),
        };
        Ok(Chosen { design, age, items: remembered, rate: Some(asked), entries })
    }

    /// Returns an error if the number of lines or the memory exceeds what designs can have.
    fn check_countable(&self, items: Option<u64>, entries: u64) -> Result<(), Failure> {
        let (most_lines, most_bytes) = (MOST_ENTRIES / entries, MAX_BITS / 8);
        let given = if self.remember.is_some() { "--remember" } else { "-n" };
        if let Some(items) = items.filter(|items| *items > most_lines) {
            let (items, most) = (report::count(items), report::count(most_lines));
            return Err(Failure::new(format_args!("{given} {items}: at most {most} lines can be remembered; give a smaller number")));
        }
        if let Some(memory) = self.memory.filter(|memory| *memory > most_bytes) {
            let (memory, most) = (report::bytes(memory), report::bytes(most_bytes));
            return Err(Failure::new(format_args!("--memory {memory}: a filter has at most {most}; give less")));
        }
        Ok(())
    }

    /// Returns the design of a blocked filter for the requested memory, or, if no memory is given,
    /// for this many entries.
    fn blocked(&self, items: Option<u64>, rate: &Rate) -> Result<Option<BlockedSized>, Failure> {
        if let Some(memory) = self.memory.filter(|memory| memory.saturating_mul(8) < BLOCK_BITS) {
            return Err(Failure::new(format_args!(
                "--layout blocked needs at least {} of --memory (one cache line), not {}",
                report::bytes(BLOCK_BITS / 8),
                report::bytes(memory)
            )));
        }
        Ok(match (self.memory, items) {
            // How far a cycle deviates from the mean is not proven; ten times the root of the mean
            // is more than was ever observed.
            (None, Some(items)) => blocked_min_bits(items as f64 + 10.0 * (items as f64).sqrt(), rate)?,
            (memory, _) => blocked_capacity(memory.unwrap_or(DEFAULT_BYTES).saturating_mul(8), rate)?,
        })
    }

    /// The layout, if the options name one; `auto` names none.
    pub(super) fn layout(&self) -> Option<Layout> {
        self.layout.filter(|layout| *layout != Layout::Auto)
    }

    fn too_small(&self, rate: &Rate) -> Failure {
        match self.memory {
            Some(memory) => Failure::new(format_args!(
                "no filter of {} can meet a rate of {rate}, however early it forgets; give more --memory, or a higher rate",
                report::bytes(memory)
            )),
            None => Failure::new(format_args!(
                "that many lines at a rate of {rate} need more than 2^62 bits; choose fewer lines or a higher rate"
            )),
        }
    }
}

impl Chosen {
    /// The design of an existing filter whose lines take up to this many entries. Returns `None` if
    /// no formula is known for the filter's rate; no subcommand makes such a filter.
    pub(super) fn of(filter: &Filter, entries: u64) -> Result<Option<Chosen>, Failure> {
        let design = match filter {
            Filter::Standard(filter) => match filter.design() {
                Some(design) => Designed::Standard(design),
                None => return Ok(None),
            },
            Filter::Blocked(filter) => {
                Designed::Blocked(BlockedDesign::new(filter.bits(), BLOCK_BITS, filter.probes(), filter.policy().sigma)?)
            }
        };
        Ok(Some(Chosen { design, age: filter.age(), items: None, rate: None, entries }))
    }

    /// An empty filter of this design.
    pub(super) fn filter(&self, hasher: PortableHasher) -> Result<Filter, BuildError> {
        let (bits, probes, age) = (self.design.bits(), self.design.probes(), self.age);
        match &self.design {
            Designed::Standard(design) => {
                RecyclingFilter::with_hasher(bits, probes, Policy { age, ..Policy::from(design) }, hasher).map(Filter::Standard)
            }
            Designed::Blocked(design) => {
                let policy = Policy { age, ..Policy::one_phase(design.limit()) };
                BlockedRecyclingFilter::with_hasher(bits, probes, policy, hasher).map(Filter::Blocked)
            }
        }
    }

    /// The number of bytes in all phases.
    pub(super) fn bytes(&self) -> u64 {
        self.design.bits().div_ceil(64) * 8 * self.design.phases()
    }
}

/// A design of a filter with the standard or the blocked layout.
pub(super) enum Designed {
    Standard(Design),
    Blocked(BlockedDesign),
}

impl Designed {
    pub(super) fn layout(&self) -> Layout {
        match self {
            Designed::Standard(_) => Layout::Standard,
            Designed::Blocked(_) => Layout::Blocked,
        }
    }

    pub(super) fn phases(&self) -> u64 {
        match self {
            Designed::Standard(design) => design.mode().filters(),
            Designed::Blocked(_) => 1,
        }
    }

    /// The number of bits in each phase.
    pub(super) fn bits(&self) -> u64 {
        match self {
            Designed::Standard(design) => design.bits(),
            Designed::Blocked(design) => design.bits(),
        }
    }

    pub(super) fn probes(&self) -> u32 {
        match self {
            Designed::Standard(design) => design.probes(),
            Designed::Blocked(design) => design.probes(),
        }
    }

    /// Returns the largest number of set bits with which a phase continues, if the design limits
    /// the set bits.
    pub(super) fn sigma(&self) -> Option<u64> {
        match self {
            Designed::Standard(design) => Some(design.sigma()),
            Designed::Blocked(_) => None,
        }
    }

    /// Returns the highest rate with which a phase continues, if the design limits the rate.
    pub(super) fn limit(&self) -> Option<f64> {
        match self {
            Designed::Standard(_) => None,
            Designed::Blocked(design) => Some(design.limit()),
        }
    }

    /// The rates, including those of equal hashes, and the length of a cycle.
    pub(super) fn long_run(&self) -> Result<LongRun, Error> {
        match self {
            Designed::Standard(design) => design.long_run(),
            Designed::Blocked(design) => design.long_run(),
        }
    }
}

/// Finds the smallest design that still remembers a line after `items` other lines, in all but one
/// phase in a million.
///
/// A line is forgotten when its phase ends, or, with two phases, when the next phase ends. A line
/// enters a phase only once, so a phase can end within `items` lines only if these lines fill it.
/// For every stream, the probability of this is a tail probability of the number of set bits.
fn surely_remembering(items: u64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>, Error> {
    // Refreshed lines can fill a phase before any new line comes, so with two phases only the worst
    // rate holds for every stream.
    let search = if mode.filters() > 1 { worst_min_bits } else { min_bits };
    // The length of a cycle deviates from its mean by less than the root of the mean, so a few
    // steps are enough.
    for step in 0u32.. {
        let mean = items as f64 + f64::from(step) * (items as f64).sqrt();
        match search(mean, rate, mode)? {
            Some(sized) if too_soon(&sized.design, items)? > TOO_SOON => {}
            found => return Ok(found),
        }
    }
    Ok(None)
}

/// An upper bound on the probability that a phase ends within this many lines.
fn too_soon(design: &Design, items: u64) -> Result<f64, Error> {
    let fill = law::Standard::new(design.bits(), design.probes())?.fill(items)?;
    Ok(fill.map_or(1.0, |fill| fill.at_least(design.sigma() + 1)))
}

/// Converts an error about entries into one about lines, each of which takes this many entries. The
/// converted error has the rate that was requested for lines.
fn of_lines(error: Error, asked: &Rate, entries: u64) -> Error {
    match error {
        Error::EqualHashes { bits, least, .. } => Error::EqualHashes { asked: *asked, bits, least: least * entries as f64 },
        other => other,
    }
}

/// Divides a rate equally among this many look-ups.
fn share(rate: &Rate, entries: u64) -> Result<Rate, Failure> {
    let (numerator, exponent, divisor) = rate.parts();
    let exact = divisor.checked_mul(entries).map(|divisor| (numerator, exponent, divisor));
    // Rounding down also meets the rate.
    let shifted = || numerator.checked_mul(10).map(|tenths| (tenths / entries, exponent - 1, divisor));
    let (numerator, exponent, divisor) = exact.or_else(shifted).unwrap_or((numerator / entries, exponent, divisor));
    Ok(Rate::from_parts(numerator, exponent, divisor)?)
}

fn not_enough(items: u64, memory: u64, rate: &Rate, needed: Option<u64>) -> Failure {
    let needed = needed.map_or(String::new(), |bytes| format!("; {} is enough", report::bytes(bytes)));
    Failure::new(format_args!(
        "{} is not enough to remember {} at a rate of {rate}{needed}",
        report::bytes(memory),
        report::plural(items, "line")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_share_a_rate() {
        for (whole, half) in [("5%", "2.5%"), ("1/3", "1/6"), ("1/18446744073709551615", "0.5/18446744073709551615")] {
            let [whole, half] = [whole, half].map(|text| args::rate(text).unwrap_or_else(|error| panic!("{error}")));
            let share = |entries| share(&whole, entries).unwrap_or_else(|error| panic!("{}", error.message()));
            assert!(share(1) == whole && share(2) == half, "{whole}");
        }
    }

    #[test]
    fn counted_lines_fit() {
        let sizing = Sizing { items: None, rate: None, memory: None, remember: None, layout: None };
        let chosen = |counted| sizing.choose_for(counted, 1).unwrap_or_else(|error| panic!("{}", error.message()));
        assert_eq!((chosen(0).bytes(), chosen(1_000_000).bytes()), (DEFAULT_BYTES, DEFAULT_BYTES));
        for counted in [18_000_000, 20_000_000, 40_000_000] {
            let Chosen { design: Designed::Standard(design), .. } = chosen(counted) else { panic!("standard unless asked") };
            assert!(too_soon(&design, counted).is_ok_and(|error| error <= TOO_SOON), "{counted}");
        }
        assert!(chosen(40_000_000).bytes() > DEFAULT_BYTES);
    }
}
