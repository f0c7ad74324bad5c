//! Tails, the distribution function and quantiles. They are computed as sums of probabilities if
//! this takes little enough work. Otherwise, proven inequalities give a lower and an upper bound.

use super::Occupancy;
use super::contour::Contour;
use super::pmf::WALKED_THROWS;
use super::thinning::{self, Budget, Precision, Stretch};
use crate::error::out_of_range;
use crate::exact::work;
use crate::{Error, Fill, Method, Result, bisect};

/// A bracket for a probability: the true probability is between `lower` and `upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Probability {
    /// The lower end. The probability is never below it.
    pub lower: f64,
    /// The upper end. The probability is never above it.
    pub upper: f64,
    /// How the bracket was computed. [`Method::Exact`] stands for a recurrence whose terms are all
    /// positive. The bracket includes all rounding errors of the recurrence. The relative width of
    /// the bracket is below 1e-9 unless the probability is extremely small. [`Method::Validated`]
    /// means a sum of contour integrals, with a relative width of about 4e-12. This bracket is
    /// tested but not proven. [`Method::Bound`] means Bennett's inequality and the Berry-Esseen
    /// inequality. This bracket is proven, but wide.
    pub method: Method,
}

/// A bracket for a quantile: the true quantile is between `lower` and `upper`. The ends are equal
/// if the quantile is known exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quantile {
    /// The lower end, which is at most the quantile.
    pub lower: u64,
    /// The upper end, which is at least the quantile.
    pub upper: u64,
    /// The method by which both ends were computed. See [`Probability`].
    pub method: Method,
}

impl Probability {
    fn certain(value: f64) -> Probability {
        Probability { lower: value, upper: value, method: Method::Exact }
    }

    /// One minus the probability, rounded outwards.
    fn complement(self) -> Probability {
        let end = |p: f64, rounded: f64| if p == 0.0 || p == 1.0 { 1.0 - p } else { rounded.clamp(0.0, 1.0) };
        let lower = end(self.upper, (1.0 - self.upper).next_down());
        let upper = end(self.lower, (1.0 - self.lower).next_up());
        Probability { lower, upper, method: self.method }
    }
}

/// A tail of the distribution, given by its innermost number of set bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The tail of at most this many set bits.
    AtMost(u64),
    /// The tail of at least this many set bits.
    AtLeast(u64),
}

/// A limit on the work of a sum. A sum that would take more work is replaced by a bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The number of terms of a recurrence in `f64`, which take a few nanoseconds each.
    pub(crate) walk: f64,
    /// The number of contour integrals, which take a few microseconds each.
    pub(crate) contours: u64,
}

impl Effort {
    /// An effort of about half a second.
    pub(crate) const FULL: Effort = Effort { walk: 2e8, contours: 150_000 };
    /// An effort of about ten microseconds.
    const QUICK: Effort = Effort { walk: 4e3, contours: 0 };
}

impl Occupancy {
    /// Returns the probability of at most `ones` set bits.
    ///
    /// If `ones` is below the mean, the method sums the probabilities of 0 to `ones` set bits.
    /// Otherwise, it sums the probabilities of more than `ones` set bits, and subtracts this sum
    /// from 1. So a small probability keeps its relative precision. If the sum would take more than
    /// about half a second, the result is a proven bracket with [`Method::Bound`], which is wider
    /// than the bracket of a sum.
    ///
    /// # Errors
    /// Fails if the moments would take too much work.
    pub fn cdf(&self, ones: u64) -> Result<Probability> {
        let _work = work::begin();
        if (ones as f64) < self.mean()? {
            return self.tail(Tail::AtMost(ones), Effort::FULL);
        }
        match ones.checked_add(1) {
            Some(next) => Ok(self.tail(Tail::AtLeast(next), Effort::FULL)?.complement()),
            None => Ok(Probability::certain(1.0)),
        }
    }

    /// Returns the probability of at least `ones` set bits; see [`Occupancy::cdf`].
    ///
    /// # Errors
    /// Fails as [`cdf`](Occupancy::cdf) does.
    pub fn at_least(&self, ones: u64) -> Result<Probability> {
        let _work = work::begin();
        match ones.checked_sub(1) {
            None => Ok(Probability::certain(1.0)),
            Some(before) if (before as f64) < self.mean()? => Ok(self.tail(Tail::AtMost(before), Effort::FULL)?.complement()),
            Some(_) => self.tail(Tail::AtLeast(ones), Effort::FULL),
        }
    }

