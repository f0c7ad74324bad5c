//! A file that may hold a filter or a state of `dedup`, for the verbs that accept both.

use crate::cmd::dedup::{State, is_state};
use crate::held::{Held, format_error};
use std::path::Path;
use truebloom::{FileError, FormatError};

/// A filter or a state. `F` is a filter of which as much was read and checked as the verb needs.
pub(crate) enum Opened<F> {
    Filter(F),
    State(Box<State>),
}

impl<F> Opened<F> {
    /// Opens the file with this name and these bytes. `filter` opens a filter, and `state` opens a
    /// state.
    pub(crate) fn of(
        name: &Path,
        bytes: Held,
        filter: impl FnOnce(Held) -> Result<F, FormatError>,
        state: impl FnOnce(&[u8]) -> Result<State, FormatError>,
    ) -> Result<Opened<F>, FileError> {
        let opened = match filter(bytes.clone()) {
            Err(FormatError::Kind { found }) if is_state(found) => state(bytes.as_ref()).map(|state| Opened::State(Box::new(state))),
            filter => filter.map(Opened::Filter),
        };
        opened.map_err(|cause| format_error(name, cause))
    }
}
