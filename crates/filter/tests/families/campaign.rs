//! Tests filters with every family of keys for one group of cases, and gives the result.

use crate::common::SplitMix64;
use crate::evidence::{Hits, fill_p_value};
use crate::keys::{AnyKey, FAMILIES, Family, Setting};
use truebloom::scheme::SchemeId;
use truebloom::{AnyFilter, Filter, HasherId, Key, KeyHash, PortableHasher, Seed};
use truebloom_math::{Fpr, Plan, Target};

/// The probability with which any test of a group may fail, over all families together.
pub const ALPHA: f64 = 1e-6;

/// How a filter is queried for keys that were not inserted.
#[derive(Clone, Copy)]
pub enum Asked {
    /// Each filter is queried for many keys, in a batch; the filter's own rate follows from its set
    /// bits.
    Often,
    /// Each filter is queried for one key; the rate is the expected one, whatever the fill is.
    Once,
}

/// How the numbers of bits and probes are chosen.
#[derive(Clone, Copy)]
pub enum Size {
    /// The size that a plan for this rate gives.
    Rate(&'static str),
    /// These numbers of bits and probes; the bits are rounded up to a number that the scheme
    /// supports.
    Given(u64, u32),
}

/// Filters of one kind and size.
#[derive(Clone, Copy)]
pub struct Case {
    pub scheme: SchemeId,
    pub hasher: HasherId,
    pub items: u64,
    pub size: Size,
    pub asked: Asked,
    /// The number of queried keys per family that were not inserted, at scale 1.
    pub strangers: u64,
}

/// A function from a key and the filter's hasher to a hash.
pub type Hash = fn(&PortableHasher, &dyn Key) -> KeyHash;

/// How keys become hashes: by the filter itself, or by a bad hash that the campaign has to reject.
#[derive(Clone, Copy)]
pub enum Hashing {
    Own,
    Bad(Hash),
}

/// Cases with more keys or more queries than this run only in the long form.
const QUICK_ITEMS: u64 = 1_000;
const QUICK_STRANGERS: u64 = 20_000;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The result of one test: for one family in a case, or for several together.
pub struct Finding {
    pub what: String,
    pub p: f64,
}

/// The results of a campaign.
pub struct Outcome {
    /// The results of all tests, in the order of their p-values.
    findings: Vec<Finding>,
}

impl Outcome {
    /// The level of each test, by Bonferroni's correction.
    fn level(tests: usize) -> f64 {
        ALPHA / tests as f64
    }

