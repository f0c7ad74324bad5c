//! Calls laws and occupancy distributions with extreme arguments.

use crate::draw::Draw;
use crate::watch::{Call, watch};
use std::hint::black_box;
use truebloom_math::law::{Blocked, InBlock, PartitionDouble, convergence};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::sets::{Interval, SetOp};
use truebloom_math::{Law, sets};

pub(crate) const CALLS: &[Call] = &[
    ("Variant::fpr", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let items = d.beside(bits);
        black_box(variant.fpr(bits, items, probes)).ok();
    }),
    ("SchemeId::law", |d| {
        let (scheme, bits, probes) = (d.scheme(), d.size(), d.probes());
        black_box(scheme.law(bits, probes)).ok();
    }),
    ("Law::fpr", |d| {
        with_law(d, |d, law| {
            let items = d.beside(law.bits());
            black_box(law.fpr(items)).ok();
        })
    }),
    ("Law::proven", |d| {
        with_law(d, |d, law| {
            let items = d.beside(law.bits());
            black_box(law.proven(items)).ok();
        })
    }),
    ("Law::meets", |d| {
        with_law(d, |d, law| {
            let (items, rate) = (d.beside(law.bits()), d.rate());
            black_box(law.meets(items, &rate, 128)).ok();
        })
    }),
    ("Law::floors", |d| {
        with_law(d, |d, law| {
            let items = d.beside(law.bits());
            black_box(law.floors(items, 64));
        })
    }),
    ("Law::fill", |d| {
        with_law(d, |d, law| {
            let (items, ones) = (d.beside(law.bits()), d.size());
            if let Ok(Some(fill)) = law.fill(items) {
                black_box((fill.at_least(ones), fill.at_most(ones)));
            }
        })
    }),
    ("Law::fpr_at_fill", |d| {
        with_law(d, |d, law| {
            let slices = d.one_of(&[1, law.probes().min(2_000)]);
            let ones: Vec<u64> = (0..slices).map(|_| d.beside(law.bits() / u64::from(slices))).collect();
            black_box(law.fpr_at_fill(&ones)).ok();
        })
    }),
    ("Double::fpr", |d| {
        if let Some(law) = d.double() {
            let items = d.beside(law.bits());
            black_box(law.fpr(items)).ok();
        }
    }),
    ("Double::meets", |d| {
        if let Some(law) = d.double() {
            let (items, rate) = (d.beside(law.bits()), d.rate());
            black_box(law.meets(items, &rate, 128)).ok();
        }
    }),
    ("Double::constant", |d| {
        if let Some(law) = d.double() {
            let load = d.real();
            black_box(law.constant(load)).ok();
        }
    }),
    ("PartitionDouble::fpr", |d| {
        let (slice, probes) = (d.size(), d.probes());
        let items = d.beside(slice);
        if let Ok(law) = PartitionDouble::new(slice, probes) {
            black_box((law.fpr(items).ok(), law.floors(items, 128)));
        }
    }),
    ("Blocked::fpr", |d| {
        with_blocks(d, |d, law| {
            let items = d.beside(law.bits());
            black_box(law.fpr(items)).ok();
        })
    }),
    ("Blocked::meets", |d| {
        with_blocks(d, |d, law| {
            let (items, rate) = (d.beside(law.bits()), d.rate());
            black_box(law.meets(items, &rate, 128)).ok();
        })
    }),
    ("Blocked::fill", |d| {
        with_blocks(d, |d, law| {
            let items = d.beside(law.bits());
            black_box(law.fill(items)).ok();
        })
    }),
    ("Blocked::fpr_at_block_fills", |d| {
        with_blocks(d, |d, law| {
            let ones: Vec<u64> = (0..=law.block_bits().min(2_000)).map(|_| d.beside(law.bits() / law.block_bits())).collect();
            black_box(law.fpr_at_block_fills(&ones)).ok();
        })
    }),
    ("convergence", |d| {
        let (load, probes, items, real) = (d.real(), d.probes(), d.size(), d.real());
        black_box((convergence::limit_rate(load, probes), convergence::standard_constant(load, probes)));
        black_box((convergence::partition_constant(load, probes), convergence::negligible_up_to(items, real)));
        black_box((
            convergence::rate_deviation(items, items, probes, real),
            convergence::theorem_7_2(items, items, probes, load, real, real, load),
        ));
        black_box((convergence::hits_normal(items, real, load), convergence::hits_of_one_filter(items, real, items / 2)));
    }),
    ("odd_step_constant", |d| {
        let (load, probes) = (d.real(), d.probes());
        black_box(convergence::odd_step_constant(load, probes)).ok();
    }),
    ("conditions", |d| {
        if let Some(law) = d.double() {
            let items = d.size();
            black_box(convergence::conditions(&law, items));
        }
    }),
    ("set_fpr", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let op = d.one_of(&[SetOp::Union, SetOp::Intersection]);
        let sets = d.below(5) as usize;
        let items: Vec<u64> = (0..d.note(sets)).map(|_| d.beside(bits)).collect();
        black_box(sets::set_fpr(op, variant, bits, probes, &items)).ok();
    }),
    ("sets::sizes", |d| {
        let (variant, bits, probes) = (d.variant(), d.size(), d.probes());
        let (a, b, union) = (d.beside(bits), d.beside(bits), d.beside(bits));
        black_box(sets::sizes(variant, bits, probes, a, b, union)).ok();
    }),
    ("sets::intervals", |d| {
        let mut interval = || Interval { lower: d.size(), upper: Some(d.size()).filter(|size| size % 2 == 0) };
        black_box(sets::intervals(interval(), interval(), interval()));
    }),
    ("Occupancy moments", |d| {
        with_occupancy(d, |d, law| {
            let order = d.one_of(&[0, 1, 2, 3, 10, 100, 1_000, u32::MAX]);
            let order = d.note(order);
            black_box((law.mean().ok(), law.variance().ok()));
            black_box(law.raw_moment(order)).ok();
        })
    }),
    ("Occupancy factorial moments", |d| {
        with_occupancy(d, |d, law| {
            let order = d.one_of(&[0, 1, 2, 3, 10, 100, 1_000, u32::MAX]);
            let order = d.note(order);
            black_box(law.factorial_moment(order)).ok();
        })
    }),
    ("Occupancy binomial moments", |d| {
        with_occupancy(d, |d, law| {
            let order = d.one_of(&[0, 1, 2, 3, 10, 100, 1_000, u32::MAX]);
            let order = d.note(order);
            black_box(law.binomial_moment(order)).ok();
        })
    }),
    ("Occupancy::pmf", |d| {
        with_occupancy(d, |_, law| {
            black_box(law.pmf()).ok();
        })
    }),
    ("Occupancy::probability", |d| {
        with_occupancy(d, |d, law| {
            let ones = d.beside(law.bits());
            black_box(law.probability(ones)).ok();
        })
    }),
    ("Occupancy::generating_function", |d| {
        with_occupancy(d, |d, law| {
            let z = d.real();
            black_box(law.generating_function(z)).ok();
        })
    }),
    ("Occupancy::cdf", |d| {
        with_occupancy(d, |d, law| {
            let ones = d.beside(law.bits());
            black_box(law.cdf(ones)).ok();
        })
    }),
    ("Occupancy::at_least", |d| {
        with_occupancy(d, |d, law| {
            let ones = d.beside(law.bits());
            black_box(law.at_least(ones)).ok();
        })
    }),
    ("Occupancy::quantile", |d| {
        with_occupancy(d, |d, law| {
            let p = d.confidence();
            black_box(law.quantile(p)).ok();
        })
    }),
    ("Occupancy::exact_quantile", |d| {
        with_occupancy(d, |d, law| {
            let p = d.confidence();
            black_box(law.exact_quantile(p)).ok();
        })
    }),
    ("Occupancy::sample", |d| {
        with_occupancy(d, |d, law| {
            black_box(law.sample(&mut || d.below(u64::MAX))).ok();
        })
    }),
];

