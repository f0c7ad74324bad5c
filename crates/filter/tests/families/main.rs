//! Tests structured keys: for all families of keys, the false-positive rate is the one that the law
//! predicts.
//!
//! The law is proven for keys whose hashes are random. These tests show that the positions are
//! close enough to random, even for keys that are far from random. For each of 64 families
//! ([`keys`]) and under many seeds, some keys are inserted and others are queried: keys before,
//! after and between the inserted ones. Exact tests ([`evidence`]) compare the hits with the exact
//! law for each family in each case, for all families in each case, and for each family in all
//! cases. Set bits are also tested. Batches and single keys must agree.
//!
//! For a correct hasher and scheme, the probability that any test of a group fails is at most 1e-6
//! over the seeds. The seeds are fixed, so a test that passes once always passes. The tables show
//! which factor on the rate each test would detect with probability 99%. The quick form, which
//! `cargo test` runs, detects only large faults. In most cases with rates of 1e-3 and above, it
//! detects a factor of 1.2 to 6 for one family, and of 1.02 to 1.4 for all families together. The
//! long form:
//!
//! ```text
//! FAMILIES_SCALE=20 FAMILIES_SEED=$RANDOM cargo test --release -p truebloom --test families -- --nocapture --test-threads 1
//! ```
#![allow(unreachable_pub, reason = "a test has no public interface")]

mod campaign;
#[path = "../common/mod.rs"]
mod common;
mod evidence;
mod keys;

use campaign::{Asked, Case, Hash, Hashing, Size, run};
use keys::{FAMILIES, Setting};
use std::collections::HashSet;
use truebloom::scheme::SchemeId;
use truebloom::{HasherId, Key, KeyHash, KeyHasher};

const fn often(scheme: SchemeId, hasher: HasherId, items: u64, rate: &'static str, strangers: u64) -> Case {
    Case { scheme, hasher, items, size: Size::Rate(rate), asked: Asked::Often, strangers }
}

const fn once(scheme: SchemeId, bits: u64, probes: u32, items: u64, strangers: u64) -> Case {
    Case { scheme, hasher: HasherId::Xxh3, items, size: Size::Given(bits, probes), asked: Asked::Once, strangers }
}

/// Tests filters with many bits and one probe. If two keys share a bit, the high bits of their
/// hashes are almost always equal.
const fn sparse(scheme: SchemeId, items: u64, bits: u64, strangers: u64) -> Case {
    Case { scheme, hasher: HasherId::Xxh3, items, size: Size::Given(bits, 1), asked: Asked::Often, strangers }
}

const STANDARD: [Case; 17] = {
    use HasherId::Xxh3;
    use SchemeId::Standard;
    [
        once(Standard, 13, 3, 2, 2_000),
        often(Standard, Xxh3, 1, "0.1", 8_000),
        often(Standard, Xxh3, 1, "1e-3", 20_000),
        often(Standard, Xxh3, 1, "1e-6", 400_000),
        often(Standard, Xxh3, 10, "1e-2", 20_000),
        often(Standard, Xxh3, 10, "1e-4", 20_000),
        often(Standard, Xxh3, 100, "0.1", 20_000),
        often(Standard, Xxh3, 100, "1e-3", 20_000),
        often(Standard, Xxh3, 100, "1e-6", 20_000),
        often(Standard, Xxh3, 1_000, "1e-2", 20_000),
        often(Standard, Xxh3, 1_000, "1e-5", 20_000),
        often(Standard, Xxh3, 10_000, "1e-3", 20_000),
        often(Standard, Xxh3, 100_000, "1e-2", 20_000),
        often(Standard, Xxh3, 1_000, "1e-6", 400_000),
        often(Standard, Xxh3, 100_000, "1e-6", 100_000),
        sparse(Standard, 1_000, 1 << 20, 20_000),
        sparse(Standard, 100_000, 1 << 24, 20_000),
    ]
};

const BLOCKED: [Case; 9] = {
    use HasherId::Xxh3;
    use SchemeId::Blocked;
    [
        once(Blocked, 512, 5, 60, 100),
        sparse(Blocked, 1, 512, 20_000),
        sparse(Blocked, 10, 1 << 12, 20_000),
        sparse(Blocked, 100_000, 1 << 24, 20_000),
        often(Blocked, Xxh3, 100, "1e-2", 20_000),
        often(Blocked, Xxh3, 1_000, "1e-2", 20_000),
        often(Blocked, Xxh3, 1_000, "1e-5", 20_000),
        often(Blocked, Xxh3, 10_000, "1e-3", 20_000),
        often(Blocked, Xxh3, 100_000, "1e-2", 20_000),
    ]
};

const SIPHASH: [Case; 7] = {
    use HasherId::Sip13;
    use SchemeId::{Blocked, Standard};
    [
        often(Standard, Sip13, 1, "1e-2", 10_000),
        often(Standard, Sip13, 10, "1e-4", 10_000),
        often(Standard, Sip13, 1_000, "1e-2", 20_000),
        often(Standard, Sip13, 100_000, "1e-3", 10_000),
        often(Blocked, Sip13, 100, "1e-2", 10_000),
        often(Blocked, Sip13, 1_000, "1e-3", 20_000),
        often(Blocked, Sip13, 100_000, "1e-2", 10_000),
    ]
};