    /// The tests that fail.
    pub fn rejected(&self) -> impl Iterator<Item = &Finding> {
        let level = Outcome::level(self.findings.len());
        self.findings.iter().take_while(move |finding| finding.p < level)
    }
}

/// Runs these cases with all families, and prints a table of the cases and a table of the families.
pub fn run(cases: &[Case], hashing: Hashing) -> Outcome {
    let scale = environment("FAMILIES_SCALE", 1);
    let cases: Vec<Case> =
        cases.iter().copied().filter(|case| scale > 1 || (case.items <= QUICK_ITEMS && case.strangers <= QUICK_STRANGERS)).collect();
    let mut random = SplitMix64(environment("FAMILIES_SEED", 1));
    let mut findings = Vec::new();
    let mut of_families = vec![Hits::default(); FAMILIES.len()];
    // Two tests of a family in a case, one of the case and one of the family at most.
    let level = Outcome::level(cases.len() * (2 * FAMILIES.len() + 1) + FAMILIES.len());
    println!(
        "| scheme | hasher | keys | expected rate | bits | probes | filters | strangers | measured / law | least p | a family notices | all notice |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for case in &cases {
        let subject = Subject::of(case, hashing);
        let (mut all, mut least, mut weakest) = (Hits::default(), 1.0f64, 0.0f64);
        for (family, together) in FAMILIES.iter().zip(&mut of_families).filter(|(family, _)| family.most >= 2 * case.items) {
            let (hits, fill) = subject.run(family, case.strangers * scale, &mut random);
            let what = |test: &str| {
                format!(
                    "{test} of {}, {}, {} keys in {} bits, {}: {} of {} hit",
                    case.scheme.name(),
                    case.hasher.name(),
                    case.items,
                    subject.bits(),
                    family.name,
                    hits.hits,
                    hits.asked
                )
            };
            findings.push(Finding { what: what("hits"), p: hits.p_value() });
            findings.extend(fill.map(|p| Finding { what: what("set bits"), p }));
            least = least.min(hits.p_value()).min(fill.unwrap_or(1.0));
            weakest = weakest.max(hits.noticed(level));
            all.add(&hits);
            together.add(&hits);
        }
        let label = format!("{} | {} | {}", case.scheme.name(), case.hasher.name(), case.items);
        println!(
            "| {label} | {} | {} | {} | {} | {:.3e} | {:.4} | {least:.0e} | {} | {} |",
            match case.asked {
                Asked::Often => format!("{:.2e}", subject.expected.upper),
                Asked::Once => format!("{:.2e}, once", subject.expected.upper),
            },
            subject.bits(),
            subject.probes(),
            all.filters,
            all.asked as f64,
            all.ratio(),
            factor(weakest),
            factor(all.noticed(level)),
        );
        findings.push(Finding { what: format!("hits of all families, {label}"), p: all.p_value() });
    }
    println!("\n| family | strangers | hits | measured / law | p | notices |\n|---|---|---|---|---|---|");
    for (family, hits) in FAMILIES.iter().zip(&of_families) {
        let p = hits.p_value();
        println!(
            "| {} | {:.2e} | {} | {:.4} | {p:.2} | {} |",
            family.name,
            hits.asked as f64,
            hits.hits,
            hits.ratio(),
            factor(hits.noticed(level))
        );
        findings.push(Finding { what: format!("hits of {} in all cases", family.name), p });
    }
    findings.sort_by(|one, other| one.p.total_cmp(&other.p));
    println!(
        "\n{} tests of {} families, each at {:.1e}; the least p-value is {:.1e}: {}\n",
        findings.len(),
        FAMILIES.len(),
        Outcome::level(findings.len()),
        findings[0].p,
        findings[0].what,
    );
    Outcome { findings }
}

/// Formats a detectable factor on the rate. A factor of a hundred or more means that the test has
/// no power.
fn factor(noticed: f64) -> String {
    if noticed < 100.0 { format!("{noticed:.3}") } else { "-".to_string() }
}

/// The filters of one case.
struct Subject {
    case: Case,
    hashing: Hashing,
    /// An empty filter; all other filters differ from it only in the seed.
    empty: AnyFilter,
    expected: Fpr,
}

/// Indexes of members and of strangers.
type Split = (Vec<usize>, Vec<usize>);

impl Subject {
    fn of(case: &Case, hashing: Hashing) -> Subject {
        let hasher = PortableHasher::new(case.hasher, Seed::from(0));
        let (bits, probes) = match case.size {
            Size::Rate(rate) => {
                let target = Target::new().items(case.items).rate(rate.parse().expect("a rate")).scheme(case.scheme);
                let plan = Plan::new(&target.mean()).expect("a plan");
                (plan.bits, plan.probes)
            }
            Size::Given(bits, probes) => (bits.next_multiple_of(case.scheme.bits_unit(probes)), probes),
        };
        let empty = AnyFilter::with_scheme(case.scheme, bits, probes, hasher).expect("in range");
        let expected = empty.law().proven(case.items).expect("affordable").expect("a bracket or better");
        Subject { case: *case, hashing, empty, expected }
    }

    fn bits(&self) -> u64 {
        self.empty.bits()
    }

    fn probes(&self) -> u32 {
        self.empty.probes()
    }

    /// Tests filters with keys of one family, until this many keys that were not inserted are
    /// queried. Returns the hits, and the p-value of the numbers of set bits if their law is known.
    fn run(&self, family: &Family, strangers: u64, random: &mut SplitMix64) -> (Hits, Option<f64>) {
        let items = self.case.items;
        let at_a_time = (16 * items).clamp(512, 1 << 18).min(family.most - items).min(strangers);
        let setting = Setting { bits: self.bits(), base: random.next() };
        let keys: Vec<AnyKey> = (0..items + at_a_time).map(|i| (family.key)(setting, i)).collect();
        match self.case.asked {
            Asked::Often => self.ask_often(&keys, strangers.div_ceil(at_a_time), random),
            Asked::Once => (self.ask_once(&keys, strangers, random), None),
        }
    }

