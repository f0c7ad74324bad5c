//! Kirsch and Mitzenmacher, section 9: the Count-Min sketch of two hashes.

use crate::{Claim, shown};
use truebloom_math::count_min::{Family, Rows, Shape};
use truebloom_math::{Rate, Result};

pub(super) fn claims() -> Result<Vec<Claim>> {
    let rate = |power: i32| Rate::from_parts(1, -power, 1);
    let needed = -libm::log(0.01 * (1.0 - 0.5 * libm::exp(-2.0)));
    let keeps = (1..=12).map(|power| one_copy_keeps(&rate(power)?)).collect::<Result<Vec<_>>>()?.into_iter().all(|keeps| keeps);
    let copied = Shape::for_error(&rate(2)?, &rate(4)?, Rows::TwoHash)?;
    let functions = copied.hash_functions() == 4 && copied.failure_bound(&rate(2)?, Family::Ideal)?.upper <= 1e-4;
    let (joint, width) = (counterexample(101, 4, 4), 101f64);
    let product = (4.0 / width) * (4.0 / width) * (4.0 / width) * (4.0 / width);
    Ok(vec![
        Claim::statement(
            ["theorem-9-1-depth", "theorem 9.1", "the failure probability delta must be at least ln(1/(epsilon (1 - 1/(2e^2)))); epsilon = 0.01"],
            "delta >= ln(1/(epsilon (1 - 1/(2e^2))))",
            needed <= 1.0,
            format!("the right side is {}, but delta is a probability, so it is at most 1", shown(needed)),
        )
        .unless("this is a condition on the depth d, not on delta; with the smallest such d, the theorem says that an error above epsilon has a probability of at most epsilon (checked for epsilon = 0.1 to 1e-12)", keeps, "K12"),
        Claim::statement(
            ["section-9-2-copies", "section 9.2", "the number of independent copies of the sketch, which is 2 ceil(ln(1/delta)/ln(1/epsilon)); epsilon = 0.01, delta = 1e-4"],
            "4",
            copied.copies() == 4,
            copied.copies().to_string(),
        )
        .unless("2 copies of the rows are enough; together, they have 4 hash functions", functions, "K13"),
        Claim::statement(
            [
                "theorem-9-1-product",
                "theorem 9.1",
                "an upper bound on the probability that, in every row, a given key shares its counter with one of four items; the proof multiplies the bounds of the rows; pairwise independent hashes, w = 101, d = 4",
            ],
            "2.46011e-6",
            joint <= product,
            format!("if the rows are computed from two hashes, the probability can be {}", shown(joint)),
        )
        .unless("4/101, by Markov's inequality for a single row", joint <= 4.0 / width, "K14"),
    ])
}

/// Whether the theorem's bound shows that one copy with the theorem's width and depth has an error
/// above `epsilon` N with probability at most `epsilon`.
fn one_copy_keeps(epsilon: &Rate) -> Result<bool> {
    let shape = Shape::for_error(epsilon, epsilon, Rows::TwoHash)?;
    Ok(shape.copies() == 1 && shape.failure_bound(epsilon, Family::Ideal)?.upper <= epsilon.to_f64())
}

/// Returns the probability that the origin collides with at least one item in each of `depth` rows
/// of h1 + j h2. The items are (-t, 1) for t below `items`, except those that share both hashes
/// with the origin. The probability is found by enumerating all linear hashes
/// `h(x) = alpha x + beta` modulo a prime. A common factor of the four alphas does not affect
/// collisions, so the first alpha that is not 0 is set to 1.
fn counterexample(width: u64, depth: u64, items: u64) -> f64 {
    let more = |first: u64, second: u64, t: u64| (second + (width - t) * first) % width;
    let every_row_is_hit = |[a, b, c, d]: [u64; 4]| {
        let hits = |j: u64, t: u64| {
            let (u, v) = (more(a, b, t), more(c, d, t));
            (u, v) != (0, 0) && (u + j * v).is_multiple_of(width)
        };
        (0..depth).all(|j| (0..items).any(|t| hits(j, t)))
    };
    let digits = |code: u64| [code / (width * width) % width, code / width % width, code % width];
    let mut classes = 0u64;
    for leading in 0..4u32 {
        let after = (3 - leading) as usize;
        classes += (0..width.pow(3 - leading))
            .filter(|code| {
                let mut alphas = [0; 4];
                alphas[leading as usize] = 1;
                alphas[4 - after..].copy_from_slice(&digits(*code)[3 - after..]);
                every_row_is_hit(alphas)
            })
            .count() as u64;
    }
    let all = (width * width * width * width) as f64;
    (classes * (width - 1)) as f64 / all
}
