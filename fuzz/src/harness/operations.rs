//! Runs sequences of operations, and compares the answers with a set of the keys. The same keys are
//! used in single calls and in batches, because these have different kernels.

use super::bytes::Bytes;
use super::decode::mend;
use std::collections::BTreeSet;
use truebloom::count_min::CountMin;
use truebloom::scheme::SchemeId;
use truebloom::{AnyFilter, Filter, PortableHasher, Seed};

/// The maximum number of operations, enough to fill small filters more than once.
const MOST_STEPS: usize = 400;

/// The first bytes choose the scheme, the size and the seed; the others choose the operations.
pub fn operations(data: &[u8]) {
    let mut bytes = Bytes(data);
    let scheme = SchemeId::ALL[usize::from(bytes.byte()) % SchemeId::ALL.len()];
    let probes = u32::from(bytes.byte()) % 64 + 1;
    let bits = match u64::from(bytes.short()) {
        small @ 0..8192 => small + 1,
        large => large * large % 1_000_003 + 1,
    };
    let bits = match scheme {
        SchemeId::Blocked => bits.next_multiple_of(512),
        SchemeId::PartitionDouble => bits.next_multiple_of(probes.into()),
        _ => bits,
    };
    let Some(empty) = made(scheme, bits, probes, u128::from(bytes.word()), bytes.byte()) else { return };
    let (mut singly, mut bulk) = (empty.clone(), empty.clone());
    let (mut keys, mut offers, mut new) = (BTreeSet::new(), 0u64, 0u64);
    for _ in 0..MOST_STEPS {
        if bytes.0.is_empty() {
            break;
        }
        match bytes.byte() % 8 {
            0..4 => {
                // Consecutive keys, in single calls and in one batch.
                let (first, count) = (u64::from(bytes.short()), usize::from(bytes.byte()) % 40);
                let run: Vec<u64> = (first..).step_by(usize::from(bytes.byte()) % 5 + 1).take(count).collect();
                let answers: Vec<bool> = run.iter().map(|key| singly.insert(key)).collect();
                assert!(bulk.insert_all(&run).iter().eq(answers.iter().copied()));
                for (key, is_new) in run.iter().zip(&answers) {
                    assert!(!is_new || !keys.contains(key), "{key} was there");
                    keys.insert(*key);
                    (offers, new) = (offers + 1, new + u64::from(*is_new));
                }
            }
            4 => {
                let asked: Vec<u64> = (u64::from(bytes.short())..).take(usize::from(bytes.byte())).collect();
                let answers: Vec<bool> = asked.iter().map(|key| singly.contains(key)).collect();
                assert!(bulk.contains_all(&asked).iter().eq(answers.iter().copied()));
                assert!(asked.iter().zip(&answers).all(|(key, found)| *found || !keys.contains(key)), "a key is lost");
            }
            5 => {
                let read = AnyFilter::from_bytes(&singly.to_bytes().expect("small")).expect("what it wrote");
                assert_eq!(read, singly);
                singly = read;
            }
            6 => {
                // Merges two filters, each with half of the keys.
                let (mut one, mut other) = (empty.clone(), empty.clone());
                keys.iter().for_each(|key| _ = if key % 2 == 0 { one.insert(key) } else { other.insert(key) });
                one.union_with(&other).expect("of one kind");
                assert_eq!(one.ones(), singly.ones());
                assert!(keys.iter().all(|key| one.contains(key)));
            }
            _ => {
                singly.clear();
                bulk.clear();
                keys.clear();
                (offers, new) = (0, 0);
            }
        }
        assert_eq!(singly, bulk);
        assert_eq!((singly.offered(), singly.changed()), (offers, new));
        assert!(new <= keys.len() as u64 && singly.ones() <= singly.bits());
    }
    assert!(keys.iter().all(|key| singly.contains(key)), "a key is lost");
    counted(data);
}

/// Makes an empty filter from a file header, because this works for all schemes and needs no plan.
pub(crate) fn made(scheme: SchemeId, bits: u64, probes: u32, seed: u128, hasher: u8) -> Option<AnyFilter> {
    let blocks = scheme.block_bits();
    let mut file = vec![0; 256 + 8 * bits.div_ceil(64) as usize];
    let mut put = |at: usize, field: &[u8]| file[at..at + field.len()].copy_from_slice(field);
    put(10, &[if blocks.is_some() { 2 } else { 1 }, 0]);
    put(12, &scheme.number().to_le_bytes());
    put(14, &[if hasher.is_multiple_of(4) { 2 } else { 3 }, 0]);
    put(20, &probes.to_le_bytes());
    put(24, &bits.to_le_bytes());
    put(32, &seed.to_le_bytes());
    put(96, &256u64.to_le_bytes());
    put(120, &blocks.unwrap_or(0).to_le_bytes());
    mend(&mut file, true);
    AnyFilter::from_bytes(&file).ok()
}

/// Checks that the estimate of a sketch is never below the count.
fn counted(data: &[u8]) {
    let (epsilon, delta) = ("10%".parse().expect("a rate"), "10%".parse().expect("a rate"));
    let mut sketch = CountMin::<u32>::with_hasher(epsilon, delta, PortableHasher::xxh3(Seed::from(7))).expect("small");
    let mut counts = [0u64; 256];
    for byte in data {
        sketch.add(byte, u64::from(*byte));
        counts[usize::from(*byte)] += u64::from(*byte);
    }
    assert!((0..=255u8).all(|byte| sketch.estimate(&byte).value >= counts[usize::from(byte)]));
}
