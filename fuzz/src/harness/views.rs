//! Opens views of forged files of every kind. A view must give the same answers as the filter that
//! is read from the same bytes.

use super::decode::mend;
use truebloom::count_min::{CountMin, HeavyHitters, ListedSketch, PairwiseCountMin, TwoHashCountMin, TwoHashRows};
use truebloom::recycling::BlockedRecyclingFilter;
use truebloom::scheme::{AnyScheme, Classic, InLines, Standard};
use truebloom::{AnyFilter, FormatError, Pack, PortableHasher, RecyclingFilter};

/// Larger payloads take more time and test nothing new.
const MOST_BYTES: usize = 1 << 16;

/// The first byte says which checksums are corrected, as for `decode`, and how the bytes are
/// aligned.
pub fn views(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    let mut bytes = rest[..rest.len().min(MOST_BYTES)].to_vec();
    if how % 8 != 7 {
        mend(&mut bytes, how % 8 != 6);
    }
    if truebloom::wire::is_coded(&bytes) {
        assert!(AnyFilter::view(&bytes[..]).is_err(), "what is compressed cannot be asked where it lies");
        return;
    }
    let shift = usize::from(how / 8);
    let held = [&vec![0; shift][..], &bytes, &[0xff; 33]].concat();
    let place = &held[shift..shift + bytes.len()];
    filter(&bytes, place);
    recycling(&bytes, place);
    sketches(&bytes, place);
    packs(&bytes, place);
    // Other bytes can follow the file in the buffer.
    let _ = AnyFilter::view_prefix(&held[shift..]).map(|view| view.contains(&how));
}

/// Compares reading and viewing: both fail, or the view succeeds and its verification fails, or
/// both succeed.
macro_rules! both {
    ($type:ty, $bytes:expr, $place:expr, |$read:ident, $view:ident| $alike:expr) => {
        match (<$type>::from_bytes($bytes), <$type>::view($place)) {
            (Err(read), Err(view)) => assert_eq!(read, view),
            (Err(_), Ok(view)) => assert!(view.verify_bytes().is_err(), "what cannot be read is not whole"),
            (Ok(_), Err(view)) => panic!("only the view is refused: {view}"),
            (Ok($read), Ok($view)) => {
                $alike;
                assert!($view.verify_bytes().is_ok(), "what can be read is whole");
            }
        }
    };
}

fn filter(bytes: &[u8], place: &[u8]) {
    match (AnyFilter::from_bytes(bytes), AnyFilter::view(place)) {
        // For a filter that grows, a view checks the checksums of the layers' records, but not the
        // bits. Reading checks the bits first, and can find a different error there.
        (Err(FormatError::PayloadChecksum { .. } | FormatError::Field { field: "set bits of a layer", .. }), Err(_))
            if bytes.get(10) == Some(&5) => {}
        (Err(read), Err(view)) => assert_eq!(read, view),
        (Err(read), Ok(view)) => {
            let _ = view.contains_all(0..300u64);
            let found = view.verify_bytes().map(drop).expect_err("what cannot be read is not whole");
            assert_eq!(read, found);
        }
        (Ok(_), Err(view)) => panic!("only the view is refused: {view}"),
        (Ok(read), Ok(view)) => {
            assert_eq!(view.contains_all(0..300u64), read.contains_all(0..300u64));
            assert!((0..20u64).all(|key| view.contains(&key) == read.contains(&key)));
            let counted = view.verify_bytes().expect("what can be read is whole");
            assert_eq!((counted.ones(), counted.fpr()), (read.ones(), read.fpr()));
        }
    }
}

fn recycling(bytes: &[u8], place: &[u8]) {
    macro_rules! look {
        ($($type:ty),*) => {$(
            both!($type, bytes, place, |read, view| assert!((0..50u64).all(|key| view.contains(&key) == read.contains(&key))));
        )*};
    }
    look!(RecyclingFilter, RecyclingFilter<PortableHasher, Classic>, BlockedRecyclingFilter);
}

fn packs(bytes: &[u8], place: &[u8]) {
    macro_rules! look {
        ($($type:ty),*) => {$(
            both!($type, bytes, place, |read, view| {
                assert_eq!((read.len(), view.len()), (view.iter().count(), read.iter().count()));
                for (read, view) in read.iter().zip(view.iter()) {
                    let (read, view) = (read.expect("checked"), view.expect("checked"));
                    assert!((0..20u64).all(|key| read.contains(&key) == view.contains(&key)));
                }
            });
        )*};
    }
    look!(Pack<Standard>, Pack<InLines>, Pack<AnyScheme>);
}

fn sketches(bytes: &[u8], place: &[u8]) {
    /// Narrow counters can be read into wide counters, but not viewed as wide counters.
    macro_rules! look {
        ($($type:ty),*) => {$(
            if let (Ok(read), Ok(view)) = (<$type>::from_bytes(bytes), <$type>::view(place)) {
                assert!((0..50u64).all(|key| view.estimate(&key) == read.estimate(&key)));
                assert!(view.verify_bytes().is_ok());
            } else if let Ok(view) = <$type>::view(place) {
                (0..50u64).for_each(|key| _ = view.estimate(&key));
                assert!(view.verify_bytes().is_err(), "what cannot be read is not whole");
            }
        )*};
    }
    look!(CountMin<u64>, CountMin<u32>, PairwiseCountMin<u64>, PairwiseCountMin<u32>, TwoHashCountMin<u64>, TwoHashCountMin<u32>);
    /// A view does not check the list of keys, so it can accept a damaged list.
    macro_rules! look_at_listed {
        ($($type:ty),*) => {$(
            if let Ok(view) = <$type>::view(place) {
                (0..50u64).for_each(|key| _ = view.estimate(&key));
                let counted = view.verify_bytes();
                if let Ok(read) = <$type>::from_bytes(bytes) {
                    let counted = counted.expect("what can be read is whole");
                    assert!((0..50u64).all(|key| counted.estimate(&key) == read.sketch().estimate(&key)));
                }
            }
        )*};
    }
    look_at_listed!(HeavyHitters<u64>, ListedSketch<TwoHashRows, u64>);
}
