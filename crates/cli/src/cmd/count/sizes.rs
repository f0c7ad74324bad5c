//! The size of a sketch and of its list.

use crate::args::{self, rate};
use crate::failure::Failure;
use crate::report::{bytes, count};
use truebloom_math::Rate;
use truebloom_math::count_min::{Rows, Shape};

/// The worst-case memory of a listed key: two entries of the hash table (which grows by doubling),
/// the memory for sorting, and 256 bytes for the key.
const LISTED: u64 = 1 << 10;

/// Memory reserved for long keys, in addition to 256 bytes for each listed key.
const LONG_KEYS: u64 = 64 << 10;

const LEAST: u64 = 256 << 10;
const COUNTER: u64 = 8;

/// The size options.
#[derive(clap::Args)]
#[command(next_help_heading = "Size")]
pub(super) struct SizeArgs {
    /// Memory for the counters and the listed keys, half for each. Reading the input takes a little
    /// memory in addition
    #[arg(long, value_name = "BYTES", value_parser = memory, default_value = "16MiB", conflicts_with = "epsilon")]
    memory: u64,

    /// Instead of --memory, give a bound on the error of a count, as a share of the total count.
    /// The list then has room for at least 1/RATE keys
    #[arg(long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    epsilon: Option<Rate>,

    /// Allowed probability that the count of a queried key is wrong by more than the error bound.
    /// This probability determines the number of rows of counters
    #[arg(long, value_name = "RATE", value_parser = rate, default_value = "1%", allow_hyphen_values = true)]
    delta: Rate,

    /// Find a key's counters in all rows with only two hash functions, instead of one function per
    /// row. This takes about twice as many counters, and requires --epsilon
    #[arg(long, requires = "epsilon", conflicts_with = "memory")]
    pub(super) two_hash: bool,

    /// Raise counters only as far as needed (conservative update): errors are smaller, but counting
    /// takes more time
    #[arg(long)]
    pub(super) conservative: bool,
}

fn memory(text: &str) -> Result<u64, String> {
    args::memory(text)?
        .checked_sub(LEAST)
        .map(|more| more + LEAST)
        .ok_or_else(|| format!("`{text}` is too little memory for counters and a list; give {} or more", bytes(LEAST)))
}

/// The size of the counters and of the list.
pub(super) struct Sizes {
    pub(super) shape: Shape,
    pub(super) capacity: u64,
}

impl SizeArgs {
    /// The size for a list of this many keys.
    pub(super) fn sizes(&self, wanted: u64) -> Result<Sizes, Failure> {
        let sizes = match &self.epsilon {
            None => self.within_memory()?,
            Some(epsilon) => self.for_error(epsilon, wanted)?,
        };
        if wanted > sizes.capacity {
            return Err(Failure::new(format_args!(
                "the list has room for {} keys, but -k (--top) asks for {}; give more --memory",
                count(sizes.capacity),
                count(wanted)
            )));
        }
        Ok(sizes)
    }

    fn within_memory(&self) -> Result<Sizes, Failure> {
        check_available(self.memory)?;
        let half = self.memory / 2;
        // The number of rows depends only on the probability.
        let rows = Shape::for_error(&Rate::from_parts(1, -1, 1)?, &self.delta, Rows::Independent)?.depth();
        let width = half / COUNTER / u64::from(rows);
        Ok(Sizes { shape: Shape::new(Rows::Independent, width, rows, 1)?, capacity: (half - LONG_KEYS) / LISTED })
    }

    fn for_error(&self, epsilon: &Rate, wanted: u64) -> Result<Sizes, Failure> {
        let rows = if self.two_hash { Rows::TwoHash } else { Rows::Independent };
        let shape = Shape::for_error(epsilon, &self.delta, rows)?;
        let capacity = ((1.0 / epsilon.to_f64()).ceil() as u64).clamp(1, 1 << 32).max(2 * wanted.min(1 << 31));
        let counters = u64::try_from(shape.cells()).unwrap_or(u64::MAX).saturating_mul(COUNTER);
        check_available(counters.saturating_add(capacity.saturating_mul(LISTED)).saturating_add(LONG_KEYS))?;
        Ok(Sizes { shape, capacity })
    }
}

fn check_available(needed: u64) -> Result<(), Failure> {
    crate::memory::check_memory("the sketch needs", needed, "choose a larger --epsilon, or limit the sketch with --memory")
}
