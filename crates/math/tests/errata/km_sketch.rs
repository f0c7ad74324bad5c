//! Kirsch and Mitzenmacher, section 9: the Count-Min sketch of two hash functions.

use crate::common::committees::{raise, whole};
use crate::common::{fraction, int, of_f64, power, ratio, rows};
use num_rational::BigRational;
use num_traits::One;
use truebloom_math::count_min::{Family, Rows, Shape};

fn two_hash(epsilon: &str, delta: &str) -> Shape {
    let rate = |text: &str| text.parse().expect("a rate");
    Shape::for_error(&rate(epsilon), &rate(delta), Rows::TwoHash).expect("a size")
}

const E: &str = "2.71828182845904523536028747135266249775724709369995957496697";

/// Tests the printed condition, which bounds a probability by a logarithm; the logarithm is above 1
/// for every epsilon below 0.39. Read as a condition on the depth, the condition is sufficient, and
/// one row less is not enough.
#[test]
fn theorem_9_1_means_the_depth() {
    let e = fraction(E);
    let shrink = BigRational::one() - ratio(1, 2) / power(&e, 2);
    for epsilon in ["0.5", "0.34", "0.1", "0.05", "0.01", "0.001", "0.000001"] {
        let (exact, shape) = (fraction(epsilon), two_hash(epsilon, epsilon));
        // delta >= ln(1 / (epsilon (1 - 1/(2e^2)))) >= 1 says nothing of a probability.
        assert_eq!(&e * &exact * &shrink <= BigRational::one(), exact < fraction("0.39"), "{epsilon}");
        let least = |depth: u32| power(&e, depth) * &exact * &shrink >= BigRational::one();
        assert!(least(shape.depth()) && (shape.depth() == 1 || !least(shape.depth() - 1)), "{epsilon}");
        let two = ratio(2, 1) / (&exact * whole(shape.width()));
        let bound = power(&two, shape.depth()) + &two / whole(shape.width());
        assert!(bound <= exact, "{epsilon}");
        // At the width of the theorem itself, 2e/epsilon, one row less is too much.
        let at_real_width = |depth: u32| power(&e, depth).recip() + &exact / (ratio(2, 1) * power(&e, 2));
        assert!(at_real_width(shape.depth()) <= exact);
        assert!(shape.depth() == 1 || at_real_width(shape.depth() - 1) > exact, "{epsilon}");
    }
}

/// Tests that half of the printed number of copies is enough, because the paper counts hash
/// functions. Also tests that copies with shared hash functions are no better than one copy.
#[test]
fn section_9_2_counts_functions_as_copies() {
    for (epsilon, delta, copies) in [("0.01", "0.0001", 2), ("0.1", "0.000001", 6), ("0.25", "0.1", 2)] {
        let shape = two_hash(epsilon, delta);
        assert_eq!((shape.copies(), shape.hash_functions()), (copies, 2 * u64::from(copies)));
        assert!(power(&fraction(epsilon), copies) <= fraction(delta) && power(&fraction(epsilon), copies - 1) > fraction(delta));
        let bound = shape.failure_bound(&epsilon.parse().expect("a rate"), Family::Ideal).expect("a bound");
        assert!(of_f64(bound.upper) <= fraction(delta));
    }
    // Width 3, depth 2, one other item: both rows collide when it has both hashes. A second copy
    // squares that only with functions of its own.
    let pairs = || (0..9u64).map(|code| (code / 3, code % 3));
    let collide = |(a1, a2): (u64, u64), (b1, b2): (u64, u64)| (0..2).all(|j| (a1 + j * a2) % 3 == (b1 + j * b2) % 3);
    let one = pairs().flat_map(|a| pairs().map(move |b| (a, b))).filter(|&(a, b)| collide(a, b)).count() as u64;
    let shared = ratio(one, 81);
    assert_eq!(shared, ratio(1, 9));
    assert_eq!(&shared * &shared, ratio(1, 81), "own functions; with shared ones it stays 1/9");
}

/// Tests the counterexample with the paper's linear family on the plane, `h(x) = alpha x + beta`
/// modulo w. The hash of an item (-t, 1) is the hash of the origin plus `alpha_2 - t alpha_1`. The
/// test counts the values of alpha for which every row has a collision with one of the four items,
/// excluding items that share both hashes.
#[test]
fn the_product_step_fails_for_pairwise_independence() {
    let vectors = rows("cm_counterexample.json");
    let row = &vectors["rows"][0];
    let (width, depth, items) = (int(row, "w"), int(row, "d"), int(row, "items"));
    let more = |[first, second]: [u64; 2], t: u64| (second + (width - t) * first) % width;
    let every_row_is_hit = |h1: [u64; 2], h2: [u64; 2]| {
        let differences = (0..items).map(|t| (more(h1, t), more(h2, t))).filter(|item| *item != (0, 0)).collect::<Vec<_>>();
        (0..depth).all(|j| differences.iter().any(|(u, v)| (u + j * v) % width == 0))
    };
    // A common factor of all four numbers changes nothing, and the width is a prime: one of each
    // class, with a first number of 1, stands for w - 1 choices.
    let mut classes = 0u64;
    for leading in 0..4u32 {
        classes += (0..width.pow(3 - leading))
            .filter(|code| {
                let digit = |place: u32| code / width.pow(place) % width;
                let alphas: [u64; 4] = std::array::from_fn(|i| match (i as u32).cmp(&leading) {
                    std::cmp::Ordering::Less => 0,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => digit(i as u32 - leading - 1),
                });
                every_row_is_hit([alphas[0], alphas[1]], [alphas[2], alphas[3]])
            })
            .count() as u64;
    }
    let joint = classes * (width - 1);
    let joint = BigRational::new(joint.into(), raise(&whole(width), 4).to_integer());
    assert_eq!(joint, fraction(row["joint"].as_str().expect("a fraction")));
    // Each row alone: two divided by epsilon w, for an epsilon of a half; the product of the rows
    // is smaller than what happens.
    let product = raise(&ratio(4, width), depth);
    assert!(joint > product, "{joint} {product}");
    assert!(&joint / &product > fraction("1.56") && &joint / &product < fraction("1.57"));
    // What is claimed for such families: one row alone, which holds here.
    let shape = Shape::new(Rows::TwoHash, width, depth as u32, 1).expect("a shape");
    let bound = shape.failure_bound(&"0.25".parse().expect("a rate"), Family::Pairwise).expect("a bound");
    assert!(joint <= of_f64(bound.upper) && of_f64(bound.lower) <= ratio(4, width));
}

/// Tests two corrections: an estimate is at least the item's own count a_i, not the a without an
/// index; and the depth d is at most w, because among more than w rows, two have the same function.
#[test]
fn theorem_9_1_needs_its_index_and_no_more_rows_than_counters() {
    let width = 5u64;
    let row = |j: u64, h1: u64, h2: u64| (h1 + j * h2) % width;
    for (h1, h2) in (0..width).flat_map(|h1| (0..width).map(move |h2| (h1, h2))) {
        assert_eq!(row(0, h1, h2), row(width, h1, h2), "row w is row 0");
        // Items that differ in a hash share at most one of w rows.
        for (g1, g2) in (0..width).flat_map(|g1| (0..width).map(move |g2| (g1, g2))).filter(|g| *g != (h1, h2)) {
            assert!((0..width).filter(|&j| row(j, h1, h2) == row(j, g1, g2)).count() <= 1);
        }
    }
    assert!(Shape::new(Rows::TwoHash, 5, 5, 1).is_ok() && Shape::new(Rows::TwoHash, 5, 6, 1).is_err());
}
