//! Filters of any layout and scheme, and sizes for them.

use crate::failure::Failure;
use crate::stop;
use std::path::{Path, PathBuf};
use truebloom::scheme::{AnyScheme, Scheme, SchemeId};
use truebloom::verify::{Measurement, Verification};
use truebloom::{BlockedBloomFilter, BloomFilter, FileError, FormatError, KeyHash, KeyHasher, Kind, PortableHasher, Seed};
use truebloom_math::{BlockedPlan, Fpr, Plan, Rate, SchemePlan, SchemeTarget, Target, Variant};

/// A filter whose scheme is known only from its file.
pub(crate) type AnyFilter = BloomFilter<PortableHasher, AnyScheme>;

/// A filter whose layout and scheme are known only from its file. Keys come in batches of hashes, so that the choice is one a batch and each layout is compiled for
/// itself.
pub(crate) enum Filter {
    Standard(BloomFilter),
    /// Of another scheme than the standard one.
    Scheme(Box<AnyFilter>),
    Blocked(BlockedBloomFilter),
}

/// The same expression for every layout.
macro_rules! each {
    ($self:expr, $filter:ident => $value:expr) => {
        match $self {
            Filter::Standard($filter) => $value,
            Filter::Scheme($filter) => $value,
            Filter::Blocked($filter) => $value,
        }
    };
}

pub(crate) fn open(path: &Path) -> Result<Filter, Failure> {
    open_any(path).map_err(Failure::new)
}

fn open_any(path: &Path) -> Result<Filter, FileError> {
    match AnyFilter::of_scheme_open(path) {
        Ok(filter) => Ok(filter.into_standard().map_or_else(Filter::Scheme, Filter::Standard)),
        Err(FileError::Format { cause: FormatError::Kind { found: Kind::Blocked }, .. }) => {
            BlockedBloomFilter::open(path).map(Filter::Blocked)
        }
        Err(error) => Err(error),
    }
}

impl Filter {
    /// The name of the scheme; that of the layout for blocked filters, which have one scheme only.
    pub(crate) fn scheme(&self) -> &'static str {
        match self {
            Filter::Standard(filter) => filter.scheme().id().name(),
            Filter::Scheme(filter) => filter.scheme().id().name(),
            Filter::Blocked(_) => "blocked",
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Filter::Blocked(_) => "blocked",
            _ => "bloom",
        }
    }

    pub(crate) fn hasher(&self) -> PortableHasher {
        each!(self, filter => *filter.hasher())
    }

    pub(crate) fn seed(&self) -> Seed {
        self.hasher().seed()
    }

    pub(crate) fn bits(&self) -> u64 {
        each!(self, filter => filter.bits())
    }

    /// In whole words.
    pub(crate) fn bytes(&self) -> u64 {
        self.bits().div_ceil(64) * 8
    }

    pub(crate) fn probes(&self) -> u32 {
        each!(self, filter => filter.probes())
    }

    pub(crate) fn capacity(&self) -> Option<u64> {
        each!(self, filter => filter.capacity())
    }

    pub(crate) fn rate(&self) -> Option<Rate> {
        each!(self, filter => filter.rate())
    }

    pub(crate) fn offered(&self) -> u64 {
        each!(self, filter => filter.offered())
    }

    pub(crate) fn changed(&self) -> u64 {
        each!(self, filter => filter.changed())
    }

    pub(crate) fn is_merged(&self) -> bool {
        each!(self, filter => filter.is_merged())
    }

    pub(crate) fn ones(&self) -> u64 {
        each!(self, filter => filter.ones())
    }

    pub(crate) fn is_over_capacity(&self) -> bool {
        each!(self, filter => filter.is_over_capacity())
    }

    /// This filter's rate now.
    pub(crate) fn fpr(&self) -> Result<Fpr, Failure> {
        Ok(match self {
            Filter::Standard(filter) => filter.fpr(),
            Filter::Scheme(filter) => filter.fpr(),
            Filter::Blocked(filter) => filter.fpr()?,
        })
    }

    /// Whether that is the rate, not only a bound.
    pub(crate) fn fill_tells_rate(&self) -> bool {
        match self {
            Filter::Standard(filter) => filter.fill_tells_rate(),
            Filter::Scheme(filter) => filter.fill_tells_rate(),
            Filter::Blocked(_) => true,
        }
    }

    /// Distinct items by the fill; `None` for a full filter, and for a blocked one, of whose law there is no such estimate.
    pub(crate) fn estimated_items(&self) -> Option<f64> {
        match self {
            Filter::Standard(filter) => filter.estimated_items(),
            Filter::Scheme(filter) => filter.estimated_items(),
            Filter::Blocked(_) => None,
        }
    }

    pub(crate) fn verification(&self) -> Result<Verification, Failure> {
        Ok(match self {
            Filter::Standard(filter) => Verification::of(filter)?,
            Filter::Scheme(filter) => Verification::of(&**filter)?,
            Filter::Blocked(filter) => Verification::of_blocked(filter)?,
        })
    }

    pub(crate) fn measurement(&self, seed: u64) -> Result<Measurement<'_>, Failure> {
        Ok(match self {
            Filter::Standard(filter) => Measurement::new(filter, seed),
            Filter::Scheme(filter) => Measurement::new(&**filter, seed),
            Filter::Blocked(filter) => Measurement::of_blocked(filter, seed)?,
        })
    }

    /// Inserts keys, in order.
    pub(crate) fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        match self {
            Filter::Standard(filter) => drop(filter.insert_all_hashes(hashes)),
            Filter::Scheme(filter) => {
                for hash in hashes {
                    filter.insert_hash(*hash);
                }
            }
            Filter::Blocked(filter) => drop(filter.insert_all_hashes(hashes)),
        }
    }

    /// Which of the keys are contained, a bit each: key i is bit i mod 64 of word i / 64.
    pub(crate) fn contained(&self, hashes: &[KeyHash]) -> Vec<u64> {
        match self {
            Filter::Standard(filter) => filter.contains_all_hashes(hashes).words().to_vec(),
            Filter::Blocked(filter) => filter.contains_all_hashes(hashes).words().to_vec(),
            Filter::Scheme(filter) => {
                let bit = |word: u64, (i, hash): (usize, &KeyHash)| word | u64::from(filter.contains_hash(*hash)) << i;
                hashes.chunks(64).map(|hashes| hashes.iter().enumerate().fold(0, bit)).collect()
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        each!(self, filter => filter.clear());
    }

    /// Writes a filter under a new name, or with `force` over what is there; an error if a signal has come until now.
    pub(crate) fn save(&self, path: &Path, force: bool) -> Result<(), Failure> {
        stop::last_moment()?;
        if force { each!(self, filter => filter.save(path)) } else { each!(self, filter => filter.save_new(path)) }.map_err(Failure::new)
    }
}

/// Where the positions of a key lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layout {
    // No docs of their own, as they would make the verb's help long.
    Standard,
    Blocked,
    Auto,
}

