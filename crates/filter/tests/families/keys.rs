//! The families: keys as programs have them. Each family is a function of an index.
//!
//! No two keys of a family have the same bytes, so a queried key is never equal to an inserted one.
//! As the law requires, the keys do not depend on the filter's seed.

use crate::common::SplitMix64;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use truebloom::{Key, KeyHasher, PortableHasher, Seed};

/// A key of any type.
pub type AnyKey = Box<dyn Key>;

/// The values on which keys may depend, in addition to their index.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Bits of the filter.
    pub bits: u64,
    /// A random word, which is different in each campaign.
    pub base: u64,
}

/// Keys of one structure.
pub struct Family {
    /// Its name in the tables.
    pub name: &'static str,
    /// The number of keys in the family.
    pub most: u64,
    /// The key with this index.
    pub key: fn(Setting, u64) -> AnyKey,
}

/// A number of keys that is enough for every case.
const MANY: u64 = 1 << 20;

const fn family(name: &'static str, key: fn(Setting, u64) -> AnyKey) -> Family {
    Family { name, most: MANY, key }
}

const fn short(name: &'static str, most: u64, key: fn(Setting, u64) -> AnyKey) -> Family {
    Family { name, most, key }
}

fn number(number: u64) -> AnyKey {
    Box::new(number)
}

fn wide(number: u128) -> AnyKey {
    Box::new(number)
}

fn text(text: String) -> AnyKey {
    Box::new(text)
}