fn with_law(d: &mut Draw, call: impl FnOnce(&mut Draw, &dyn Law)) {
    let (scheme, probes, size) = (d.scheme(), d.probes(), d.size());
    let bits = match scheme.block_bits() {
        Some(block) => size - size % block,
        None if scheme.name() == "partition-double" => size - size % u64::from(probes.max(1)),
        None => size,
    };
    if let Ok(law) = scheme.law(bits, probes) {
        call(d, law.as_ref());
    }
}

fn with_blocks(d: &mut Draw, call: impl FnOnce(&mut Draw, &Blocked)) {
    let (probes, size) = (d.probes(), d.size());
    let blocks = d.one_of(&[1u64, 2, 3, 1 << 20, 1 << 40]);
    let word_bits = size / u64::from(probes.max(1));
    let in_block = d.one_of(&[InBlock::Independent, InBlock::Distinct, InBlock::Split { word_bits }]);
    let block_bits = if let InBlock::Split { word_bits } = in_block { word_bits * u64::from(probes) } else { size };
    if let Some(bits) = d.note(blocks).checked_mul(block_bits)
        && let Ok(law) = Blocked::new(bits, block_bits, d.note(in_block), probes)
    {
        call(d, &law);
    }
}

fn with_occupancy(d: &mut Draw, call: impl FnOnce(&mut Draw, &Occupancy)) {
    let (kind, bits) = (d.below(4), d.size());
    let items = d.beside(bits);
    let law = match d.note(kind) {
        0 => Occupancy::standard(bits, items, d.probes()),
        1 => Occupancy::classic(bits, items, d.probes()),
        _ => {
            let parts = d.below(4) as usize;
            let committees: Vec<(u64, u64)> = (0..d.note(parts)).map(|_| (d.beside(bits), d.beside(bits))).collect();
            if kind == 2 { Occupancy::union(bits, &committees) } else { Occupancy::intersection(bits, &[committees.clone(), committees]) }
        }
    };
    if let Ok(law) = law {
        call(d, &law);
    }
}

#[test]
fn laws_end_in_time() {
    watch(1, CALLS, 25);
}
