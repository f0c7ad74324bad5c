//! Tests views of recycling filters, which are the kinds 3, 4 and 8 of files.

use crate::everywhere;
use truebloom::recycling::{Blocked, Layout, Phases, Policy, RecyclingFilter, Seeds, Trigger};
use truebloom::scheme::{Classic, Standard};
use truebloom::{FormatError, KeyHasher, PortableHasher, Seed};

fn check<S: Layout>(bits: u64, policy: Policy<S::Limit>) {
    let hasher = PortableHasher::sip13(Seed::from(5));
    let mut filter: RecyclingFilter<_, S> = RecyclingFilter::with_hasher(bits, 5, policy, hasher).expect("small");
    (0..700u64).for_each(|key| _ = filter.check_and_insert(&key));
    assert!(filter.stats().cycles > 0, "something was forgotten");
    let bytes = filter.to_bytes().expect("small");
    everywhere(&bytes, |held| {
        let view = RecyclingFilter::<PortableHasher, S>::view_prefix(held).expect("whole");
        assert!((0..1_500u64).all(|key| view.contains(&key) == filter.contains(&key)));
        assert_eq!((view.stats(), view.bits(), view.seed()), (filter.stats(), filter.bits(), filter.hasher().seed()));
        assert_eq!((view.encoded_bytes(), view.worst_fpr()), (bytes.len() as u64, filter.worst_fpr()));
        let counted = view.verify_bytes().expect("undamaged");
        assert_eq!((counted.ones(), counted.frozen_ones(), counted.fpr()), (filter.ones(), filter.frozen_ones(), filter.fpr()));
    });
    for at in [256, bytes.len() - 20] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        let view = RecyclingFilter::<PortableHasher, S>::view(&damaged).expect("its header is whole");
        assert!(matches!(view.verify_bytes().map(drop), Err(FormatError::PayloadChecksum { .. })));
    }
}

#[test]
fn a_view_remembers_what_the_filter_does() {
    check::<Standard>(1_003, Policy::one_phase(500));
    check::<Classic>(1_003, Policy::two_phases(500));
    check::<Standard>(1_003, Policy { phases: Phases::Two(Trigger::Excluded), seeds: Seeds::Kept, ..Policy::one_phase(500) });
    check::<Blocked>(1_024, Policy::one_phase(0.03));
}
