//! Fills a filter to its capacity and compares the requested rate with the proven and the measured
//! rate: `cargo run --example quickstart`.
use truebloom::BloomFilter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let items = 100_000;
    let mut seen = BloomFilter::new(items, 0.001)?;
    seen.extend(0..items);

    assert!((0..items).all(|key| seen.contains(&key)), "a key that was inserted is always found");
    let queries = 10_000_000;
    let hits = (items..items + queries).filter(|key| seen.contains(key)).count();

    println!("asked        0.001");
    if let Some(expected) = seen.expected_fpr()? {
        println!("proven       at most {:.6} on average over all seeds", expected.upper);
    }
    println!("this filter  {:.6}", seen.fpr().value);
    println!("measured     {:.6} ({hits} of {queries} keys that were never inserted)", hits as f64 / queries as f64);
    Ok(())
}
