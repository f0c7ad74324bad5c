//! Tests the bytes of keys against those from a second implementation (tests/golden/keys.py). No
//! value's bytes are a prefix of another's, and every method of hashing a key gives the hash of its
//! bytes.

use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::time::Duration;
use truebloom::{BlockedBloomFilter, BloomFilter, Key, PortableHasher, Prehashed, Seed};

#[derive(Key)]
struct Url(String);

#[derive(Key)]
struct Order<'a, R: ?Sized> {
    number: u32,
    region: &'a R,
    parcels: Option<u8>,
}

/// A crate that imports truebloom under another name and exports it again.
mod third {
    pub(crate) mod mine {
        pub(crate) use ::truebloom::{Key, KeyWriter};
    }
}

#[derive(Key)]
#[key(crate = third::mine)]
struct Handed<T>(T, u8);

#[derive(Key)]
#[key(crate = crate::third::mine)]
enum Choice {
    One,
    Other(u64),
}

#[derive(Key)]
struct Unit;

#[derive(Key, Clone, Copy)]
#[repr(i16)]
enum State {
    Deleted = -3,
    Paid = 7,
    Sent,
}

/// A constant with the same name as one that the derive macro generates. The enum also uses a
/// constant of its own type.
const GIVEN: isize = 40;

#[derive(Key)]
enum Named {
    Given = GIVEN,
    Own = Self::OWN,
}

impl Named {
    const OWN: isize = 50;
}

