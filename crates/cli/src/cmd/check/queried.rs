//! What `check` can query: a filter, or a state of `dedup`.

use crate::cmd::dedup::State;
use crate::held::{self, Held, Looked, Viewed};
use crate::opened::Opened;
use crate::records::{Extraction, Lookup};
use std::path::Path;
use truebloom::{FileError, KeyHash, PortableHasher};

/// A filter, or a state as it was when it was read, without the lines that were too old then.
pub(super) type Queried = Opened<Viewed>;

/// The present rate at which keys that were not inserted are found.
pub(super) struct RateNow {
    pub(super) value: f64,
    pub(super) upper: f64,
    /// Whether the value is exact, and not only a bound.
    pub(super) is_exact: bool,
}

impl Opened<Viewed> {
    pub(super) fn open(path: &Path) -> Result<Queried, FileError> {
        Opened::of(path, Held::open(path)?, held::view_at, State::present)
    }

    pub(super) fn hasher(&self) -> &PortableHasher {
        match self {
            Opened::Filter(filter) => filter.hasher(),
            Opened::State(state) => state.hasher(),
        }
    }

    /// How the keys were extracted, if this is known.
    pub(super) fn extraction(&self) -> Option<Extraction> {
        match self {
            Opened::Filter(filter) => Extraction::of(filter.label()),
            Opened::State(state) => Extraction::of_state(state.label()).0,
        }
    }

    /// The present rate; this reads all bits of a filter once.
    pub(super) fn rate(&self, path: &Path) -> Result<RateNow, FileError> {
        Ok(match self {
            Opened::Filter(filter) => {
                let looked: Looked = held::look_closer(path, filter)?;
                let now = looked.fpr();
                // A key that is in some of the filters of an intersection, but not in all, passes
                // at a rate that the bits do not tell.
                if looked.is_intersection() {
                    return Ok(RateNow { value: 1.0, upper: 1.0, is_exact: false });
                }
                RateNow { value: now.value, upper: now.upper, is_exact: looked.fill_tells_rate() }
            }
            Opened::State(state) => RateNow { value: state.fpr(), upper: state.fpr(), is_exact: true },
        })
    }
}

impl Lookup for Opened<Viewed> {
    fn look_up(&self, hashes: &[KeyHash], answers: &mut Vec<u64>) {
        match self {
            Opened::Filter(filter) => answers.extend(filter.contains_all_hashes(hashes).words()),
            Opened::State(state) => state.look_up(hashes, answers),
        }
    }
}
