//! The coefficients of 1/n against the reference vectors and against exact rates of large filters.

mod common;

use common::{fraction, int, rows};
use num_traits::ToPrimitive;
use serde_json::Value;
use truebloom_math::Law;
use truebloom_math::convergence::{
    LARGE_POWER_OF_TWO, LARGE_PRIME, conditions, hits_normal, hits_of_one_filter, limit_rate, odd_step_constant, partition_constant,
    rate_deviation, standard_constant, theorem_6_1_printed, theorem_6_2_lower_printed, theorem_6_2_upper, theorem_7_1, theorem_7_2,
};
use truebloom_math::law::{Double, Offsets, PartitionDouble, Step};

fn number(row: &Value, field: &str) -> f64 {
    fraction(row[field].as_str().expect("a number")).to_f64().expect("finite")
}

fn double(m: u64, k: u32, step: Step, offsets: Offsets) -> Double {
    Double::new(m, k, step, offsets).expect("in range")
}

#[test]
fn every_constant_of_the_vectors() {
    let all = rows("km_constants.json");
    let mut worst = 0f64;
    for row in all["rows"].as_array().expect("rows") {
        let (c, k) = (int(row, "c") as f64, int(row, "k") as u32);
        let of = |m, step, offsets| double(m, k, step, offsets).constant(c).expect("affordable");
        let prime = |offsets| of(LARGE_PRIME, Step::Any, offsets);
        let found = [
            ("f", limit_rate(c, k)),
            ("standard", standard_constant(c, k)),
            ("partition_prime", partition_constant(c, k)),
            ("partition_thm61_printed", theorem_6_1_printed(c, k)),
            ("thm62_lower", theorem_6_2_lower_printed(c, k)),
            ("thm62_upper", theorem_6_2_upper(c, k)),
            ("double_prime", prime(Offsets::Linear)),
            ("double_prime_nz", of(LARGE_PRIME, Step::NonZero, Offsets::Linear)),
            ("double_pow2", of(LARGE_POWER_OF_TWO, Step::Any, Offsets::Linear)),
            ("double_pow2_odd", odd_step_constant(c, k).expect("in range")),
            ("ext_sq", prime(Offsets::Square)),
            ("ext_cube", prime(Offsets::Cube)),
            ("ext_enh", prime(Offsets::Enhanced)),
        ];
        for (name, value) in found {
            let expected = number(row, name);
            let error = (value - expected).abs() / expected.abs().max(1e-3);
            assert!(error < 1e-10, "{name}: {value} for {expected} in {row}");
            worst = worst.max(error);
        }
    }
    println!("worst relative error {worst:e}");
}