    /// Returns a bracket for the p-quantile of the number X of set bits: the smallest possible x
    /// with `P(X <= x) >= p`. Here, p is from 0 to 1. This takes at most about 50
    /// microseconds at any size.
    ///
    /// For small filters, the probabilities are summed, and the two ends of the bracket are almost
    /// always equal. For all other filters, the two ends are computed from the mean and the
    /// variance, by Bennett's inequality and the Berry-Esseen inequality. The two ends are then at
    /// most about one standard deviation apart. For large filters, the two ends are only a few bits
    /// apart if p is not close to 0 or 1. [`Occupancy::exact_quantile`] always sums the
    /// probabilities.
    ///
    /// ```
    /// use truebloom_math::occupancy::Occupancy;
    /// let median = Occupancy::standard(1 << 40, 1 << 36, 7)?.quantile(0.5)?;
    /// assert!(median.upper - median.lower < 4);
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `p` is not from 0 to 1, or if the moments would take too much work.
    pub fn quantile(&self, p: f64) -> Result<Quantile> {
        let _work = work::begin();
        check_level(p)?;
        let (least, most) = self.support();
        if least == most {
            return Ok(Quantile { lower: least, upper: most, method: Method::Exact });
        }
        if let Some(stretch) = self.walked(Precision::Single, 1e-40, Effort::QUICK.walk)? {
            return Ok(self.search(p, &stretch, Method::Exact));
        }
        let bounds = Bounds::new(self)?;
        let first = |reached: &dyn Fn(Probability) -> bool| bisect(least..=most, |x| reached(bounds.at_most(x)));
        Ok(Quantile { lower: first(&|cdf| cdf.upper >= p), upper: first(&|cdf| cdf.lower >= p), method: Method::Bound })
    }

    /// Like [`quantile`](Self::quantile), but always computed by summing the probabilities. The two
    /// ends of the bracket are almost always equal. The two ends differ only if, for some x,
    /// `P(X <= x)` is so close to p that rounding errors could change the result. This takes up to
    /// a few seconds.
    ///
    /// # Errors
    /// Fails if `p` is not from 0 to 1. Fails with [`Error::LawTooCostly`] if computing the
    /// probabilities would take more than a few seconds.
    pub fn exact_quantile(&self, p: f64) -> Result<Quantile> {
        let _work = work::begin();
        check_level(p)?;
        let (least, most) = self.support();
        if least == most {
            return Ok(Quantile { lower: least, upper: most, method: Method::Exact });
        }
        // For extreme p, probabilities below 1e-20 are needed, too.
        let smallest = (p.min(1.0 - p) * 1e-14).clamp(1e-280, 1e-20);
        let part = self.part(smallest)?;
        let stretch = Stretch { first: part.first, probabilities: part.probabilities, left_out: part.left_out, relative: 1e-12 };
        Ok(self.search(p, &stretch, part.method))
    }

    /// Adds up probabilities from below, or from above for p above one half.
    fn search(&self, p: f64, stretch: &Stretch, method: Method) -> Quantile {
        let (least, most) = self.support();
        let error = 2.0 * stretch.relative + 1e-15 * libm::sqrt(stretch.probabilities.len() as f64);
        // The first x at which the running sum reaches the level.
        let from_below = |level: f64, factor: f64, extra: f64| {
            let mut sum = 0.0;
            let found = stretch.probabilities.iter().position(|probability| {
                sum += probability;
                sum * factor + extra >= level
            });
            found.map_or(most, |i| stretch.first + i as u64)
        };
        // P(X <= x) >= p means P(X >= x + 1) <= 1 - p. So the quantile is the last y with P(X >=
        // y) > 1 - p.
        let from_above = |level: f64, factor: f64, extra: f64| {
            let mut sum = 0.0;
            let found = stretch.probabilities.iter().rposition(|probability| {
                sum += probability;
                sum * factor + extra > level
            });
            found.map_or(least, |i| stretch.first + i as u64)
        };
        let (lower, upper) = if p <= 0.0 {
            (least, least)
        } else if p >= 1.0 {
            (most, most)
        } else if p <= 0.5 {
            (from_below(p, 1.0 + error, stretch.left_out), from_below(p, 1.0 - error, 0.0))
        } else {
            (from_above(1.0 - p, 1.0 - error, 0.0), from_above(1.0 - p, 1.0 + error, stretch.left_out))
        };
        Quantile { lower, upper, method }
    }

