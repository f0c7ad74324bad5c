//! Grandi, *On the analysis of Bloom filters*, section 3: 128 bits with 16 items (S1) and with 8
//! items (S2).

use crate::{Claim, Figure, classic, percent_above, standard};
use truebloom_math::{Approximation, Result, Variant, optimal_probes};

const BITS: u64 = 128;

/// The results for one setting and one number of probes.
struct Point {
    probes: u32,
    classic: f64,
    standard: f64,
    /// The approximations A1, A2, A3.
    approximations: [f64; 3],
}

impl Point {
    fn new(items: u64, probes: u32) -> Result<Point> {
        let approximation = |which: Approximation| which.value(BITS, items, probes);
        Ok(Point {
            probes,
            classic: classic(BITS, items, probes)?,
            standard: standard(BITS, items, probes)?,
            approximations: [
                approximation(Approximation::SeveranceLohman)?,
                approximation(Approximation::Knuth)?,
                approximation(Approximation::Grandi)?,
            ],
        })
    }

    /// The error of A1, A2 or A3, in percent of the exact rate.
    fn error(&self, which: usize) -> f64 {
        percent_above(self.approximations[which - 1], self.standard).abs()
    }

    /// The difference between the classic and the standard rate, in percent of the standard rate.
    fn difference(&self) -> f64 {
        percent_above(self.classic, self.standard).abs()
    }

    /// The names of the curves, in descending order of their values.
    fn order(&self) -> String {
        let [first, second, third] = self.approximations;
        let mut curves = [(self.classic, "C"), (self.standard, "S"), (third, "A3"), (second, "A2"), (first, "A1")];
        curves.sort_by(|a, b| b.0.total_cmp(&a.0));
        curves.map(|(_, name)| name).join(" > ")
    }
}

struct Setting {
    /// The points for every number of probes from 1 to the number of bits.
    points: Vec<Point>,
    best_standard: u32,
    best_classic: u32,
}

impl Setting {
    fn new(items: u64) -> Result<Setting> {
        Ok(Setting {
            points: (1..=BITS as u32).map(|probes| Point::new(items, probes)).collect::<Result<_>>()?,
            best_standard: optimal_probes(Variant::Standard, BITS, items)?.probes,
            best_classic: optimal_probes(Variant::Classic, BITS, items)?.probes,
        })
    }

    fn at(&self, probes: u32) -> &Point {
        &self.points[probes as usize - 1]
    }

    /// The point at the best number of probes of the standard filter.
    fn best(&self) -> &Point {
        self.at(self.best_standard)
    }

    /// The largest value of a number over the points, and the number of probes at which it occurs.
    fn largest(&self, number: impl Fn(&Point) -> f64) -> (f64, f64) {
        let most = self.points.iter().max_by(|a, b| number(a).total_cmp(&number(b)));
        most.map_or((0.0, 0.0), |point| (number(point), point.probes.into()))
    }

    /// The difference between the best rates of both filters, each at its own best number of
    /// probes.
    fn difference_of_best(&self) -> f64 {
        percent_above(self.at(self.best_classic).classic, self.best().standard).abs()
    }

    /// The points for up to three times the best number of probes, which include the range around
    /// the minimum.
    fn around_best(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().take(3 * self.best_standard as usize)
    }
}

