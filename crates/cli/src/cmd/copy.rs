//! `truebloom copy`: makes a second filter that can be merged with the first.

use crate::failure::{Failure, Shown};
use crate::filters;
use crate::lock::Lock;
use crate::report::{FormatArgs, Report, bytes, significant};
use crate::stop;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::{AnyFilter, Filter, wire};
use truebloom_math::entropy_bits;

const EXAMPLES: &str = "\
Examples:
  truebloom copy seen.tbl backup.tbl
  truebloom copy --compress seen.tbl small.tbl
  truebloom copy --empty monday.tbl tuesday.tbl    an empty filter that can be merged with monday.tbl";

/// Copy a filter, with its keys or (with --empty) without them
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to copy
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// The filter to write
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Copy only the plan and the seed, not the keys
    #[arg(long)]
    empty: bool,

    /// Compress the copy, for example to send it; its size is then close to the entropy of its
    /// bits. Every command reads compressed files. A command that changes a compressed file writes
    /// it back uncompressed, and `copy` without --compress writes an uncompressed copy
    #[arg(long)]
    compress: bool,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    // Always refused, because a filter cannot be given another seed. The option is hidden, and
    // exists for the message.
    #[arg(long, value_name = "HEX", hide = true)]
    seed: Option<String>,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.seed.is_some() {
        return Err(Failure::new(
            "the seed of a filter cannot be changed, because the filter does not store the keys themselves; build a new filter from the data with `truebloom create --seed`",
        ));
    }
    let lock = Lock::of_output(&args.out, args.force)?;
    let mut filter = filters::open(&args.filter)?;
    if args.empty {
        filter.clear();
    }
    let compressed = args.compress.then(|| compressed(&filter)).transpose()?;
    match &compressed {
        Some(bytes) => lock.save(&stop::last_moment()?, |mut file| file.write_all(bytes))?,
        None => filters::save(&filter, &lock)?,
    }
    let mut report = Report::new("copy");
    report.field("filter", args.out.display().to_string()).field("from", args.filter.display().to_string()).field("empty", args.empty);
    let what = if args.empty { ", as an empty filter" } else { "" };
    report.line("copied", format!("{} to {}{what}", args.filter.shown(), args.out.shown()));
    super::add_state(&mut report, &filter)?;
    if let Some(bytes) = compressed {
        add_compressed(&mut report, &filter, bytes.len() as u64);
    }
    report.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

fn compressed(filter: &AnyFilter) -> Result<Vec<u8>, Failure> {
    let bytes = filter.to_bytes().map_err(Failure::new)?;
    wire::compress(&bytes).map_err(Failure::new)
}

/// Adds the size of the compressed file, and the entropy of the bits, given how many of them are
/// set.
fn add_compressed(report: &mut Report, filter: &AnyFilter, size: u64) {
    let of = |bits: u64, ones: u64| entropy_bits(bits, ones) / 8.0;
    let entropy: f64 = match filter {
        AnyFilter::Scalable(grown) => grown.layers().iter().zip(grown.layer_ones()).map(|(layer, ones)| of(layer.bits(), ones)).sum(),
        _ => of(filter.bits(), filter.ones()),
    };
    let whole = filter.encoded_bytes();
    report.field("compressed", json!({ "bytes": size, "of": whole, "entropy_bytes": entropy }));
    let gap = if entropy >= 1.0 {
        format!(", {}% above the entropy of the bits", significant(100.0 * (size as f64 / entropy - 1.0), 2))
    } else {
        String::new()
    };
    report.line("compressed", format!("{} instead of {}{gap}", bytes(size), bytes(whole)));
}