    /// A tail, computed by proven methods: it is summed by recurrences of positive terms if that
    /// takes at most `terms` terms, and bounded otherwise.
    pub(crate) fn proven_tail(&self, tail: Tail, terms: f64) -> Result<Probability> {
        let bound = Bounds::new(self)?.tail(tail);
        // The recurrence covers about fifteen standard deviations, down to probabilities of 1e-20.
        // It is not started if it could not finish.
        if 5.0 * self.least_terms()? > terms {
            return Ok(bound);
        }
        // The bracket includes the probabilities that are left out.
        match self.walked(Precision::Single, 1e-20, terms)? {
            Some(stretch) => Ok(of_stretch(&stretch, tail)),
            None => Ok(bound),
        }
    }

    /// A tail, computed with at most the work that `effort` allows.
    pub(crate) fn tail(&self, tail: Tail, effort: Effort) -> Result<Probability> {
        let (least, most) = self.support();
        let trivial = match tail {
            Tail::AtMost(x) if x >= most => Some(1.0),
            Tail::AtMost(x) if x < least => Some(0.0),
            Tail::AtLeast(x) if x <= least => Some(1.0),
            Tail::AtLeast(x) if x > most => Some(0.0),
            _ => None,
        };
        if let Some(value) = trivial {
            return Ok(Probability::certain(value));
        }
        let summed = match self.throws().filter(|throws| *throws > WALKED_THROWS) {
            Some(throws) => match Contour::new(self.bits, throws) {
                Some(contour) => self.sum_contours(&contour, tail, effort.contours)?,
                None => None,
            },
            None => self.walked(Precision::Single, 1e-280, effort.walk)?.map(|stretch| of_stretch(&stretch, tail)),
        };
        match summed {
            Some(bracket) => Ok(bracket),
            None => Ok(Bounds::new(self)?.tail(tail)),
        }
    }

    /// A rough lower bound on the number of terms of the recurrence. If this bound exceeds the
    /// allowed number of terms, the recurrence is not started. The bound is the number of steps,
    /// times the length of a row, times a few standard deviations of the number of set bits.
    fn least_terms(&self) -> Result<f64> {
        let steps: f64 = self.departments.iter().flatten().map(|c| c.count as f64 * thinning::row_length(c.size)).sum();
        Ok(steps * (1.0 + 3.0 * libm::sqrt(self.variance()?)))
    }