    fn ask_often(&self, keys: &[AnyKey], filters: u64, random: &mut SplitMix64) -> (Hits, Option<f64>) {
        let splits = splits(keys.len(), self.case.items as usize);
        let (mut hits, mut ones) = (Hits::default(), 0);
        for number in 0..filters {
            let (members, strangers) = &splits[number as usize % splits.len()];
            let mut filter = self.filter(random.next_wide());
            let asked = match self.hashing {
                Hashing::Own => {
                    filter.insert_all(members.iter().map(|i| &keys[*i]));
                    if number < splits.len() as u64 {
                        check_single_keys(&filter, &self.filter(u128::from(filter.seed())), keys, members, strangers);
                    }
                    filter.contains_all(strangers.iter().map(|i| &keys[*i]))
                }
                Hashing::Bad(hash) => {
                    let hashes =
                        |indexes: &[usize]| -> Vec<KeyHash> { indexes.iter().map(|i| hash(filter.hasher(), &*keys[*i])).collect() };
                    let (members, strangers) = (hashes(members), hashes(strangers));
                    filter.insert_all_hashes(&members);
                    filter.contains_all_hashes(&strangers)
                }
            };
            hits.count(strangers.len() as u64, asked.count_ones() as u64, &filter.fpr());
            ones += filter.ones();
        }
        let fill = self.empty.law().fill(self.case.items).expect("affordable");
        (hits, fill.map(|fill| fill_p_value(&fill, filters, ones)))
    }

    /// Hashes keys outside of the filter, and clears the filter for each new seed.
    fn ask_once(&self, keys: &[AnyKey], filters: u64, random: &mut SplitMix64) -> Hits {
        let splits = splits(keys.len(), self.case.items as usize);
        let mut filter = self.empty.clone();
        let mut hits = Hits::default();
        for number in 0..filters as usize {
            let (members, strangers) = &splits[number % splits.len()];
            let hasher = PortableHasher::new(self.case.hasher, Seed::from(random.next_wide()));
            let hash = |i: usize| match self.hashing {
                Hashing::Own => hasher.hash_key(&keys[i]),
                Hashing::Bad(hash) => hash(&hasher, &*keys[i]),
            };
            filter.clear();
            for member in members {
                filter.insert_hash(hash(*member));
            }
            let hit = filter.contains_hash(hash(strangers[number / splits.len() % strangers.len()]));
            hits.count(1, hit.into(), &self.expected);
        }
        hits
    }

    fn filter(&self, seed: u128) -> AnyFilter {
        let hasher = PortableHasher::new(self.case.hasher, Seed::from(seed));
        AnyFilter::with_scheme(self.case.scheme, self.bits(), self.probes(), hasher).expect("as the first")
    }
}

/// Divides keys into inserted and queried ones in three ways: the first keys are inserted, the last
/// ones, or every second one.
fn splits(keys: usize, items: usize) -> [Split; 3] {
    let turns = (2 * items).min(keys);
    let (even, odd) = (0..turns).partition(|i| i % 2 == 0);
    let in_turns =
        if turns == 2 * items { (even, [odd, (turns..keys).collect()].concat()) } else { ((0..items).collect(), (items..keys).collect()) };
    [((0..items).collect(), (items..keys).collect()), ((keys - items..keys).collect(), (0..keys - items).collect()), in_turns]
}

/// Checks that inserting the keys one by one gives an equal filter and equal answers, and that all
/// inserted keys are contained.
fn check_single_keys(batch: &AnyFilter, empty: &AnyFilter, keys: &[AnyKey], members: &[usize], strangers: &[usize]) {
    let mut single = empty.clone();
    for member in members {
        single.insert(&keys[*member]);
    }
    assert!(single == *batch, "keys one by one make another filter than a batch");
    let answers = batch.contains_all(strangers.iter().map(|i| &keys[*i]));
    assert!(strangers.iter().zip(answers.iter()).all(|(i, answer)| single.contains(&keys[*i]) == answer), "a batch is answered otherwise");
    assert!(batch.contains_all(members.iter().map(|i| &keys[*i])).count_ones() == members.len(), "a member is denied");
}