/// Tests other schemes whose fill determines the rate.
const CLASSIC_AND_PARTITIONED: [Case; 10] = {
    use HasherId::Xxh3;
    use SchemeId::{Classic, Partitioned};
    [
        once(Classic, 13, 3, 2, 2_000),
        often(Classic, Xxh3, 1, "1e-2", 10_000),
        often(Classic, Xxh3, 100, "1e-3", 10_000),
        often(Classic, Xxh3, 1_000, "1e-2", 20_000),
        often(Classic, Xxh3, 100_000, "1e-2", 10_000),
        once(Partitioned, 12, 3, 2, 2_000),
        often(Partitioned, Xxh3, 1, "1e-2", 10_000),
        often(Partitioned, Xxh3, 100, "1e-3", 10_000),
        often(Partitioned, Xxh3, 1_000, "1e-2", 20_000),
        often(Partitioned, Xxh3, 100_000, "1e-2", 10_000),
    ]
};

/// Tests schemes whose fill does not determine the rate, with one query per filter.
const TWO_HASHES: [Case; 12] = {
    use SchemeId::{Cube, Double, DoubleNonzero, Enhanced, PartitionDouble, Square};
    [
        once(Double, 13, 3, 2, 2_000),
        once(Double, 401, 4, 60, 200),
        once(DoubleNonzero, 13, 3, 2, 2_000),
        once(DoubleNonzero, 401, 4, 60, 200),
        once(Square, 13, 3, 2, 2_000),
        once(Square, 401, 4, 60, 200),
        once(Cube, 13, 3, 2, 2_000),
        once(Cube, 401, 4, 60, 200),
        once(Enhanced, 13, 3, 2, 2_000),
        once(Enhanced, 401, 4, 60, 200),
        once(PartitionDouble, 39, 3, 8, 1_000),
        once(PartitionDouble, 404, 4, 60, 200),
    ]
};

fn accept(cases: &[Case]) {
    let outcome = run(cases, Hashing::Own);
    let rejected: Vec<_> = outcome.rejected().map(|finding| format!("p {:.0e}: {}", finding.p, finding.what)).collect();
    assert!(rejected.is_empty(), "against the law:\n{}", rejected.join("\n"));
}

#[test]
fn the_standard_scheme() {
    accept(&STANDARD);
}

#[test]
fn blocks() {
    accept(&BLOCKED);
}

#[test]
fn siphash() {
    accept(&SIPHASH);
}

#[test]
fn distinct_positions_and_slices() {
    accept(&CLASSIC_AND_PARTITIONED);
}

#[test]
fn schemes_of_two_hashes() {
    accept(&TWO_HASHES);
}

/// Tests that no two keys of a family have the same bytes, so that queried keys differ from
/// inserted ones.
#[test]
fn keys_of_a_family_are_distinct() {
    const KEYS: u64 = 3_000;
    for family in FAMILIES {
        let at = Setting { bits: 1_009, base: 0x0123_4567_89ab_cdef };
        let last = family.most - KEYS;
        let keys: HashSet<Vec<u8>> = (0..KEYS).chain(last..family.most).map(|i| (family.key)(at, i).to_key_bytes()).collect();
        assert_eq!(keys.len() as u64, 2 * KEYS, "{}", family.name);
    }
}

/// The key as a number, or the number in its first eight bytes.
fn number(key: &dyn Key) -> u64 {
    let bytes = key.to_key_bytes();
    bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn halves(hash: KeyHash) -> (u64, u64) {
    let bits = u128::from(hash);
    (bits as u64, (bits >> 64) as u64)
}

fn of_halves(h1: u64, h2: u64) -> KeyHash {
    KeyHash::from_uniform_bits(u128::from(h2) << 64 | u128::from(h1))
}

/// Hashes that the campaign has to reject.
const BAD: [(&str, Hash); 6] = [
    ("keys as they are", |_, key| of_halves(number(key), 0)),
    ("multiples of the golden ratio", |_, key| of_halves(number(key).wrapping_mul(0x9e37_79b9_7f4a_7c15), number(key))),
    ("32 good bits", |hasher, key| of_halves(halves(hasher.hash(&key.to_key_bytes())).0 << 32, 0)),
    ("16 good bits, mixed", |hasher, key| KeyHash::mixed(u128::from(halves(hasher.hash(&key.to_key_bytes())).0 as u16))),
    ("one half twice", |hasher, key| {
        let half = halves(hasher.hash(&key.to_key_bytes())).0;
        of_halves(half, half)
    }),
    ("FNV-1a and a rotation of it", |_, key| {
        let hash =
            key.to_key_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
        of_halves(hash, hash.rotate_left(32))
    }),
];

#[test]
fn bad_hashes_are_rejected() {
    use HasherId::Xxh3;
    use SchemeId::{Blocked, Standard};
    let cases = [often(Standard, Xxh3, 100, "1e-3", 4_000), often(Blocked, Xxh3, 100, "1e-2", 4_000)];
    for (name, hash) in BAD {
        let outcome = run(&cases, Hashing::Bad(hash));
        let rejected = outcome.rejected().count();
        println!("{name}: {rejected} tests fail\n");
        assert!(rejected > 0, "{name} passes");
    }
}