    /// The law, computed by the recurrence if this takes little enough work.
    fn walked(&self, precision: Precision, floor: f64, terms: f64) -> Result<Option<Stretch>> {
        if self.least_terms()? > terms {
            return Ok(None);
        }
        match thinning::law(self, &Budget { precision, floor, terms }) {
            Ok(stretch) => Ok(Some(stretch)),
            Err(Error::LawTooCostly { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sums a tail outwards from its innermost number of set bits. When the terms become
    /// negligible, the rest is at most a geometric series, because the law is log-concave. Returns
    /// `None` if more terms are needed than allowed.
    fn sum_contours(&self, contour: &Contour, tail: Tail, allowed: u64) -> Result<Option<Probability>> {
        // A tail that includes the mean is computed as one minus the other tail, which is more
        // precise.
        let mean = self.mean()?;
        let flipped = match tail {
            Tail::AtMost(x) if x as f64 > mean + 1.0 => Some(Tail::AtLeast(x + 1)),
            Tail::AtLeast(x) if (x as f64) < mean - 1.0 => Some(Tail::AtMost(x - 1)),
            _ => None,
        };
        if let Some(other) = flipped {
            return Ok(self.sum_contours(contour, other, allowed)?.map(Probability::complement));
        }
        let deviation = libm::sqrt(self.variance()?);
        if 9.0 * deviation > allowed as f64 {
            return Ok(None);
        }
        let (least, most) = self.support();
        let (mut sum, mut before) = (0.0f64, 0.0f64);
        let mut x = match tail {
            Tail::AtMost(x) | Tail::AtLeast(x) => x,
        };
        for _ in 0..allowed {
            let p = contour.probability(x);
            sum += p;
            let ratio = p / before * (1.0 + 1e-11);
            let rest = if p == 0.0 && before == 0.0 { f64::MIN_POSITIVE } else { p * ratio / (1.0 - ratio) };
            let done = ratio < 1.0 && rest <= 1e-13 * sum || p == 0.0 && before == 0.0;
            let end = x == if matches!(tail, Tail::AtMost(_)) { least } else { most };
            if done || end {
                let rest = if end { 0.0 } else { rest };
                return Ok(Some(widened(sum, 2e-12, rest, Method::Validated)));
            }
            before = p;
            if matches!(tail, Tail::AtMost(_)) { x -= 1 } else { x += 1 }
        }
        Ok(None)
    }
}

/// A bracket from a computed sum: `relative` bounds the relative error of the sum, and `rest`
/// bounds the probability that the sum leaves out.
fn widened(sum: f64, relative: f64, rest: f64, method: Method) -> Probability {
    Probability { lower: sum * (1.0 - relative), upper: ((sum * (1.0 + relative)) + rest).next_up().min(1.0), method }
}

/// A tail of a law that was computed by the recurrence.
pub(crate) fn of_stretch(stretch: &Stretch, tail: Tail) -> Probability {
    let count = stretch.probabilities.len();
    let inside = |x: u64| x.saturating_sub(stretch.first).min(count as u64) as usize;
    let split = match tail {
        Tail::AtMost(x) => x.checked_add(1).map_or(count, inside),
        Tail::AtLeast(x) => inside(x),
    };
    let (below, above) = stretch.probabilities.split_at(split);
    let relative = stretch.relative + count as f64 * f64::EPSILON;
    let part = |list: &[f64]| widened(list.iter().sum(), relative, stretch.left_out, Method::Exact);
    let (this, other) = if matches!(tail, Tail::AtMost(_)) { (below, above) } else { (above, below) };
    let (this, other) = (part(this), part(other).complement());
    Probability { lower: this.lower.max(other.lower), upper: this.upper.min(other.upper), method: Method::Exact }
}

/// Proven inequalities for a sum of independent Bernoulli variables with known mean and variance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    fill: Fill,
    least: u64,
    most: u64,
    /// An upper bound on `sup |P(X <= x) - Phi((x - mean) / sigma)|`.
    normal_error: f64,
    deviation: f64,
}

impl Bounds {
    pub(crate) fn new(law: &Occupancy) -> Result<Bounds> {
        let (least, most) = law.support();
        Ok(Bounds::of(Fill { bits: law.bits, mean: law.mean()?, variance: law.variance()? }, least, most))
    }

    /// The bounds for a sum of independent Bernoulli variables. There are at most as many variables
    /// as bits, and the value of the sum is between `least` and `most`.
    pub(crate) fn of(fill: Fill, least: u64, most: u64) -> Bounds {
        let deviation = libm::sqrt(fill.variance);
        // Shevtsova, "An improvement of convergence rate estimates in the Lyapunov theorem",
        // Doklady Mathematics 82 (2010), 862-864: The error is at most 0.5600 times the sum of
        // E|B - p|^3 = p q (p^2 + q^2) = p q - 2 (p q)^2, divided by sigma^3. The sum of at most m
        // squares (p q)^2 is at least variance^2 / m.
        let normal_error = 0.56 * (1.0 - 2.0 * fill.variance / fill.bits as f64).clamp(0.5, 1.0) / deviation * (1.0 + 1e-9) + 1e-14;
        Bounds { fill, least, most, normal_error, deviation }
    }

    pub(crate) fn tail(&self, tail: Tail) -> Probability {
        match tail {
            Tail::AtMost(x) => self.at_most(x),
            Tail::AtLeast(x) => x.checked_sub(1).map_or(Probability::certain(1.0), |x| self.at_most(x).complement()),
        }
    }

    /// The probability of at most `x` set bits.
    pub(crate) fn at_most(&self, x: u64) -> Probability {
        if x >= self.most {
            return Probability::certain(1.0);
        }
        if x < self.least {
            return Probability::certain(0.0);
        }
        // A margin for the rounding of the mean, the variance and the exponential.
        let safe = |p: f64| (p * (1.0 + 1e-9)).min(1.0);
        let (mut lower, mut upper) = (1.0 - safe(self.fill.at_least(x + 1)), safe(self.fill.at_most(x)));
        if self.deviation > 0.0 {
            let slack = 4.0 * f64::EPSILON * (self.fill.mean + x as f64);
            let normal = |distance: f64| 0.5 * libm::erfc(-distance / self.deviation * core::f64::consts::FRAC_1_SQRT_2);
            // P(X <= x) is also P(X < x + 1).
            lower = lower.max(normal((x + 1) as f64 - self.fill.mean - slack) - self.normal_error);
            upper = upper.min(normal(x as f64 - self.fill.mean + slack) + self.normal_error);
        }
        Probability { lower: lower.next_down().clamp(0.0, 1.0), upper: upper.next_up().clamp(0.0, 1.0), method: Method::Bound }
    }
}

fn check_level(p: f64) -> Result<()> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    out_of_range("p", p, "from 0 to 1")
}
