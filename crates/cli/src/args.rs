//! Parsing of numbers as people write them: `10M`, `64MiB`, `0.1%`.

use crate::failure::Failure;
use clap::Args;
use truebloom_math::{Promise, Rate, Target};
pub(crate) use truebloom_report::read::*;

/// The quantities of a filter that are given as options; the planner computes the others.
#[derive(Args)]
pub(crate) struct Size {
    /// Number of distinct items that the filter must hold: 1000, 10M, 2.5e9
    #[arg(short = 'n', long, alias = "capacity", value_name = "N", value_parser = items, allow_hyphen_values = true)]
    pub(crate) items: Option<u64>,

    /// False-positive rate to guarantee: 0.1%, 0.001, 1/1000 or 1e-3 (all are the same)
    #[arg(short = 'p', long = "fpr", aliases = ["rate", "error-rate"], value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub(crate) rate: Option<Rate>,

    /// Size of the filter, in bits (1M, 64Mi) or bytes (2MB, 64MiB)
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = bits, allow_hyphen_values = true)]
    pub(crate) bits: Option<u64>,

    /// Number of probes (hash positions) per item [default: the best number]
    #[arg(short = 'k', long, value_name = "K", value_parser = probes, allow_hyphen_values = true)]
    pub(crate) probes: Option<u32>,

    /// Probability with which a single filter must meet the rate (default 99.9%). The filter
    /// also meets the rate on average over all seeds
    #[arg(long, value_name = "SHARE", value_parser = confidence)]
    pub(crate) confidence: Option<f64>,

    /// Guarantee only the average rate. This takes fewer bits, but about half of all filters have a
    /// rate slightly above the requested rate
    #[arg(long, conflicts_with = "confidence")]
    pub(crate) mean: bool,

    /// Refuse a filter larger than this: 64MiB, 2GB. By default, `create` refuses only a filter
    /// that exceeds the available memory
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    pub(crate) max_memory: Option<u64>,
}

impl Size {
    /// Returns the target that these options describe, for a 128-bit hash.
    pub(crate) fn target(&self) -> Target {
        let max_bits = self.max_memory.map(|bytes| bytes.saturating_mul(8));
        Target {
            items: self.items,
            rate: self.rate,
            bits: self.bits,
            probes: self.probes,
            max_bits,
            promise: self.promise(),
            ..Target::default()
        }
    }

    fn promise(&self) -> Promise {
        match (self.mean, self.confidence) {
            (true, _) => Promise::Mean,
            (false, Some(confidence)) => Promise::OneFilter { confidence },
            (false, None) => Promise::default(),
        }
    }
}

/// Parses a number of probes, up to the most that a filter can have.
pub(crate) fn probes(text: &str) -> Result<u32, String> {
    probes_up_to(truebloom::MAX_PROBES, text)
}

/// Refuses an option that has no effect without another option. Each option is a pair: its name,
/// and whether it is given. The parser's own `requires` is not enough: it is not enforced if the
/// required option conflicts with another given option.
pub(crate) fn needs((option, is_given): (&str, bool), (other, has_other): (&str, bool)) -> Result<(), Failure> {
    if is_given && !has_other {
        return Err(Failure::new(format_args!("{option} has no effect without {other}; leave it out, or give both")));
    }
    Ok(())
}