fn word(state: u64) -> u64 {
    SplitMix64(state).next()
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const SECONDS: u64 = 1_767_225_600;

pub const FAMILIES: [Family; 64] = [
    // Numbers.
    family("counter from 0", |_, i| number(i)),
    family("counter from 2^32", |_, i| number((1 << 32) + i)),
    family("counter from 2^63", |_, i| number((1 << 63) + i)),
    family("counter down from 2^64 - 1", |_, i| number(!i)),
    family("multiples of 2^12", |_, i| number(i << 12)),
    family("multiples of 2^44", |_, i| number(i << 44)),
    family("multiples of the golden ratio", |_, i| number(i.wrapping_mul(GOLDEN))),
    family("multiples of a prime near 2^64", |_, i| number(i.wrapping_mul(0xffff_ffff_ffff_ffc5))),
    family("multiples of the bits", |at, i| number(i * at.bits)),
    family("bit-reversed counter", |_, i| number(i.reverse_bits())),
    family("Gray-coded counter", |_, i| number(i ^ i >> 1)),
    family("few bits set", |_, i| number(few_bits(64, i) as u64)),
    family("a number with few bits flipped", |at, i| number(at.base ^ few_bits(64, i) as u64)),
    family("pairs that differ in the highest bit", |at, i| number((at.base ^ word(i >> 1)) >> 1 ^ (i & 1) << 63)),
    family("pairs that differ in the lowest bit", |at, i| number((at.base ^ word(i >> 1)) & !1 ^ i & 1)),
    family("pairs with a fixed difference", |at, i| number((at.base ^ word(i >> 1)) & !3 ^ ((i & 1) * 0x8000_0001_0000_0001))),
    family("pairs with a fixed sum", |at, i| number((at.base ^ word(i >> 1)).wrapping_add((i & 1) * GOLDEN))),
    family("low half constant", |at, i| number(i << 32 | at.base >> 32)),
    family("high half constant", |at, i| number(at.base << 32 | i)),
    family("both halves the same", |_, i| number(i << 32 | i)),
    family("minutes", |_, i| number(SECONDS + 60 * i)),
    family("nanoseconds, by milliseconds", |_, i| number(SECONDS * 1_000_000_000 + 1_000_000 * i)),
    family("whole floating-point numbers", |_, i| number((i as f64).to_bits())),
    family("tenths, in floating point", |_, i| number((i as f64 / 10.0).to_bits())),
    family("geohash numbers", |_, i| number(interleave(0x4000_0000 + i % 1_024, 0x2000_0000 + i / 1_024))),
    family("a linear lattice", |_, i| number(((i % 1_024) << 40) + (i / 1_024) * 0x1_0001)),
    family("Fibonacci numbers", |_, i| number(fibonacci(i + 2).0)),
    family("powers of a multiplier", |_, i| number(0x5851_f42d_4c95_7f2d_u64.wrapping_pow(i as u32))),
    family("squares", |_, i| number(i * i)),
    // Hashes.
    family("XXH3 with another seed, a half", |at, i| number(other_hash(false, at, i) as u64)),
    family("XXH3 with another seed", |at, i| wide(other_hash(false, at, i))),
    family("SipHash with another seed", |at, i| wide(other_hash(true, at, i))),
    // 128 bits.
    family("wide counter", |_, i| wide(i.into())),
    family("wide, the high half counts", |_, i| wide(u128::from(i) << 64)),
    family("wide, both halves count", |_, i| wide(u128::from(i) << 64 | u128::from(i))),
    family("wide, few bits flipped", |at, i| wide((u128::from(at.base) * u128::from(GOLDEN)) ^ few_bits(128, i))),
    // Addresses and identifiers.
    family("IPv4 hosts", |_, i| Box::new(Ipv4Addr::from_bits(0x0a00_0000 + i as u32))),
    family("IPv4 nets", |_, i| Box::new(Ipv4Addr::from_bits(((i as u32) << 8) + 1))),
    family("IPv6 hosts", |_, i| Box::new(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(i)))),
    family("IPv6 nets", |_, i| Box::new(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(i) << 64 | 1))),
    family("addresses with ports", |_, i| {
        Box::new(SocketAddr::new(IpAddr::V4(Ipv4Addr::from_bits(0xc0a8_0000 + (i >> 10) as u32)), 40_000 + (i & 1_023) as u16))
    }),
    family("MAC addresses", |_, i| Box::new([0x00u8, 0x1b, 0x21, (i >> 16) as u8, (i >> 8) as u8, i as u8])),
    family("MAC addresses as text", |_, i| text(format!("00:1b:21:{:02x}:{:02x}:{:02x}", i >> 16, i >> 8 & 255, i & 255))),
    family("UUIDs, version 1", |at, i| {
        let time = 0x01f0_c5a1_2345_6789 + 10_000 * i;
        let high = time << 32 | (time >> 32 & 0xffff) << 16 | 0x1000 | time >> 48 & 0xfff;
        Box::new((u128::from(high) << 64 | u128::from(1 << 63 | at.base >> 2)).to_be_bytes())
    }),
    family("UUIDs, version 4", |at, i| Box::new(uuid4(at, i).to_be_bytes())),
    family("UUIDs, version 4, as text", |at, i| {
        let hex = format!("{:032x}", uuid4(at, i));
        text([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
    }),
    family("UUIDs, version 7", |at, i| {
        let high = (SECONDS * 1_000 + i / 8) << 16 | 0x7000 | i & 7;
        Box::new((u128::from(high) << 64 | u128::from(1 << 63 | word(at.base ^ i) >> 2)).to_be_bytes())
    }),
    // Texts.
    family("decimal", |_, i| text(format!("{i}"))),
    family("decimal, padded", |_, i| text(format!("{i:012}"))),
    family("hexadecimal", |_, i| text(format!("{i:x}"))),
    family("hexadecimal, padded", |_, i| text(format!("{i:016x}"))),
    family("a long common prefix", |_, i| text(format!("{:x<250}{i:06}", ""))),
    family("a long common suffix", |_, i| text(format!("{i:06}{:x<250}", ""))),
    family("pages of one site", |_, i| text(format!("https://www.example.org/articles/{}/page-{}.html?lang=en", i / 20, i % 20))),
    short("a text with one character changed", 100 * 94, |_, i| {
        let mut changed = vec![b'!'; 100];
        changed[(i % 100) as usize] += (i / 100) as u8 + u8::from(i > 0);
        Box::new(changed)
    }),
    family("permutations of one text", |_, i| Box::new(permutation(i))),
    short("repeated bytes of growing length", 40 * 256, |_, i| Box::new(vec![i as u8; 1 + (i >> 8) as usize])),
    family("all texts of two characters", |_, i| text(format!("{i:020b}").replace('0', "a").replace('1', "b"))),
    family("lengths where XXH3 changes its course", |_, i| {
        const LENGTHS: [usize; 12] = [8, 9, 16, 17, 32, 33, 128, 129, 240, 241, 256, 257];
        let mut bytes = vec![0; LENGTHS[(i % 12) as usize]];
        bytes[..4].copy_from_slice(&((i / 12) as u32).to_le_bytes());
        Box::new(bytes)
    }),
    family("file paths", |_, i| text(format!("/home/user{}/project{}/src/module{}.rs", i / 4_096, i / 64 % 64, i % 64))),
    family("e-mail addresses", |_, i| text(format!("first.last{}@mail{}.example.com", i / 8, i % 8))),
    // Keys of several parts.
    family("pairs of numbers", |_, i| Box::new((i % 1_000, i / 1_000))),
    family("options that share parts", |_, i| Box::new(((i & 1 == 1).then_some(i >> 2), "user", (i & 2 == 2).then_some("admin"), i >> 2))),
    family("sequences that share parts", |_, i| Box::new(vec![i / 5; 1 + (i % 5) as usize])),
];

/// The number with this index among all numbers of this width, in the order of their numbers of set
/// bits.
fn few_bits(width: u64, mut index: u64) -> u128 {
    let mut weight = 0;
    while index >= choose(width, weight) {
        (index, weight) = (index - choose(width, weight), weight + 1);
    }
    let mut bits = 0;
    for bit in (0..width).rev() {
        // Those of this weight that have none of the higher bits, this one included.
        let without = choose(bit, weight);
        if index >= without {
            (index, weight, bits) = (index - without, weight - 1, bits | 1 << bit);
        }
    }
    bits
}

fn choose(of: u64, taken: u64) -> u64 {
    (0..taken).fold(1, |ways, i| ways * of.saturating_sub(i) / (i + 1))
}

/// Interleaves the bits of two numbers, as a geohash numbers the cells of a map.
fn interleave(x: u64, y: u64) -> u64 {
    (0..32).fold(0, |mixed, bit| mixed | (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1))
}

/// The index-th Fibonacci number and the next, modulo 2^64.
fn fibonacci(index: u64) -> (u64, u64) {
    if index == 0 {
        return (0, 1);
    }
    let (a, b) = fibonacci(index / 2);
    let even = a.wrapping_mul(b.wrapping_mul(2).wrapping_sub(a));
    let odd = a.wrapping_mul(a).wrapping_add(b.wrapping_mul(b));
    if index.is_multiple_of(2) { (even, odd) } else { (odd, even.wrapping_add(odd)) }
}

fn other_hash(is_sip: bool, at: Setting, index: u64) -> u128 {
    let seed = Seed::from(u128::from(at.base) << 64 | 1);
    let hasher = if is_sip { PortableHasher::sip13(seed) } else { PortableHasher::xxh3(seed) };
    hasher.hash_number(index).into()
}

fn uuid4(at: Setting, index: u64) -> u128 {
    let random = SplitMix64(at.base.wrapping_add(index.wrapping_mul(GOLDEN) << 1)).next_wide();
    random & !(0xf << 76 | 3 << 62) | 4 << 76 | 2 << 62
}

/// The permutation of these letters with this index.
fn permutation(mut index: u64) -> Vec<u8> {
    let mut left = b"abcdefghijklmnop".to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        order.push(left.remove((index % left.len() as u64) as usize));
        index /= left.len() as u64 + 1;
    }
    order
}
