//! The limit of the machine: the speed of reading independent random cache lines of a buffer, with
//! prefetches. No filter that reads one line per key can be faster.

use crate::arch::{bytes_as_words, prefetch};
use crate::keys::scramble;
use memmap2::MmapMut;

/// The number of cache lines that are fetched at the same time. It is the same as in our batches.
const AHEAD: usize = 256;

/// A buffer on pages of one size.
pub(crate) struct Limit {
    words: Vec<u64>,
    lines: u64,
    /// The mapping that owns the pages, unless the words are in a vector.
    map: Option<MmapMut>,
}

impl Limit {
    /// A buffer of this many bytes, on huge pages if the system provides them.
    pub(crate) fn new(bytes: u64, huge_pages: bool) -> Limit {
        let lines = (bytes / 64).max(1);
        let mut limit = Limit { words: Vec::new(), lines, map: None };
        if huge_pages {
            // Room to start at the beginning of a huge page.
            let map = MmapMut::map_anon((bytes as usize).next_multiple_of(64) + (2 << 20)).ok();
            #[cfg(target_os = "linux")]
            map.iter().for_each(|map| drop(map.advise(memmap2::Advice::HugePage)));
            limit.map = map.map(|mut map| {
                map.fill(1);
                map
            });
        }
        if limit.map.is_none() {
            limit.words = vec![1; lines as usize * 8];
        }
        limit
    }

    fn words(&self) -> &[u64] {
        let Some(map) = &self.map else { return &self.words };
        let skipped = (map.as_ptr() as usize).wrapping_neg() % (2 << 20);
        bytes_as_words(&map[skipped..])
    }

    /// Reads a word of this many random lines. The sum prevents the compiler from removing the
    /// reads.
    pub(crate) fn run(&self, start: u64, count: usize) -> u64 {
        let words = self.words();
        let (mut sum, mut places) = (0u64, [0usize; AHEAD]);
        for batch in 0..count.div_ceil(AHEAD) {
            for (i, place) in places.iter_mut().enumerate() {
                let random = scramble(start + (batch * AHEAD + i) as u64);
                *place = ((u128::from(random) * u128::from(self.lines)) >> 64) as usize * 8;
                prefetch(words, *place);
            }
            sum = places.iter().fold(sum, |sum, place| sum.wrapping_add(words.get(*place).copied().unwrap_or(0)));
        }
        sum
    }
}
