//! A false-positive rate with its proven bracket.

use crate::Rate;
use crate::exact::enclosure::Enclosure;
use core::fmt;

/// How a value and its bracket were computed. A bracket is a lower and an upper bound on the true
/// value. The method says whether the bracket is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The bracket is proven and narrow. It includes all rounding errors.
    Exact,
    /// The bracket comes from an error estimate. Tests confirm this estimate, but it is not proven.
    Validated,
    /// The bracket is proven, but can be wide.
    Bound,
    /// The bracket is a 99% confidence interval from a simulation.
    Simulation,
    /// The value is only an approximation, with the given name. If there is a bracket, the bracket
    /// is proven, but wide. Its ends can even be 0 and 1.
    Approximation(&'static str),
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Exact => "exact",
            Method::Validated => "validated",
            Method::Bound => "bound",
            Method::Simulation => "simulation",
            Method::Approximation(name) => name,
        })
    }
}

/// A false-positive rate and its bracket. The true rate and `value` are both between `lower` and
/// `upper`. The struct also has bounds on the natural logarithm of the rate. The logarithm is
/// useful for rates that are too small for an `f64`. If the field `method` is
/// [`Method::Simulation`], the true rate is in the bracket only with 99% confidence. If the field
/// `method` is [`Method::Validated`], the bracket is not proven.
///
/// With [`Method::Exact`], `lower` and `upper` usually differ by at most two units in the last
/// place. This is a relative width below 5e-16. If a rate is computed from several counts of set
/// bits, for example from one count per block, the relative width can be about 1e-12. The rates of
/// recycling filters can have wider brackets than other rates. For the long-run rate of a recycling
/// filter, the relative width is at most 1e-9.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fpr {
    /// A value for the rate, between `lower` and `upper`.
    pub value: f64,
    /// The lower end of the bracket, which is at most the true rate.
    pub lower: f64,
    /// The upper end of the bracket, which is at least the true rate.
    pub upper: f64,
    /// The natural logarithm of the rate, rounded. It is minus infinity if the rate is 0.
    pub ln: f64,
    /// A lower bound on the natural logarithm of the true rate.
    pub ln_lower: f64,
    /// An upper bound on the natural logarithm of the true rate.
    pub ln_upper: f64,
    /// How the bracket was computed.
    pub method: Method,
}

impl fmt::Display for Fpr {
    /// Writes the value with four significant digits, as in `7.924e-7`, or with the given
    /// precision.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.*e}", f.precision().unwrap_or(3), self.value)
    }
}

impl Fpr {
    /// The rate of an empty filter.
    pub const ZERO: Fpr = Fpr {
        value: 0.0,
        lower: 0.0,
        upper: 0.0,
        ln: f64::NEG_INFINITY,
        ln_lower: f64::NEG_INFINITY,
        ln_upper: f64::NEG_INFINITY,
        method: Method::Exact,
    };

    /// The rate of a full filter.
    pub const ONE: Fpr = Fpr { value: 1.0, lower: 1.0, upper: 1.0, ln: 0.0, ln_lower: 0.0, ln_upper: 0.0, method: Method::Exact };

    /// Raises the upper bound, for a part of the rate that is known only to lie between 0 and
    /// `extra`. An example is the probability that two keys have equal hashes. The upper bounds
    /// grow by `extra`, rounded up. The lower bounds stay as they are.
    ///
    /// If the field `method` is [`Method::Exact`] and `extra` is not negligible, the field becomes
    /// [`Method::Bound`], and `value` becomes the upper bound. An `extra` is negligible if
    /// `upper + extra` is equal to `upper` in `f64` arithmetic.
    ///
    /// ```
    /// use truebloom_math::Variant;
    /// let mut fpr = Variant::Standard.fpr(1_000, 100, 7)?;
    /// let before = fpr;
    /// fpr.add_above(1e-9);
    /// assert!(fpr.upper > before.upper && fpr.lower == before.lower);
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    pub fn add_above(&mut self, extra: f64) {
        if extra <= 0.0 {
            return;
        }
        let ln_extra = libm::log(extra).next_up();
        self.ln_upper = if self.ln_upper == f64::NEG_INFINITY {
            ln_extra
        } else {
            let (more, less) = (self.ln_upper.max(ln_extra), self.ln_upper.min(ln_extra));
            (more + libm::log1p(libm::exp(less - more)).next_up().next_up()).next_up()
        };
        self.ln_upper = self.ln_upper.min(0.0);
        // If `extra` is too small to change the last digit, the true sum is below the next f64.
        let moved = self.upper + extra;
        let is_moved = moved > self.upper;
        self.upper = moved.next_up().min(1.0);
        if is_moved && self.method == Method::Exact {
            (self.value, self.ln, self.method) = (self.upper, self.ln_upper, Method::Bound);
        }
    }

