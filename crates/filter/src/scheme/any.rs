//! A type for any scheme, for programs that select the scheme at run time.

use super::{Scheme, SchemeId, spread_schemes};
use crate::error::BuildError;
use crate::hash::KeyHash;
use alloc::boxed::Box;
use truebloom_math::Law;

macro_rules! any_scheme {
    ($($(#[$when:meta])* $scheme:ident by $batches:ident,)*) => {
        /// Any scheme except the blocked scheme, selected at run time by its number or name. Use
        /// this type for files whose scheme is not known in advance. This type is slower than the
        /// scheme's own type, because it takes an additional branch per key and an additional
        /// branch per position.
        ///
        /// ```
        /// use truebloom::scheme::{AnyScheme, Scheme, SchemeId};
        /// use truebloom::{FilterOf, PortableHasher, Seed};
        /// let hasher = PortableHasher::xxh3(Seed::random()?);
        /// let scheme = AnyScheme::named(SchemeId::Cube, 9_600, 7)?;
        /// let filter = FilterOf::with_scheme(scheme, hasher)?;
        /// assert_eq!(filter.scheme().id().name(), "cube");
        /// # Ok::<(), truebloom::BuildError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each is documented at its own type")]
        pub enum AnyScheme {
            $($(#[$when])* $scheme(super::$scheme),)*
        }

        impl AnyScheme {
            /// Creates the scheme that has this number in files.
            ///
            /// # Errors
            /// Returns an error if the scheme does not allow these `bits` and `probes`. Also
            /// returns an error for the blocked scheme, and for a scheme whose Cargo feature is
            /// disabled.
            pub fn named(id: SchemeId, bits: u64, probes: u32) -> Result<AnyScheme, BuildError> {
                Ok(match id {
                    $($(#[$when])* SchemeId::$scheme => AnyScheme::$scheme(Scheme::new(bits, probes)?),)*
                    _ if id.block_bits().is_some() => return Err(BuildError::InLines),
                    // All other schemes are handled above, unless the crate is built without their
                    // feature.
                    _ => return Err(BuildError::LeftOut { scheme: id }),
                })
            }
        }

        impl Scheme for AnyScheme {
            const ID: SchemeId = SchemeId::Standard;

            /// Makes the standard scheme. For other schemes, use [`AnyScheme::named`].
            fn new(bits: u64, probes: u32) -> Result<AnyScheme, BuildError> {
                AnyScheme::named(SchemeId::Standard, bits, probes)
            }

            fn with_id(id: SchemeId, bits: u64, probes: u32) -> Result<AnyScheme, BuildError> {
                AnyScheme::named(id, bits, probes)
            }

            fn id(&self) -> SchemeId {
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.id(),)* }
            }

            #[inline]
            fn bits(&self) -> u64 {
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.bits(),)* }
            }

            #[inline]
            fn probes(&self) -> u32 {
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.probes(),)* }
            }

            /// Returns a boxed iterator, which is slower than the iterator of the scheme's own
            /// type. The method [`all`](Scheme::all) is faster than this iterator.
            fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => Box::new(Scheme::positions(scheme, hash)) as Box<dyn Iterator<Item = u64> + '_>,)* }
            }

            // The closure is passed as a `dyn Fn`, so that this code is compiled once for each
            // scheme.
            fn all(&self, hash: KeyHash, has: impl Fn(u64) -> bool) -> bool {
                let has: &dyn Fn(u64) -> bool = &has;
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.all(hash, has),)* }
            }

            // The closure is passed as a `dyn FnMut`, so that this code is compiled once for each
            // scheme.
            fn each(&self, hash: KeyHash, mut take: impl FnMut(u64)) {
                let take: &mut dyn FnMut(u64) = &mut take;
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.each(hash, take),)* }
            }

            fn slices(&self) -> u32 {
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.slices(),)* }
            }

            fn law(&self) -> Box<dyn Law> {
                match self { $($(#[$when])* AnyScheme::$scheme(scheme) => scheme.law(),)* }
            }
        }
    };
}

spread_schemes!(any_scheme);
