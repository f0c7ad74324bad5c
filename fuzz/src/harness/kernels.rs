//! Compares the kernels for this processor with the definition of each scheme. Hashes are inserted
//! and queried in batches and in single calls. The bits are compared with the positions that the
//! scheme lists. Some hashes have words that a scheme must skip.

use super::bytes::Bytes;
use super::operations::made;
use truebloom::scheme::{AnyScheme, InLines, Scheme, SchemeId};
use truebloom::{Filter, KeyHash};

/// The largest number of hashes: several full batches, and an incomplete batch.
const MOST_HASHES: usize = 1_300;

/// The first bytes choose the scheme and the size, and the others are the hashes. The first half of
/// the hashes is inserted, and all hashes are queried.
pub fn kernels(data: &[u8]) {
    let mut bytes = Bytes(data);
    let scheme = SchemeId::ALL[usize::from(bytes.byte()) % SchemeId::ALL.len()];
    let probes = u32::from(bytes.byte()) % 64 + 1;
    let size = u64::from(bytes.short());
    let bits = match size % 3 {
        0 => size + 1,
        // Three quarters of a power of two, so that many words are skipped.
        1 => 3 << (size % 18),
        _ => size * size % 2_000_003 + 1,
    };
    let bits = match scheme {
        SchemeId::Blocked => bits.next_multiple_of(512),
        SchemeId::PartitionDouble => bits.next_multiple_of(probes.into()),
        _ => bits,
    };
    let hashes = hashes(&mut bytes);
    let Some(mut bulk) = made(scheme, bits, probes, 7, 1) else { return };
    let Some(positions) = positions(scheme, bits, probes, &hashes) else { return };
    let (mut singly, inserted) = (bulk.clone(), hashes.len() / 2);
    let mut model = vec![0u64; bits.div_ceil(64) as usize];
    let new: Vec<bool> = positions[..inserted].iter().map(|of_key| set(&mut model, of_key)).collect();
    let found: Vec<bool> = positions.iter().map(|of_key| of_key.iter().all(|p| model[(p / 64) as usize] >> (p % 64) & 1 == 1)).collect();

    assert!(bulk.insert_all_hashes(&hashes[..inserted]).iter().eq(new.iter().copied()), "insertions in batches");
    assert!(hashes[..inserted].iter().map(|hash| singly.insert_hash(*hash)).eq(new), "insertions one by one");
    assert!(bulk.contains_all_hashes(&hashes).iter().eq(found.iter().copied()), "questions in batches");
    assert!(hashes.iter().map(|hash| singly.contains_hash(*hash)).eq(found), "questions one by one");
    let payload: Vec<u8> = model.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(bulk.to_bytes().expect("small")[256..] == payload && bulk == singly, "the bits");
}

/// Sets the bits at these positions. Returns whether any of these bits was 0 before.
fn set(model: &mut [u64], positions: &[u64]) -> bool {
    let mut new = false;
    for position in positions {
        let (word, mask) = (&mut model[(position / 64) as usize], 1 << (position % 64));
        new |= *word & mask == 0;
        *word |= mask;
    }
    new
}

fn hashes(bytes: &mut Bytes<'_>) -> Vec<KeyHash> {
    let mut hashes = Vec::new();
    while hashes.len() < MOST_HASHES && !bytes.0.is_empty() {
        let how = bytes.byte();
        let half = |bytes: &mut Bytes<'_>, how: u8| match how % 6 {
            0 => 0,
            1 => u64::MAX,
            2 => u64::from(bytes.byte()),
            3 => u64::from(bytes.byte()) << 56,
            4 => u64::from(bytes.byte()).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            _ => bytes.word(),
        };
        let (low, high) = (half(bytes, how), half(bytes, how / 6));
        // The neighbours of a hash are also used, so that a few input bytes make a batch.
        let neighbours = if how >= 36 { u64::from(how) } else { 1 };
        hashes.extend(
            (0..neighbours).map(|i| KeyHash::from_uniform_bits(u128::from(high ^ i << 7) << 64 | u128::from(low.wrapping_add(i << 40)))),
        );
    }
    hashes.truncate(MOST_HASHES);
    hashes
}

/// The positions of each key, as the scheme itself lists them.
fn positions(scheme: SchemeId, bits: u64, probes: u32, hashes: &[KeyHash]) -> Option<Vec<Vec<u64>>> {
    fn listed(scheme: &impl Scheme, hashes: &[KeyHash]) -> Vec<Vec<u64>> {
        hashes.iter().map(|hash| scheme.positions(*hash).collect()).collect()
    }
    match scheme {
        SchemeId::Blocked => InLines::new(bits, probes).ok().map(|lines| listed(&lines, hashes)),
        _ => AnyScheme::named(scheme, bits, probes).ok().map(|any| listed(&any, hashes)),
    }
}
