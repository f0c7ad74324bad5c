//! The keys of `everywhere.py` as Rust has them. `keys-in-rust FILE` writes the filter of them;
//! `keys-in-rust FILE has` says how many of them a file from elsewhere contains.

use truebloom::{AnyFilter, BloomFilter, Filter, PortableHasher, Seed};
use uuid::Uuid;

/// Does the same with each key; nearly each is of another type.
macro_rules! each {
    ($key:ident => $do:expr) => {
        each!($key => $do; "café", "", b"\x00\xff", 5u8, -2i16, i64::MIN, u64::MAX, true, ("a", 2u32), (("a", -1i8), "b"), ID, (ID, 7u64))
    };
    ($key:ident => $do:expr; $($value:expr),*) => {$({
        let $key = &$value;
        $do
    })*};
}

const ID: Uuid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    if arguments.next().is_some() {
        let (filter, mut found) = (AnyFilter::open(&file)?, 0);
        each!(key => found += u32::from(Filter::contains(&filter, key)));
        println!("{found}");
        return Ok(());
    }
    let mut filter = BloomFilter::builder().items(2000u32).rate("1e-6").hasher(PortableHasher::xxh3(Seed::from(0x2a))).build()?;
    let mut new = 0;
    each!(key => new += u32::from(filter.insert(key)));
    println!("{new}");
    filter.save(&file)?;
    Ok(())
}
