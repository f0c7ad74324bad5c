//! The filters of the tables of an LSM store, in one mapped file:
//! `cargo run --release -p truebloom --features mmap --example tables`.
//!
//! An LSM store consists of many sorted tables. It queries the filter of each table before it reads
//! the table. All filters have the same plan and seed, so a key is hashed only once. The file is
//! mapped, so opening it does not read the bits of its 10,000 filters.
#![allow(unsafe_code, reason = "to map a file is to promise that nobody writes to it")]
use std::time::Instant;
use truebloom::{BloomFilter, Pack};

const TABLES: u64 = 10_000;
const KEYS: u64 = 5_000;

/// The keys of a table.
fn keys(table: u64) -> impl Iterator<Item = u64> {
    (0..KEYS).map(move |key| key * TABLES + table)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("filters.tbl");

    // The store writes the pack together with its tables.
    let start = Instant::now();
    let mut filter = BloomFilter::new(KEYS, 0.01)?;
    let mut pack = Pack::of(&filter);
    for table in 0..TABLES {
        filter.clear();
        filter.extend(keys(table));
        pack.push(&filter)?;
    }
    pack.save(&path)?;
    println!("built and saved in {:.2?}: {} bytes", start.elapsed(), pack.encoded_bytes());
    drop(pack);

    // The store maps the pack when it opens.
    let start = Instant::now();
    // SAFETY: only the store writes the file, and it replaces the file instead of changing it in
    // place.
    let pack = unsafe { <Pack>::map(&path) }?;
    println!("opened in {:.2?}", start.elapsed());
    let tables = pack.iter().collect::<Result<Vec<_>, _>>()?;
    println!("all tables' filters made in {:.2?}, {} bytes each", start.elapsed(), size_of_val(&tables[0]));

    // The store is queried for keys. Each key is in exactly one table.
    let start = Instant::now();
    let asked = 1_000u64;
    let mut read = 0;
    for key in (0..asked).map(|number| number * 49_999) {
        let hash = pack.hash(&key);
        let candidates = tables.iter().filter(|table| table.contains_hash(hash)).count() as u64;
        assert!(tables[(key % TABLES) as usize].contains_hash(hash), "no table that holds a key is missed");
        read += candidates - 1;
    }
    let time = start.elapsed() / (asked * TABLES) as u32;
    println!("{time:.0?} a question; {:.4} of the tables would be read in vain", read as f64 / (asked * (TABLES - 1)) as f64);
    Ok(())
}
