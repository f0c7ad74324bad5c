//! Filters of any layout and scheme, and the options for their sizes.

use crate::failure::{Failure, Shown};
use crate::lock::Lock;
use crate::report::{count, fpr as fpr_text, rate_up};
use crate::stop;
use std::path::{Path, PathBuf};
use truebloom::{AnyFilter, Backing, Counted, FileError, FormatError, PortableHasher, Seed};
use truebloom_math::SchemeId;
pub(crate) use truebloom_report::blocked::Alternative;

pub(crate) fn open(path: &Path) -> Result<AnyFilter, Failure> {
    AnyFilter::open(path).map_err(Failure::from)
}

/// Returns the number of bytes for the filter's bits.
pub(crate) fn bytes<K: Backing>(filter: &AnyFilter<K>) -> u64 {
    bytes_of(filter.bits())
}

/// Returns the number of bytes for this many bits, rounded up to whole words.
pub(crate) fn bytes_of(bits: u64) -> u64 {
    bits.div_ceil(64).saturating_mul(8)
}

/// The hasher for these options, with a random seed unless one is given.
pub(crate) fn hasher(seed: Option<Seed>, untrusted: bool) -> Result<PortableHasher, Failure> {
    let seed = seed.map_or_else(Seed::random, Ok).map_err(Failure::new)?;
    Ok(if untrusted { PortableHasher::sip13(seed) } else { PortableHasher::xxh3(seed) })
}

/// Writes a filter to the locked file; returns an error if a signal has arrived.
pub(crate) fn save(filter: &AnyFilter, lock: &Lock) -> Result<(), Failure> {
    let shield = stop::last_moment()?;
    lock.save(&shield, |file| filter.write_to(file))
}

/// Returns an error if the file to write is also an input.
pub(crate) fn check_not_input(path: &Path, inputs: &[PathBuf], reads_nothing: bool) -> Result<(), Failure> {
    match crate::inputs::same_file(path, inputs).filter(|_| !reads_nothing) {
        Some(input) => Err(Failure::at(
            path,
            format_args!(
                "this file is also an input ({}) and would be overwritten; choose another file to write",
                crate::inputs::name(input).shown()
            ),
        )),
        None => Ok(()),
    }
}

/// Returns an error if a layout other than standard is combined with a scheme that has its own
/// layout.
pub(crate) fn check_layout(scheme: SchemeId, layout: Layout) -> Result<(), Failure> {
    if layout == Layout::Standard || matches!(scheme, SchemeId::Standard | SchemeId::Blocked) {
        return Ok(());
    }
    Err(Failure::new("a blocked filter has its own scheme: leave --scheme or --layout out"))
}

/// Returns the message that a filter holds more items than planned. For most filters, the number of
/// keys that set new bits proves this. For a merged filter, the number of set bits shows it with
/// near certainty. For a filter that grows, the message is about the rate, because such a filter
/// has no planned number of items.
pub(crate) fn over_capacity<K: Counted>(filter: &AnyFilter<K>) -> String {
    if let (AnyFilter::Scalable(_), Some(asked)) = (filter, filter.rate()) {
        return format!(
            "the filter's rate is at most {} now, above the requested {asked}. A union of filters that grow can exceed the requested rate even if each of them meets it. To meet the rate, make one filter from the original data of all of them",
            rate_up(filter.fpr().upper, 3)
        );
    }
    let (changed, capacity) = (filter.changed(), filter.capacity().unwrap_or(0));
    let now = filter.fpr();
    let (is, rate) = if filter.fill_tells_rate() { ("is", fpr_text(&now, 4)) } else { ("is at most", rate_up(now.upper, 3)) };
    let beside = match filter.rate().map(|asked| (asked, now.upper <= asked.to_f64())) {
        Some((asked, true)) => format!(", still at most the requested {asked}"),
        Some((asked, false)) if filter.fill_tells_rate() => format!(", above the requested {asked}"),
        _ => String::new(),
    };
    let now = format!(
        "but was planned for {}, so its guarantee no longer holds; the rate {is} {rate} now{beside}; plan a larger filter with `truebloom create -n`",
        count(capacity)
    );
    let most = Some(filter.most_items()).filter(|most| *most < u64::MAX);
    if changed > capacity {
        let range = match most {
            Some(most) if most == changed => count(changed),
            Some(most) => format!("{} to {}", count(changed), count(most)),
            None => format!("at least {}", count(changed)),
        };
        return format!("the filter holds {range} distinct items, {now}");
    }
    let found = filter.estimated_items().map_or("more items than planned (judging by its set bits)".to_owned(), |items| {
        let about = count((items as u64).min(filter.most_items()));
        let most = most.map_or(String::new(), |most| format!(", at most {}", count(most)));
        format!("about {about} items (estimated from its set bits{most})")
    });
    format!("the filter holds {found}, {now}")
}

/// Where a key's positions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layout {
    // The layouts have no docs, because these would make the verb's help long.
    Standard,
    Blocked,
    Auto,
}

impl Layout {
    /// The layout as the planner names it.
    pub(crate) fn planned(self) -> truebloom_math::Layout {
        match self {
            Layout::Standard => truebloom_math::Layout::Spread,
            Layout::Blocked => truebloom_math::Layout::Lines,
            Layout::Auto => truebloom_math::Layout::Auto,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::Standard => "standard",
            Layout::Blocked => "blocked",
            Layout::Auto => "auto",
        }
    }
}

/// Opens a filter for a subcommand that reads these inputs. If opening fails and one of the inputs
/// is a filter, the message says that this input was perhaps meant to be the first argument.
pub(crate) fn open_for<T>(path: &Path, inputs: &[PathBuf], open: impl Fn(&Path) -> Result<T, FileError>) -> Result<T, Failure> {
    open(path).map_err(|error| {
        let foreign = matches!(error, FileError::Format { cause: FormatError::NotAFilter { .. }, .. });
        let swapped = inputs.first().filter(|input| foreign && input.is_file() && AnyFilter::open(input).is_ok());
        match swapped {
            None => Failure::from(error),
            Some(filter) => {
                Failure::at(path, format_args!("this is not a filter, but {} is: put the filter first, then the inputs", filter.shown()))
            }
        }
    })
}