pub(super) fn claims() -> Result<Vec<Claim>> {
    let (s1, s2) = (Setting::new(16)?, Setting::new(8)?);
    let both = [&s1, &s2];
    let mut claims = setting_1(&s1);
    claims.extend(setting_2(&s2));

    let printed_order = both.iter().all(|setting| setting.around_best().all(|point| point.order() == "C > S > A3 > A2 > A1"));
    claims.push(
        Claim::statement(
            ["figure-1-order", "figure 1", "around the best probe count, the order of the curves from the top is C (classic), S (standard), A3, A2, A1 (approximations)"],
            "C > S > A3 > A2 > A1",
            printed_order,
            format!(
                "at the best probe count of the standard filter, the order is {}; at some other probe counts, it differs",
                match [s1.best().order(), s2.best().order()] {
                    [first, second] if first == second => format!("{first} in both settings"),
                    [first, second] => format!("{first} in setting S1, and {second} in setting S2"),
                }
            ),
        )
        .see("G5"),
    );
    let better = both.iter().all(|setting| {
        setting.points[1..].iter().all(|point| {
            let rounding = 1e-9;
            point.error(3) <= point.error(1) + rounding && point.error(3) <= point.error(2) + rounding
        })
    });
    let share = both.iter().flat_map(|setting| &setting.points[1..]).map(|point| point.error(3) / point.error(1).max(1e-9));
    let worst = share.filter(|share| share.is_finite()).fold(0.0, f64::max);
    claims.push(Claim::statement(
        [
            "a3-better",
            "section 3",
            "the error of A3 is smaller than the error of A1 and the error of A2; checked for every k from 2 to 128",
        ],
        "holds",
        better,
        format!("the error of A3 is at most {} times the error of A1", crate::shown(worst)),
    ));
    let higher = |f: &dyn Fn(&Point, u64) -> Result<bool>| Ok::<_, truebloom_math::Error>(f(s1.best(), 16)? && f(s2.best(), 8)?);
    claims.push(
        Claim::statement(
            [
                "classic-higher",
                "section 1.1",
                "the classic filter, which has k distinct bits per item, has a higher rate than the standard filter; checked at the best probe counts of the settings S1 and S2",
            ],
            "C > S",
            higher(&|point, _| Ok(point.classic > point.standard))?,
            format!(
                "C/S is {} in setting S1, and {} in setting S2",
                crate::shown(s1.best().classic / s1.best().standard),
                crate::shown(s2.best().classic / s2.best().standard)
            ),
        )
        .unless(
            "the claim is true of the partitioned filter, which has a separate slice of the bits for each probe",
            higher(&|point, items| Ok(Variant::Partitioned.fpr(BITS, items, point.probes)?.value > point.standard))?,
            "G2",
        ),
    );
    Ok(claims)
}

fn setting_1(s1: &Setting) -> Vec<Claim> {
    let [a1, a2, a3] = [1, 2, 3].map(|which| s1.largest(|point| point.error(which)));
    let difference = s1.largest(Point::difference);
    let best = s1.best();
    let place = "section 3, S1";
    vec![
        Claim::misprint(["s1-a1-worst", place, "the largest error of A1 over all k"], "11.18%", a1.0, "9.5045%", "G6"),
        Claim::misprint(["s1-a1-worst-probes", place, "the probe count k at which the error of A1 is largest"], "19", a1.1, "18", "G6"),
        Claim::misprint(["s1-a2-worst", place, "the largest error of A2 over all k"], "9.50%", a2.0, "11.1761%", "G6"),
        Claim::misprint(["s1-a2-worst-probes", place, "the probe count k at which the error of A2 is largest"], "19", a2.1, "18", "G6"),
        Claim::misprint(
            ["s1-a1-best", place, "the error of A1 at the best probe count of the standard filter"],
            "3.82%",
            best.error(1),
            "2.4495%",
            "G6",
        ),
        Claim::misprint(
            ["s1-a2-best", place, "the error of A2 at the best probe count of the standard filter"],
            "2.45%",
            best.error(2),
            "3.8150%",
            "G6",
        ),
        Claim::number("s1-a3-worst", place, "the largest error of A3 over all k", "0.28%", a3.0).see("G7"),
        Claim::misprint(["s1-a3-worst-probes", place, "the probe count k at which the error of A3 is largest"], "39", a3.1, "38", "G7"),
        Claim::misprint(
            ["s1-a3-best", place, "the error of A3 at the best probe count of the standard filter"],
            "0.0044%",
            best.error(3),
            "0.004126%",
            "G7",
        ),
        Claim::number("s1-best-standard", place, "the best probe count of the standard filter", "5", s1.best_standard.into()),
        Claim::number("s1-best-classic", place, "the best probe count of the classic filter", "5", s1.best_classic.into()),
        Claim::number("s1-least-standard", place, "the lowest rate of the standard filter", "0.023", best.standard),
        Claim::number("s1-least-classic", place, "the lowest rate of the classic filter", "0.022", s1.at(s1.best_classic).classic),
        Claim::number(
            "s1-least-difference",
            place,
            "the difference between the lowest C and the lowest S",
            "3.28%",
            s1.difference_of_best(),
        )
        .see("G10"),
        Claim::number("s1-difference", place, "the largest difference between C and S at the same k", "25.62%", difference.0).see("G10"),
        Claim::number("s1-difference-probes", place, "the probe count k at which C and S differ most", "25", difference.1),
    ]
}

