//! Expands forged compressed files, and applies forged differences. They are arbitrary bytes after
//! a corrected header.

use super::decode::mend;
use truebloom::wire;

/// Larger inputs take more time and test nothing new.
const MOST_BYTES: usize = 1 << 14;

/// The first byte says what the other bytes are: a compressed file, a file and a difference from
/// this file, or two states of a file.
pub fn travel(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    let rest = &rest[..rest.len().min(MOST_BYTES)];
    match how % 3 {
        0 => compressed(rest, how >= 128),
        1 => difference(rest),
        _ => states(rest),
    }
}

/// Checks that the size of the expanded file is at most proportional to the input, and that
/// compressing and expanding this file again gives the same file.
fn compressed(bytes: &[u8], raw: bool) {
    let bytes = if raw { bytes.to_vec() } else { sealed(1, bytes) };
    match wire::expand(&bytes) {
        Ok(file) => {
            assert!(file.len() as u64 <= 256 + wire::MOST_EXPANSION * bytes.len() as u64);
            let again = wire::compress(&file).expect("a file");
            assert_eq!(wire::expand(&again).expect("its code"), file);
        }
        Err(error) => assert!(error.to_string().len() > 20, "a message that says nothing: {error}"),
    }
}

/// The first half is a file, and the second half is a difference that is applied to it.
fn difference(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let mut base = first.to_vec();
    mend(&mut base, true);
    let body = [&base[248..256], second].concat();
    match wire::apply(&base, &sealed(2, &body)) {
        Ok(file) => assert!(file.len() as u64 <= base.len() as u64 + wire::MOST_EXPANSION * (body.len() as u64 + 1)),
        Err(error) => assert!(error.to_string().len() > 20, "a message that says nothing: {error}"),
    }
}

/// The second half of the input changes bytes of the first half. Checks that applying the
/// difference between the two states gives the changed file.
fn states(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let mut old = first.to_vec();
    mend(&mut old, true);
    let mut new = old.clone();
    let payload = new.len() - 256;
    for change in second.chunks_exact(3).filter(|_| payload > 0) {
        new[256 + usize::from(u16::from_le_bytes([change[0], change[1]])) % payload] ^= change[2];
    }
    // The file of a filter that grows can become longer.
    if old[10] == 5 {
        new.extend_from_slice(&second[..second.len() / 8 * 8]);
    }
    mend(&mut new, true);
    let Ok(news) = wire::difference(&old, &new) else { return };
    assert_eq!(wire::apply(&old, &news).expect("its difference"), new);
    assert!(old == new || wire::apply(&new, &news).is_err());
}

fn sealed(what: u8, body: &[u8]) -> Vec<u8> {
    let sum = xxhash_rust::xxh3::xxh3_64(body).to_le_bytes();
    [&b"\x89TBZ\r\n\x1a\n\x01"[..], &[what], &(body.len() as u64).to_le_bytes(), &sum, body].concat()
}
