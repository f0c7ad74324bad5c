//! Carries out the known attacks on Bloom filters, and prints which of them succeed:
//! `cargo run --release -p truebloom --example attacks`.
//!
//! *Pollution*: the attacker tries to insert only keys that set `probes` new bits each. The filter
//! then fills as fast as possible, and its rate is far above the planned rate. *Queries*: the
//! attacker looks for keys that pass although they were never inserted, and tries them on the real
//! filter. The attacker either reads the seed in the file, or guesses a seed, or has only the
//! filter's answers. All seeds are fixed, except those that the table calls random.

use truebloom::{BloomFilter, PortableHasher, Rate, Seed, Target};
use truebloom_math::Plan;

const ITEMS: u64 = 2_000;
const CANDIDATES: u64 = 2_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::new(&Target { items: Some(ITEMS), rate: Some("1%".parse::<Rate>()?), ..Target::default() })?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("real.tbl");
    println!("{ITEMS} items at 1%: {} bits, {} probes; up to {CANDIDATES} keys are tried\n", plan.bits, plan.probes);
    println!("{:<9}  {:<10}  {:<22}  {:<42}  verdict", "attack", "hasher", "attacker has", "found");
    for (name, make) in [("XXH3", PortableHasher::xxh3 as fn(Seed) -> PortableHasher), ("SipHash", PortableHasher::sip13)] {
        for known in [Knows::Seed, Knows::OtherSeed, Knows::Answers] {
            let mut real = BloomFilter::from_plan_with_hasher(&plan, make(Seed::random()?))?;
            real.save(&path)?;
            // Anyone who can read the file can read the seed.
            let seed = match known {
                Knows::Seed => BloomFilter::open(&path)?.seed(),
                Knows::OtherSeed => Seed::random()?,
                Knows::Answers => Seed::from(0),
            };
            let mut model = BloomFilter::from_plan_with_hasher(&plan, make(seed))?;
            // An attacker who has only the answers can choose keys that the filter does not
            // contain, but cannot count the bits that they set.
            let mut candidates = (0..CANDIDATES).map(|i| format!("key {i}"));
            for _ in 0..ITEMS {
                let chosen = candidates.find(|key| match known {
                    Knows::Answers => !real.contains(key.as_str()),
                    _ => sets_all(&mut model, key, plan.probes),
                });
                let Some(key) = chosen else { break };
                real.insert(key.as_str());
            }
            let fpr = real.fpr().value;
            let verdict = if fpr > 0.02 { "succeeds" } else { "fails" };
            println!("{:<9}  {name:<10}  {:<22}  a filter with a rate of {fpr:<18.5}  {verdict}", "pollution", known.text());
        }
        for known in [Knows::Seed, Knows::OtherSeed, Knows::Answers] {
            let mut real = BloomFilter::from_plan_with_hasher(&plan, make(Seed::random()?))?;
            let seed = if let Knows::Seed = known { real.seed() } else { Seed::random()? };
            let mut model = BloomFilter::from_plan_with_hasher(&plan, make(seed))?;
            (0..ITEMS).for_each(|i| {
                real.insert(format!("member {i}").as_str());
                model.insert(format!("member {i}").as_str());
            });
            let oracle = if let Knows::Answers = known { &real } else { &model };
            let chosen: Vec<String> = (0..200_000).map(|i| format!("key {i}")).filter(|key| oracle.contains(key.as_str())).collect();
            let passed = chosen.iter().filter(|key| real.contains(key.as_str())).count();
            let verdict = match known {
                Knows::Answers => "succeeds, after 1/p tries a key: as with any Bloom filter",
                _ if 10 * passed > chosen.len() => "succeeds",
                _ => "fails",
            };
            println!(
                "{:<9}  {name:<10}  {:<22}  {:<42}  {verdict}",
                "queries",
                known.text(),
                format!("{passed} of {} chosen keys pass", chosen.len())
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Knows {
    Seed,
    OtherSeed,
    Answers,
}

impl Knows {
    fn text(self) -> &'static str {
        match self {
            Knows::Seed => "the file, so the seed",
            Knows::OtherSeed => "a guessed seed",
            Knows::Answers => "the filter's answers",
        }
    }
}

/// Inserts a key if it sets exactly `probes` new bits. Returns whether it was inserted.
fn sets_all(model: &mut BloomFilter, key: &str, probes: u32) -> bool {
    let before = model.ones();
    let mut with = model.clone();
    with.insert(key);
    let all = with.ones() == before + u64::from(probes);
    if all {
        *model = with;
    }
    all
}