fn setting_2(s2: &Setting) -> Vec<Claim> {
    let [a1, a2, a3] = [1, 2, 3].map(|which| s2.largest(|point| point.error(which)));
    let difference = s2.largest(Point::difference);
    let best = s2.best();
    let place = "section 3, S2";
    vec![
        Claim::misprint(["s2-a1-worst", place, "the largest error of A1 over all k"], "35.33%", a1.0, "32.8390%", "G8"),
        Claim::number("s2-a1-worst-probes", place, "the probe count k at which the error of A1 is largest", "35", a1.1),
        Claim::misprint(["s2-a2-worst", place, "the largest error of A2 over all k"], "32.84%", a2.0, "35.3309%", "G8"),
        Claim::number("s2-a2-worst-probes", place, "the probe count k at which the error of A2 is largest", "35", a2.1),
        Claim::misprint(
            ["s2-a1-best", place, "the error of A1 at the best probe count of the standard filter"],
            "14.52%",
            best.error(1),
            "12.0416%",
            "G8",
        ),
        Claim::misprint(
            ["s2-a2-best", place, "the error of A2 at the best probe count of the standard filter"],
            "11.92%",
            best.error(2),
            "14.6372%",
            "G8",
        ),
        Claim::number("s2-a3-worst", place, "the largest error of A3 over all k", "4.53%", a3.0).see("G9"),
        Claim::misprint(["s2-a3-worst-probes", place, "the probe count k at which the error of A3 is largest"], "33", a3.1, "32", "G9"),
        Claim::misprint(
            ["s2-a3-best", place, "the error of A3 at the best probe count of the standard filter"],
            "0.37%",
            best.error(3),
            "0.4514%",
            "G9",
        ),
        Claim::number("s2-best-standard", place, "the best probe count of the standard filter", "11", s2.best_standard.into()),
        Claim::number("s2-best-classic", place, "the best probe count of the classic filter", "10", s2.best_classic.into()),
        Claim::number("s2-least-standard", place, "the lowest rate of the standard filter", "0.00054", best.standard),
        Claim::number("s2-least-classic", place, "the lowest rate of the classic filter", "0.00046", s2.at(s2.best_classic).classic),
        Claim::misprint(
            ["s2-least-difference", place, "the difference between the lowest C and the lowest S"],
            "13.59%",
            s2.difference_of_best(),
            "13.6094%",
            "G10",
        ),
        Claim::misprint(
            ["s2-difference", place, "the largest difference between C and S at the same k"],
            "151.28%",
            difference.0,
            "151.297%",
            "G10",
        ),
        Claim::number("s2-difference-probes", place, "the probe count k at which C and S differ most", "45", difference.1),
    ]
}

pub(super) fn figures() -> Result<Vec<Figure>> {
    let columns = ["probes", "classic", "standard", "a3", "a2", "a1"];
    let rows = |items| {
        let row = |point: Point| {
            let [a1, a2, a3] = point.approximations;
            vec![point.probes.into(), point.classic, point.standard, a3, a2, a1]
        };
        (1..=50).map(|probes| Point::new(items, probes).map(row)).collect()
    };
    Ok(vec![
        Figure::new("grandi-1-s1", "false-positive rate for each number of probes; 128 bits, 16 items", &columns, rows(16))?,
        Figure::new("grandi-1-s2", "false-positive rate for each number of probes; 128 bits, 8 items", &columns, rows(8))?,
    ])
}
