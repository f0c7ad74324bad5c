//! The most frequent keys of a stream in fixed memory, with guaranteed bounds on their counts.
//! `cargo run --example top_k`.

use std::collections::HashMap;
use truebloom::count_min::HeavyHitters;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Finds every key that makes up at least a thousandth of the stream.
    let mut requests: HeavyHitters = HeavyHitters::for_share("0.1%".try_into()?, "0.001".try_into()?)?;
    // Exact counts, only to check the answer. The sketch does not need this memory.
    let mut exact: HashMap<String, u64> = HashMap::new();

    let mut random = 1u64;
    for _ in 0..300_000 {
        // A few addresses are frequent, and most are rare: the frequency of the i-th address is
        // proportional to 1/i.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let rank = libm::exp((random >> 11) as f64 / (1u64 << 53) as f64 * libm::log(1e6)) as u64;
        let address = format!("/page/{rank}");
        requests.add(&address, 1);
        *exact.entry(address).or_default() += 1;
    }

    println!("{:>9} {:>9}  key", "at most", "at least");
    for hitter in requests.top(10) {
        let key = String::from_utf8_lossy(&hitter.key);
        println!("{:>9} {:>9}  {key}", hitter.at_most, hitter.at_least);
        let count = exact[&*key];
        assert!(hitter.at_least <= count && count <= hitter.at_most, "the bounds are certain");
    }
    let total = requests.sketch().total();
    let often = requests.above(total / 1_000).ok_or("some may be missing")?;
    let missed = exact.iter().filter(|(key, count)| **count >= total / 1_000 && !often.iter().any(|hitter| hitter.key == key.as_bytes()));
    assert_eq!(missed.count(), 0, "complete");
    println!("complete: no other key has more than {} of {total}; {} keys in all", requests.missed_at_most(), exact.len());
    println!("memory: {} bytes", requests.encoded_bytes());
    Ok(())
}