    /// Limits the upper end to `rate`. Call this only if integer arithmetic has proven that the
    /// true value is at most `rate`. Without this cap, the upper end could be above `rate`, because
    /// it is rounded up.
    pub(crate) fn cap(&mut self, rate: &Rate) {
        self.upper = self.upper.min(rate.ceil()).max(self.lower);
        self.ln_upper = self.ln_upper.min(rate.ln_above()).max(self.ln_lower);
        (self.value, self.ln) = (self.value.min(self.upper), self.ln.min(self.ln_upper));
    }

    /// Makes a bracket from the proven ends `lower` and `upper`, which can be far apart. Both must
    /// be between 0 and 1. The value is the midpoint. The bounds on the logarithm are rounded
    /// outward.
    #[must_use]
    pub fn bound(lower: f64, upper: f64) -> Fpr {
        let ln = |end: f64| if end > 0.0 { libm::log(end) } else { f64::NEG_INFINITY };
        let value = lower + (upper - lower) / 2.0;
        // The error of libm's logarithm is below one ulp (see the error analysis in its source,
        // `log.rs`, from FreeBSD's `e_log.c`).
        let (ln_lower, ln_upper) = (ln(lower).next_down(), ln(upper).next_up().min(0.0));
        Fpr { value, lower, upper, ln: ln(value), ln_lower, ln_upper, method: Method::Bound }
    }

    /// Sets the value to an approximation, or to the nearest end of the bracket if the
    /// approximation is outside.
    pub(crate) fn place(&mut self, value: f64) {
        self.value = value.clamp(self.lower, self.upper);
        self.ln = libm::log(self.value).clamp(self.ln_lower, self.ln_upper);
    }

    /// Makes a bracket from two bounds on the natural logarithm of the rate. Both bounds must be at
    /// most 0. `method` says how they were computed. The logarithm of the value is the midpoint of
    /// the two bounds.
    #[must_use]
    pub fn from_ln(ln_lower: f64, ln_upper: f64, method: Method) -> Fpr {
        let ln = ln_lower + (ln_upper - ln_lower) / 2.0;
        Fpr { value: libm::exp(ln), lower: libm::exp(ln_lower), upper: libm::exp(ln_upper), ln, ln_lower, ln_upper, method }
    }

    /// Limits the bracket to a second, proven bracket. The method does not change.
    pub(crate) fn within(mut self, known: &Fpr) -> Fpr {
        (self.lower, self.upper) = (self.lower.max(known.lower).min(known.upper), self.upper.min(known.upper).max(known.lower));
        (self.ln_lower, self.ln_upper) =
            (self.ln_lower.max(known.ln_lower).min(known.ln_upper), self.ln_upper.min(known.ln_upper).max(known.ln_lower));
        self.place(self.value);
        self
    }

    pub(crate) fn from_enclosure(enclosure: &Enclosure) -> Fpr {
        let (lower, upper) = (enclosure.lower.floor(), enclosure.upper.ceil().min(1.0));
        let (ln_lower, ln_upper) = (enclosure.lower.ln().0, enclosure.upper.ln().1.min(0.0));
        let value = enclosure.lower.ceil().clamp(lower, upper);
        Fpr { value, lower, upper, ln: ln_lower + (ln_upper - ln_lower) / 2.0, ln_lower, ln_upper, method: Method::Exact }
    }
}
