//! The time to open a filter in a mapped file, for several sizes of the file.
#![allow(unsafe_code, reason = "mapping a file is sound only if the file does not change; the files here are this program's own")]

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;
use truebloom::BloomFilter;

const BYTES: [u64; 4] = [1_000, 1_000_000, 1_000_000_000, 10_000_000_000];
const ROUNDS: u32 = 1_000;

/// Prints the table to standard output.
pub(crate) fn report() {
    println!("| bytes of bits | map and open µs | view of the mapped bytes ns | first question µs |");
    println!("|---|---|---|---|");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("large.tbl");
    for bytes in BYTES {
        save_sparse(&BloomFilter::with_bits_and_probes(8 * bytes, 7).expect("address space").with_small_pages(), &path).expect("room");
        row(bytes, &path);
    }
}

fn row(bytes: u64, path: &Path) {
    // SAFETY: no other program writes to the file; this is also true below.
    let map = || unsafe { BloomFilter::map(path) }.expect("mapped");
    let opening = mean(|| drop(black_box(map())));
    // SAFETY: as above.
    let mapped = unsafe { truebloom::file::Mapped::open(path) }.expect("mapped");
    let viewing = mean(|| drop(black_box(BloomFilter::view(black_box(mapped.as_ref())))));
    let filter = map();
    let start = Instant::now();
    black_box(filter.contains(&bytes));
    let first = start.elapsed();
    println!("| {bytes} | {:.1} | {:.0} | {:.1} |", 1e6 * opening, 1e9 * viewing, 1e6 * first.as_secs_f64());
}

/// The mean time of a call, in seconds.
fn mean(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..ROUNDS).for_each(|_| run());
    start.elapsed().as_secs_f64() / f64::from(ROUNDS)
}

/// Writes the file sparsely: zeros become holes, which take no disk space.
fn save_sparse(filter: &BloomFilter, path: &Path) -> io::Result<()> {
    let mut sparse = Sparse(File::create(path)?);
    filter.write_to(&mut sparse)?;
    let length = sparse.0.stream_position()?;
    sparse.0.set_len(length)
}

struct Sparse(File);

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.iter().any(|byte| *byte != 0) {
            return self.0.write(bytes);
        }
        let length = i64::try_from(bytes.len()).map_err(io::Error::other)?;
        self.0.seek(SeekFrom::Current(length)).map(|_| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