#[derive(Key)]
enum Event {
    Started,
    Moved { by: i32, axis: &'static str },
}

#[derive(Key)]
struct Cached {
    id: u64,
    #[key(skip)]
    cache: f64,
}

/// Tests that the derive macro generates the same bytes under whatever name it finds the crate.
#[test]
fn a_crate_under_another_name_derives_the_same_keys() {
    #[derive(Key)]
    enum Usual {
        One,
        Other(u64),
    }
    let filter = BloomFilter::with_bits_and_probes(64, 1).expect("small");
    assert_eq!(filter.hash(&Handed("a", 1)), filter.hash(&("a", 1u8)));
    assert_eq!(filter.hash(&Choice::One), filter.hash(&Usual::One));
    assert_eq!(filter.hash(&Choice::Other(7)), filter.hash(&Usual::Other(7)));
}

const V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Calls `check` with every key in keys.txt and its name in that file.
fn with_keys(mut check: impl FnMut(&str, &dyn Key)) {
    let long = "0123456789".repeat(30);
    let (socket4, socket6) = (SocketAddrV4::new(V4, 443), SocketAddrV6::new(V6, 443, 5, 7));
    check("u8 5", &5u8);
    check("i16 -2", &-2i16);
    check("usize max32", &(u32::MAX as usize));
    check("isize -1", &-1isize);
    check("u64 max", &u64::MAX);
    check("u128 2^64", &(1u128 << 64));
    check("i128 -1", &-1i128);
    check("bool true", &true);
    check("char e-acute", &'é');
    check("nonzero 7", &NonZero::new(7u32).expect("not 0"));
    check("str", &"café");
    check("empty str", &String::new());
    check("byte array", &[1u8, 2, 3]);
    check("one-tuple of a str", &("a",));
    check("pair", &(1, 2u64));
    check("pair of str ab, c", &("ab", "c".to_owned()));
    check("pair of str a, bc", &(b"a", "bc"));
    check("nested pair", &((1, "x"), 3u128));
    check("array of u16", &[1u16, 2, 3]);
    check("empty vec of u16", &Vec::<u16>::new());
    check("vec of str", &vec!["a", ""]);
    check("none of u64", &None::<u64>);
    check("some of u64", &Some(9u64));
    check("some of str", &Some("s"));
    check("ipv4", &V4);
    check("ipv6", &V6);
    check("any ipv4", &IpAddr::V4(V4));
    check("any ipv6", &IpAddr::V6(V6));
    check("socket v4", &socket4);
    check("any socket v4", &SocketAddr::V4(socket4));
    check("any socket v6", &SocketAddr::V6(socket6));
    check("duration", &Duration::from_millis(90_250));
    check("uuid", &uuid::uuid!("67e55044-10b1-426f-9247-bb680e5fe0c8"));
    check("long pair", &(&long, 1));
    check("long sequence", &(0..100).collect::<Vec<i32>>());
    check("derived newtype", &Url("https://example.org".to_owned()));
    check("derived struct", &Order { number: 12, region: "eu", parcels: Some(3) });
    check("derived unit", &Unit);
    check("derived plain enum", &State::Paid);
    check("derived next discriminant", &State::Sent);
    check("derived negative discriminant", &State::Deleted);
    check("derived variant", &Event::Moved { by: 4, axis: "y" });
    assert!(Named::Given.key_number() == Some(40) && Named::Own.key_number() == Some(50));
    let cached = Cached { id: 5, cache: 0.5 };
    assert!(cached.cache < 1.0);
    check("derived skipped", &cached);
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn keys_have_the_bytes_of_the_second_implementation() {
    let expected = include_str!("golden/keys.txt");
    let mut lines = expected.lines();
    with_keys(|name, key| {
        let line = format!("{name}\t{}", hexadecimal(&key.to_key_bytes()));
        assert_eq!(Some(line.as_str()), lines.next());
    });
    assert_eq!(lines.next(), None);
}

#[test]
fn the_hash_of_a_key_is_that_of_its_bytes() {
    let seed = Seed::from(0x0f1e_2d3c_4b5a_6978);
    let portable = [PortableHasher::xxh3(seed), PortableHasher::sip13(seed)];
    let filters = portable.map(|hasher| BloomFilter::builder().bits(64).probes(1).hasher(hasher).build().expect("small"));
    let prehashed = BlockedBloomFilter::builder().bits(512).probes(1).hasher(Prehashed::new(seed)).build().expect("small");
    with_keys(|name, key| {
        let bytes = key.to_key_bytes();
        for filter in &filters {
            assert_eq!(filter.hash(key), filter.hash(&bytes), "{name}");
        }
        assert_eq!(prehashed.hash(key), prehashed.hash(&bytes), "{name}");
    });
}

/// Batches hash numbers in parallel. Tests that keys of other kinds in the same batch do not change
/// this.
#[test]
fn batches_hash_as_one_by_one_does() {
    let mut filter = BloomFilter::builder().bits(100_000).probes(5).hasher(PortableHasher::xxh3(Seed::from(3))).build().expect("small");
    let moves: Vec<Event> = (0..300).map(|by| Event::Moved { by, axis: "z" }).collect();
    let states = [State::Deleted, State::Paid, State::Sent];
    let mixed = || (0..900).map(|i| if i % 3 == 2 || i < 400 { &states[i % 3] as &dyn Key } else { &moves[i / 3] });
    filter.insert_all(mixed());
    assert!(mixed().all(|key| filter.contains(key)));
    assert_eq!(filter.changed(), 3 + 167);
    assert!(filter.contains_all([Event::Started, Event::Moved { by: 299, axis: "z" }]).iter().eq([false, true]));
}

type Nested = (String, Option<Vec<u16>>, Vec<(String, bool)>);

fn nested() -> impl Strategy<Value = Nested> {
    let text = || "[\0\u{1}a]{0,3}";
    (text(), proptest::option::of(proptest::collection::vec(0u16..3, 0..3)), proptest::collection::vec((text(), any::<bool>()), 0..3))
}

proptest! {
    #[test]
    fn no_value_begins_as_another(one in nested(), other in nested()) {
        let (first, second) = (one.to_key_bytes(), other.to_key_bytes());
        prop_assert_eq!(one == other, first == second);
        prop_assert_eq!(one == other, first.starts_with(&second) || second.starts_with(&first));
    }
}
