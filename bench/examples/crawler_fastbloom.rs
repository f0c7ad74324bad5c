//! The same program as `crates/filter/examples/crawler.rs`, with fastbloom: `cargo run --release -p
//! truebloom-bench --example crawler_fastbloom`.
use fastbloom::AtomicBloomFilter;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

const PAGES: u64 = 1_000_000;
const THREADS: u64 = 4;
const LINKS: u64 = 600_000;
const SEED: u128 = 42;

/// The set that was saved last, or a new one. fastbloom has no file format, so this program defines
/// one: the number of hashes and the words.
fn open(path: &Path) -> std::io::Result<AtomicBloomFilter> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
            let (hashes, words) = bytes.split_first_chunk().ok_or_else(invalid)?;
            let (words, rest) = words.as_chunks();
            if words.is_empty() || !rest.is_empty() {
                return Err(invalid());
            }
            let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
            Ok(AtomicBloomFilter::from_vec(words).seed(&SEED).hashes(u32::from_le_bytes(*hashes)))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(AtomicBloomFilter::with_false_pos(0.001).seed(&SEED).expected_items(PAGES as usize))
        }
        Err(error) => Err(error),
    }
}

/// Replaces the file as a whole or not at all: the words are written to a temporary file beside it,
/// synchronised to the disk, and renamed.
fn save(seen: &AtomicBloomFilter, path: &Path) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&beside)?);
    file.write_all(&seen.num_hashes().to_le_bytes())?;
    for word in seen.iter() {
        file.write_all(&word.to_le_bytes())?;
    }
    file.into_inner()?.sync_all()?;
    std::fs::rename(beside, path)
}

/// The links that a thread finds; many lead to pages that other threads have found.
fn links(thread: u64) -> impl Iterator<Item = String> {
    (0..LINKS).map(move |link| format!("https://example.org/{}", (thread * 100_000 + link * link % LINKS) % PAGES))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("crawler-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("seen.bin");
    let start = Instant::now();
    let (seen, fetched) = (open(&path)?, AtomicU64::new(0));
    std::thread::scope(|scope| {
        // `insert` is true for a key that was already contained.
        let crawl = |thread| links(thread).filter(|url| !seen.insert(url)).for_each(|_| _ = fetched.fetch_add(1, Relaxed));
        let crawlers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || crawl(thread))).collect();
        while !crawlers.iter().all(|crawler| crawler.is_finished()) {
            std::thread::sleep(std::time::Duration::from_millis(20));
            save(&seen, &path)?;
        }
        Ok::<(), std::io::Error>(())
    })?;
    save(&seen, &path)?;
    let time = start.elapsed();
    println!("{} links by {THREADS} threads in {time:.2?}; {} pages fetched", THREADS * LINKS, fetched.load(Relaxed));

    // The program continues after a restart.
    let seen = open(&path)?;
    assert!((0..THREADS).all(|thread| links(thread).all(|url| seen.contains(&url))), "nothing that was fetched is fetched again");
    println!("{} bytes in the file", std::fs::metadata(&path)?.len());
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
