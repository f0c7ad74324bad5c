//! The kinds of files, in one list.

use core::fmt;
use truebloom_math::Layout;

macro_rules! file_kind {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, $what:literal, $opened_by:literal, $layout:ident;)*) => {
        /// The kind of a file. A file stores its kind as the number of the variant
        /// (docs/FORMAT.md).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum FileKind {
            $($(#[$doc])* $kind = $number,)*
        }

        impl FileKind {
            /// All kinds.
            pub const ALL: [FileKind; [$($number),*].len()] = [$(FileKind::$kind),*];

            /// A text that says how to open a file of this kind. The text names a method of this
            /// crate. If the command `truebloom` can open the file, the text also names a
            /// subcommand.
            #[must_use]
            pub fn opened_by(self) -> &'static str {
                match self { $(FileKind::$kind => $opened_by,)* }
            }

            /// Where a key's positions are in a filter of this kind: anywhere, or in one cache
            /// line.
            pub(crate) fn layout(self) -> Layout {
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

file_kind! {
    /// A Bloom filter.
    Bloom = 1, "a Bloom filter", "`BloomFilter::open`, or `truebloom check`", Spread;
    /// A blocked Bloom filter.
    Blocked = 2, "a blocked Bloom filter", "`BlockedBloomFilter::open` (`InPlace::<InLines>::open` to change it in its place), or `truebloom check`", Lines;
    /// A recycling filter (a filter that forgets old items) with one phase. The filter remembers
    /// the items that were offered after its last recycle.
    RecyclingOnePhase = 3, "a recycling filter of one phase", "`<RecyclingFilter>::open`, or `truebloom dedup --state`", Spread;
    /// A recycling filter (a filter that forgets old items) with two phases. The filter remembers
    /// the items that were offered since its second most recent recycle.
    RecyclingTwoPhase = 4, "a recycling filter of two phases", "`<RecyclingFilter>::open`, or `truebloom dedup --state`", Spread;
    /// A Bloom filter that grows.
    Scalable = 5, "a Bloom filter that grows", "`ScalableFilter::open`, or `truebloom check`", Spread;
    /// A Count-Min sketch.
    CountMin = 6, "a Count-Min sketch", "`<HeavyHitters>::open` (`<CountMin>::open` if it has no list of keys), or `truebloom count query`", Spread;
    /// A Count-Min sketch that derives a key's positions in all rows from two hashes.
    TwoHashCountMin = 7, "a two-hash Count-Min sketch", "`<TwoHashCountMin>::open` (`<ListedSketch<TwoHashRows>>::open` if it has a list of keys), or `truebloom count query`", Spread;
    /// A recycling filter that uses one cache line per key. It has one phase.
    RecyclingBlocked = 8, "a blocked recycling filter", "`BlockedRecyclingFilter::open`, or `truebloom dedup --state`", Lines;
    /// Many filters with the same plan and seed.
    Pack = 9, "a pack of filters", "`<Pack>::open` (`<Pack<InLines>>::open` if its filters are blocked)", Spread;
}

impl FileKind {
    /// The number of bytes of the layout's own parameters in the header of a Bloom filter: at most
    /// 16, because eight more bytes and the label follow the parameters.
    pub(crate) const fn layout_bytes(self) -> usize {
        match self {
            FileKind::Blocked => 8,
            _ => 0,
        }
    }
}
