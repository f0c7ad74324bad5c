//! The same program as `crates/filter/examples/tables.rs`, with fastbloom: `cargo run --release -p
//! truebloom-bench --example tables_fastbloom`.
use fastbloom::BloomFilter;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

const TABLES: u64 = 10_000;
const KEYS: u64 = 5_000;
const SEED: u128 = 42;

/// The keys of a table.
fn keys(table: u64) -> impl Iterator<Item = u64> {
    (0..KEYS).map(move |key| key * TABLES + table)
}

fn empty() -> BloomFilter {
    BloomFilter::with_false_pos(0.01).seed(&SEED).expected_items(KEYS as usize)
}

/// fastbloom has no file format, so this program defines one: the number of hashes, the number of
/// words of a filter, and the words of all filters. Only the length of the file is checked.
fn save(filters: &[BloomFilter], path: &Path) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let first = filters.first().ok_or(std::io::ErrorKind::InvalidInput)?;
    file.write_all(&first.num_hashes().to_le_bytes())?;
    file.write_all(&(first.as_slice().len() as u32).to_le_bytes())?;
    for filter in filters {
        for word in filter.as_slice() {
            file.write_all(&word.to_le_bytes())?;
        }
    }
    file.into_inner()?.sync_all()
}

/// A filter needs its own vector of words, so the whole file is read and copied.
fn open(path: &Path) -> std::io::Result<Vec<BloomFilter>> {
    let bytes = std::fs::read(path)?;
    let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let (hashes, rest) = bytes.split_first_chunk().ok_or_else(invalid)?;
    let (words, rest) = rest.split_first_chunk().ok_or_else(invalid)?;
    let (hashes, words) = (u32::from_le_bytes(*hashes), u32::from_le_bytes(*words) as usize);
    if words == 0 || rest.len() % (8 * words) != 0 {
        return Err(invalid());
    }
    let filter = |words: &[[u8; 8]]| {
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        BloomFilter::from_vec(words).seed(&SEED).hashes(hashes)
    };
    Ok(rest.as_chunks().0.chunks(words).map(filter).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("filters.bin");

    // The filters are written with the tables.
    let start = Instant::now();
    let filled = |table| {
        let mut filter = empty();
        keys(table).for_each(|key| _ = filter.insert(&key));
        filter
    };
    let filters: Vec<BloomFilter> = (0..TABLES).map(filled).collect();
    save(&filters, &path)?;
    println!("built and saved in {:.2?}: {} bytes", start.elapsed(), std::fs::metadata(&path)?.len());
    drop(filters);

    // The filters are opened with the store.
    let start = Instant::now();
    let tables = open(&path)?;
    println!(
        "all tables' filters made in {:.2?}, {} bytes each",
        start.elapsed(),
        size_of_val(&tables[0]) + 8 * tables[0].as_slice().len()
    );

    // Queries: each key is in one table. Filters with the same seed compute the same hash, so a key
    // is hashed only once here, too.
    let start = Instant::now();
    let asked = 1_000u64;
    let mut read = 0;
    for key in (0..asked).map(|number| number * 49_999) {
        let hash = tables[0].source_hash(&key);
        let candidates = tables.iter().filter(|table| table.contains_hash(hash)).count() as u64;
        assert!(tables[(key % TABLES) as usize].contains_hash(hash), "no table that holds a key is missed");
        read += candidates - 1;
    }
    let time = start.elapsed() / (asked * TABLES) as u32;
    println!("{time:.0?} a question; {:.4} of the tables would be read in vain", read as f64 / (asked * (TABLES - 1)) as f64);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
