//! The kinds of files.

use crate::bits::Placed;
use crate::scheme::layouts;
use core::fmt;
use truebloom_math::Layout;

/// The kinds, each with its number in files, what it is, what opens it (the type of this crate and
/// the verb of the command), where the positions of a key lie, and the types that files of it are
/// read as, with the feature that they need: the one list, for macros that generate the same for
/// all.
macro_rules! kinds {
    ($say:ident) => {
        $say! {
            /// A Bloom filter.
            Bloom = 1, "a Bloom filter", "`BloomFilter::open`, or `truebloom check`", Spread, if "any" [crate::AnyFilter];
            /// A blocked Bloom filter.
            Blocked = 2, "a blocked Bloom filter", "`BlockedBloomFilter::open`, or `truebloom check`", Lines, if "any" [crate::AnyFilter];
            /// A recycling filter of one phase.
            RecyclingOnePhase = 3, "a recycling filter of one phase", "`RecyclingFilter::open`, or `truebloom dedup --state`", Spread,
                if "recycling" [crate::RecyclingFilter, crate::RecyclingFilter<crate::PortableHasher, crate::scheme::Classic>];
            /// A recycling filter of two phases.
            RecyclingTwoPhase = 4, "a recycling filter of two phases", "`RecyclingFilter::open`, or `truebloom dedup --state`", Spread,
                if "recycling" [crate::RecyclingFilter, crate::RecyclingFilter<crate::PortableHasher, crate::scheme::Classic>];
            /// A Bloom filter that grows.
            Scalable = 5, "a Bloom filter that grows", "`ScalableFilter::open`, or `truebloom check`", Spread, if "any" [crate::AnyFilter];
            /// A Count-Min sketch.
            CountMin = 6, "a Count-Min sketch", "`CountMin::open`, or `truebloom count query`", Spread,
                if "sketches" [
                    crate::count_min::HeavyHitters<u64>, crate::count_min::CountMin<u64>, crate::count_min::CountMin<u32>,
                    crate::count_min::PairwiseCountMin<u64>, crate::count_min::PairwiseCountMin<u32>
                ];
            /// A Count-Min sketch whose rows are made of two hashes.
            TwoHashCountMin = 7, "a two-hash Count-Min sketch", "`TwoHashCountMin::open`, or `truebloom count query`", Spread,
                if "sketches" [
                    crate::count_min::ListedSketch<crate::count_min::TwoHashRows, u64>,
                    crate::count_min::TwoHashCountMin<u64>, crate::count_min::TwoHashCountMin<u32>
                ];
            /// A blocked recycling filter, of one phase.
            RecyclingBlocked = 8, "a blocked recycling filter", "`BlockedRecyclingFilter::open`, or `truebloom dedup --state`", Lines,
                if "recycling" [crate::recycling::BlockedRecyclingFilter];
            /// Many filters of one plan.
            Pack = 9, "a pack of filters", "`Pack::open`", Spread,
                if "std" [crate::Pack<crate::scheme::Standard>, crate::Pack<crate::scheme::InLines>, crate::Pack<crate::scheme::AnyScheme>];
        }
    };
}
#[cfg(all(feature = "std", feature = "any"))]
pub(super) use kinds;

macro_rules! file_kind {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, $what:literal, $opened_by:literal, $layout:ident, if $feature:literal [$($type:ty),*];)*) => {
        /// What a file holds. The numbers are those of docs/FORMAT.md.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum FileKind {
            $($(#[$doc])* $kind = $number,)*
        }

        impl FileKind {
            /// All of them.
            pub const ALL: [FileKind; [$($number),*].len()] = [$(FileKind::$kind),*];

            /// What opens a file of this kind: the type of this crate and the verb of the command.
            #[must_use]
            pub fn opened_by(self) -> &'static str {
                match self { $(FileKind::$kind => $opened_by,)* }
            }

            /// Where the positions of a key lie in a filter of this kind.
            pub(super) fn layout(self) -> Layout {
                match self { $(FileKind::$kind => Layout::$layout,)* }
            }
        }

        impl fmt::Display for FileKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(FileKind::$kind => $what,)* })
            }
        }
    };
}

kinds!(file_kind);

macro_rules! parameter_bytes {
    ([$($(#[$doc:meta])* $layout:ident of $scheme:ty,)*] ($kind:expr)) => {
        match $kind {
            $(kind if kind == <$scheme>::KIND => <$scheme>::PARAMETER_BYTES,)*
            _ => 0,
        }
    };
}

impl FileKind {
    /// Bytes that the layout's own parameters take in the header of a Bloom filter.
    pub(super) fn layout_bytes(self) -> usize {
        layouts!(parameter_bytes(self))
    }
}
