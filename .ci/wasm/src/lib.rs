//! Answers that must be the same on all machines, bit for bit: rates, plans, quantiles of the rate
//! of a single filter, designs of recycling filters, and the bits of filters.

use truebloom::recycling::RecyclingFilter;
use truebloom::truebloom_math::recycling::{Design, Mode};
use truebloom::truebloom_math::{Variant, rate_quantile_bound};
use truebloom::{BlockedBloomFilter, BloomFilter, KeyHasher, Plan, PortableHasher, Rate, Seed, Target};

/// The number of answers.
pub const ANSWERS: u32 = 40;

/// Returns the answer with this number as 64 bits. If all bits are 1, the answer is an error.
#[unsafe(no_mangle)]
pub extern "C" fn answer(number: u32) -> u64 {
    answer_of(number).unwrap_or(u64::MAX)
}

fn answer_of(number: u32) -> Option<u64> {
    let (kind, size) = (number / 8, u64::from(number % 8));
    let (items, rate) = (10u64.pow(size as u32 / 2 + 2), ["1%", "1e-6"][size as usize % 2]);
    let rate: Rate = rate.parse().ok()?;
    let target = Target::new().items(items).rate(rate);
    Some(match kind {
        0 => Variant::Standard.fpr(10 * items + size, items, 7).ok()?.upper.to_bits(),
        1 => Plan::new(&target).ok()?.bits,
        2 => rate_quantile_bound(Variant::Classic, 12 * items + size, items, 8, 0.999).ok()?.fpr.upper.to_bits(),
        3 => Design::new(20 * items, 5, 9 * items + size, Mode::default()).ok()?.long_run().ok()?.fpr.value.to_bits(),
        _ => hash_of_filters(size, rate)?,
    })
}

/// The hash of a filter's bytes. The filter holds keys of several kinds.
fn hash_of_filters(size: u64, rate: Rate) -> Option<u64> {
    let hasher = PortableHasher::xxh3(Seed::from(u128::from(size)));
    let keys = || (0..500u32).map(|i| (i, "text", Some(i as usize)));
    let bytes = match size {
        0..4 => {
            let mut filter = BloomFilter::with_hasher(500, rate, hasher).ok()?;
            filter.extend(0..500);
            filter.extend(keys());
            filter.to_bytes().ok()?
        }
        4..6 => {
            let mut filter = BlockedBloomFilter::with_hasher(500, rate, hasher).ok()?;
            filter.insert_all(keys());
            filter.to_bytes().ok()?
        }
        _ => {
            let mut filter = RecyclingFilter::for_items_with_hasher(200, rate, hasher).ok()?;
            keys().for_each(|key| {
                filter.check_and_insert(&key);
            });
            filter.to_bytes().ok()?
        }
    };
    Some(u128::from(hasher.hash(&bytes)) as u64)
}
