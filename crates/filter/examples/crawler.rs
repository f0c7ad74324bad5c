//! A crawler's set of URLs, shared by threads and saved while they run:
//! `cargo run --release -p truebloom --example crawler`.
//!
//! Each thread follows links, claims the pages that were not seen yet, and fetches the pages that
//! it claimed. If several threads find the same page at the same time, exactly one of them claims
//! it. From time to time, a snapshot is saved. After a crash, the crawl continues from the last
//! snapshot. Pages that were fetched after this snapshot are fetched again, which costs time, but
//! no page is lost.
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use truebloom::{AtomicBloomFilter, BloomFilter, FileError};

const PAGES: u64 = 1_000_000;
const THREADS: u64 = 4;
const LINKS: u64 = 600_000;

/// Opens the last saved set, or makes a new one.
fn open(path: &Path) -> Result<AtomicBloomFilter, Box<dyn std::error::Error>> {
    match BloomFilter::open(path) {
        Ok(filter) => Ok(filter.into()),
        Err(FileError::Read { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => Ok(BloomFilter::new(PAGES, 0.001)?.into()),
        Err(error) => Err(error.into()),
    }
}

/// The links that a thread finds; many lead to pages that others have found.
fn links(thread: u64) -> impl Iterator<Item = String> {
    (0..LINKS).map(move |link| format!("https://example.org/{}", (thread * 100_000 + link * link % LINKS) % PAGES))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("seen.tbl");
    let start = Instant::now();
    let (seen, fetched) = (open(&path)?, AtomicU64::new(0));
    std::thread::scope(|scope| {
        let crawl = |thread| links(thread).filter(|url| seen.claim(url)).for_each(|_| _ = fetched.fetch_add(1, Relaxed));
        let crawlers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || crawl(thread))).collect();
        while !crawlers.iter().all(|crawler| crawler.is_finished()) {
            std::thread::sleep(std::time::Duration::from_millis(20));
            // The crawl continues while the snapshot is saved. The snapshot contains all keys whose
            // insertion has finished.
            seen.snapshot()?.save(&path)?;
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;
    seen.snapshot()?.save(&path)?;
    let time = start.elapsed();
    println!("{} links by {THREADS} threads in {time:.2?}; {} pages fetched", THREADS * LINKS, fetched.load(Relaxed));

    // After a restart.
    let seen = BloomFilter::open(&path)?;
    assert!((0..THREADS).all(|thread| links(thread).all(|url| seen.contains(&url))), "nothing that was fetched is fetched again");
    println!("{} bytes in the file; a new page is taken for a seen one at a rate of {:.2e}", seen.encoded_bytes(), seen.fpr().value);
    Ok(())
}
