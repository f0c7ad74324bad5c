//! What `check` can query: a filter, or a state of `dedup`.

use crate::cmd::dedup::{State, is_state};
use crate::held::{self, Held, Looked, Viewed, format_error};
use crate::records::{Extraction, Lookup};
use std::path::Path;
use truebloom::{FileError, FormatError, KeyHash, PortableHasher};

pub(super) enum Queried {
    Filter(Viewed),
    /// The state as it was when it was read, without the lines that were too old then.
    State(State),
}

/// The present rate at which keys that were not inserted are found.
pub(super) struct Found {
    pub(super) value: f64,
    pub(super) upper: f64,
    /// Whether the value is exact, and not only a bound.
    pub(super) is_exact: bool,
}

impl Queried {
    pub(super) fn open(path: &Path) -> Result<Queried, FileError> {
        let filter = match held::view(path) {
            Err(FileError::Format { cause: FormatError::Kind { found }, .. }) if is_state(found) => {
                let state = State::present(Held::open(path)?.as_ref());
                return state.map(Queried::State).map_err(|cause| format_error(path, cause));
            }
            filter => filter?,
        };
        Ok(Queried::Filter(filter))
    }

    pub(super) fn hasher(&self) -> &PortableHasher {
        match self {
            Queried::Filter(filter) => filter.hasher(),
            Queried::State(state) => state.hasher(),
        }
    }

    /// How the keys were extracted, if this is known.
    pub(super) fn extraction(&self) -> Option<Extraction> {
        match self {
            Queried::Filter(filter) => Extraction::of(filter.label()),
            Queried::State(state) => Extraction::of_state(state.label()).0,
        }
    }

    /// The present rate; this reads all bits of a filter once.
    pub(super) fn rate(&self, path: &Path) -> Result<Found, FileError> {
        Ok(match self {
            Queried::Filter(filter) => {
                let looked: Looked = held::look_closer(path, filter)?;
                let now = looked.fpr();
                Found { value: now.value, upper: now.upper, is_exact: looked.fill_tells_rate() }
            }
            Queried::State(state) => Found { value: state.fpr(), upper: state.fpr(), is_exact: true },
        })
    }
}

impl Lookup for Queried {
    fn look_up(&self, hashes: &[KeyHash], answers: &mut Vec<u64>) {
        match self {
            Queried::Filter(filter) => answers.extend(filter.contains_all_hashes(hashes).words()),
            Queried::State(state) => state.look_up(hashes, answers),
        }
    }
}
