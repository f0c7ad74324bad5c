//! The real recycling filter, for use in simulations.

use crate::failure::Failure;
use crate::report::bytes;
use truebloom::recycling::{Policy, RecyclingFilter};
use truebloom::scheme::FillScheme;
use truebloom::{BuildError, PortableHasher, Seed};
use truebloom_math::recycling::Subject;

/// A filter to which numbers are offered as keys.
pub(crate) struct Real<S: FillScheme>(pub(crate) RecyclingFilter<PortableHasher, S>);

impl<S: FillScheme> Subject for Real<S> {
    fn offer(&mut self, item: u64) -> bool {
        !self.0.check_and_insert(&item).is_new()
    }

    fn cycles(&self) -> u64 {
        self.0.stats().cycles
    }
}

impl<S: FillScheme> Real<S> {
    /// A filter with this policy.
    pub(crate) fn new(bits: u64, probes: u32, policy: Policy, seed: u64) -> Result<Real<S>, Failure> {
        let hasher = PortableHasher::xxh3(Seed::from(u128::from(seed)));
        RecyclingFilter::with_hasher(bits, probes, policy, hasher).map(Real).map_err(|error| match error {
            BuildError::Memory { bytes: needed } => {
                Failure::new(format_args!("cannot allocate the {} that the filter takes; give fewer bits with -m", bytes(needed)))
            }
            BuildError::Policy { field: "sigma", found, expected, why } => {
                Failure::new(format_args!("--sigma is {found}, but must be {expected}: {why}"))
            }
            error => Failure::new(error),
        })
    }
}