impl Layout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::Standard => "standard",
            Layout::Blocked => "blocked",
            Layout::Auto => "auto",
        }
    }
}

/// The blocked filter for the same question, and what it costs.
pub(crate) struct Alternative {
    pub(crate) plan: BlockedPlan,
    /// Its bits an item over those of a standard filter of the same rate.
    pub(crate) times_bits: f64,
    /// At most a tenth more.
    pub(crate) is_worth_it: bool,
}

impl Alternative {
    /// `None` where no blocked filter answers: a confidence is asked for, or the limits are too low.
    pub(crate) fn of(target: &Target, standard: &Plan) -> Option<Alternative> {
        let plan = BlockedPlan::new(target).ok()?;
        // Where both have one size, the standard filter has the lower rate; the price is in bits all the same.
        let of_its_rate = match target.rate {
            None => Some(Plan::new(&Target { rate: Some(plan.fpr.upper.try_into().ok()?), bits: None, ..target.clone() }).ok()?),
            Some(_) => None,
        };
        let standard = of_its_rate.as_ref().unwrap_or(standard);
        let times_bits = plan.bits as f64 / plan.items as f64 / (standard.bits as f64 / standard.items as f64);
        Some(Alternative { times_bits, is_worth_it: plan.is_worth_it(standard), plan })
    }
}

/// [`open`], for a verb that reads these inputs; a filter among them was perhaps meant to be the first.
pub(crate) fn open_for(path: &Path, inputs: &[PathBuf]) -> Result<Filter, Failure> {
    open_any(path).map_err(|error| {
        let foreign = matches!(error, FileError::Format { cause: FormatError::NotAFilter { .. }, .. });
        let swapped = inputs.first().filter(|input| foreign && input.is_file() && open_any(input).is_ok());
        swapped.map_or(Failure::new(&error), |filter| {
            Failure::at(path, format_args!("this is not a filter, but {} is: put the filter first, then the inputs", filter.display()))
        })
    })
}

/// Bits, probes and items for a scheme; whether they keep to a rate is left to whoever builds the filter.
pub(crate) struct Sized {
    pub(crate) bits: u64,
    pub(crate) probes: u32,
    pub(crate) items: u64,
    pub(crate) rate: Option<Rate>,
    /// The expected rate, if the plan has it already: for some schemes it takes seconds.
    pub(crate) expected: Option<Fpr>,
}

impl Sized {
    /// A plan by the scheme's own law where items and a rate are given; else what is given, completed by the standard plan.
    pub(crate) fn of(scheme: SchemeId, target: &Target) -> Result<Sized, Failure> {
        if target.confidence.is_some() && scheme != SchemeId::Standard {
            return Err(Failure::new(format_args!(
                "--confidence is not to be had with the {scheme} scheme: how its rates scatter is not known; leave one of them out"
            )));
        }
        let variant = match scheme {
            SchemeId::Classic => Some(Variant::Classic),
            SchemeId::Partitioned => Some(Variant::Partitioned),
            _ => None,
        };
        if let (None, Some(items), Some(rate), None) = (variant, target.items, target.rate, target.bits) {
            let Target { probes, max_bits, hash_bits, .. } = *target;
            let plan = SchemePlan::new(&SchemeTarget { scheme: scheme.hashing(), items, rate, probes, max_bits, hash_bits })?;
            return Ok(Sized { bits: plan.bits, probes: plan.probes, items, rate: Some(rate), expected: Some(plan.fpr) });
        }
        let plan = Plan::new(&Target { variant: variant.unwrap_or(Variant::Standard), ..target.clone() })?;
        Ok(Sized { bits: plan.bits, probes: plan.probes, items: plan.items, rate: plan.rate, expected: None })
    }
}
