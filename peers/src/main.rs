//! Prints the sizes and the measured rates of filters of other Rust libraries, as CSV.

/// The interface to each library, which gives sizes and makes filters.
trait Peer {
    const NAME: &'static str;
    fn new(items: u64, rate: f64) -> Self;
    fn size(&self) -> (u64, u64);
    fn insert(&mut self, key: u128);
    fn contains(&self, key: u128) -> bool;
}

impl Peer for fastbloom::BloomFilter {
    const NAME: &'static str = "fastbloom";
    fn new(items: u64, rate: f64) -> Self {
        fastbloom::BloomFilter::with_false_pos(rate).expected_items(items as usize)
    }
    fn size(&self) -> (u64, u64) {
        (self.num_bits() as u64, self.num_hashes().into())
    }
    fn insert(&mut self, key: u128) {
        fastbloom::BloomFilter::insert(self, &key);
    }
    fn contains(&self, key: u128) -> bool {
        fastbloom::BloomFilter::contains(self, &key)
    }
}

impl Peer for bloomfilter::Bloom<u128> {
    const NAME: &'static str = "bloomfilter";
    fn new(items: u64, rate: f64) -> Self {
        bloomfilter::Bloom::new_for_fp_rate(items as usize, rate).expect("a filter")
    }
    fn size(&self) -> (u64, u64) {
        (self.len(), self.number_of_hash_functions().into())
    }
    fn insert(&mut self, key: u128) {
        self.set(&key);
    }
    fn contains(&self, key: u128) -> bool {
        self.check(&key)
    }
}

impl Peer for poppy_filters::v1::BloomFilter {
    const NAME: &'static str = "dcso";
    fn new(items: u64, rate: f64) -> Self {
        poppy_filters::v1::BloomFilter::with_capacity(items, rate).expect("a filter")
    }
    fn size(&self) -> (u64, u64) {
        (self.n_bits(), self.n_hash_fn())
    }
    fn insert(&mut self, key: u128) {
        self.insert_bytes(key.to_le_bytes()).expect("room");
    }
    fn contains(&self, key: u128) -> bool {
        self.contains_bytes(key.to_le_bytes())
    }
}

struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
    fn key(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

fn measure<P: Peer>(items: u64, rate: f64, queries: u64) {
    const FILTERS: u64 = 20;
    let (mut words, mut hits) = (Words(items), 0);
    for _ in 0..FILTERS {
        let mut filter = P::new(items, rate);
        (0..items).for_each(|_| filter.insert(words.key()));
        hits += (0..queries / FILTERS).filter(|_| filter.contains(words.key())).count();
    }
    let (bits, probes) = P::new(items, rate).size();
    println!("{},{items},{rate:e},{bits},{probes},{queries},{hits}", P::NAME);
}

fn all<P: Peer>() {
    for items in [1, 2, 7, 33, 250, 4_321, 1_000_000] {
        for rate in [0.5, 0.1, 0.03, 1e-3, 1e-4, 1e-9] {
            let (bits, probes) = P::new(items, rate).size();
            println!("{},{items},{rate:e},{bits},{probes},0,0", P::NAME);
        }
    }
    for items in [100, 1_000, 100_000] {
        measure::<P>(items, 1e-2, 2_000_000);
        measure::<P>(items, 1e-6, 100_000_000);
    }
}

fn main() {
    println!("library,items,rate,bits,probes,queries,hits");
    all::<fastbloom::BloomFilter>();
    all::<bloomfilter::Bloom<u128>>();
    all::<poppy_filters::v1::BloomFilter>();
}
