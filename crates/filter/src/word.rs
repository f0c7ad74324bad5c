//! Numbers as they are stored in memory.

/// A number in memory, stored as an ordinary integer, or as its little-endian bytes, which need no
/// alignment.
pub trait Lies<N>: Copy + PartialEq + 'static {
    /// The stored number.
    fn get(self) -> N;

    /// The stored form of a number.
    fn of(number: N) -> Self;
}

/// A word of 64 bits in memory. The integer type and its byte array have the same size, eight
/// bytes.
pub trait Word: Lies<u64> + Send + Sync {}

impl Word for u64 {}
impl Word for [u8; 8] {}

/// A word that can be read, perhaps while other threads set its bits.
pub trait Reads {
    /// Whether other threads may change the word while it is read. If so, a vector instruction must
    /// not read it together with other words.
    const IS_SHARED: bool;

    /// The present value of the word.
    fn read(&self) -> u64;
}

/// Whether a bit is set. A position beyond the end counts as unset, but no scheme produces such a
/// position. `get` is used instead of an index only to avoid the code for a panic.
#[inline(always)]
pub(crate) fn is_set<R: Reads>(words: &[R], position: u64) -> bool {
    words.get((position >> 6) as usize).is_some_and(|word| word.read() >> (position & 63) & 1 == 1)
}

impl<W: Word> Reads for W {
    const IS_SHARED: bool = false;

    #[inline(always)]
    fn read(&self) -> u64 {
        self.get()
    }
}

macro_rules! lies {
    ($($number:ty),*) => {$(
        impl Lies<$number> for $number {
            #[inline(always)]
            fn get(self) -> $number {
                self
            }

            #[inline(always)]
            fn of(number: $number) -> $number {
                number
            }
        }

        impl Lies<$number> for [u8; size_of::<$number>()] {
            #[inline(always)]
            fn get(self) -> $number {
                <$number>::from_le_bytes(self)
            }

            #[inline(always)]
            fn of(number: $number) -> [u8; size_of::<$number>()] {
                number.to_le_bytes()
            }
        }
    )*};
}

lies!(u32, u64);
