//! Formatting of numbers for people: `1,234,567`, `1.714 MiB`, `9.998e-7`.

use truebloom_math::{Fpr, Rate};

/// Formats a count with digit separators: `1,234,567`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an expected number as text. A number of 2 or more is rounded to a whole number, because
/// decimals of a count have no meaning for readers.
#[must_use]
pub fn expected(number: f64) -> String {
    match number {
        0.0..1e-6 => "fewer than 1e-6".to_owned(),
        1e-6..2.0 => format!("about {}", significant(number, 2)),
        _ => format!("about {}", count(number.round() as u64)),
    }
}

/// Formats a number with a noun: `1 line`, `2 lines`.
#[must_use]
pub fn plural(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Formats bytes in the largest binary unit in which the number is at least 1.
#[must_use]
pub fn bytes(number: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (number as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { plural(number, "byte") } else { format!("{} {}", significant(value, 4), units[unit]) }
}

/// Formats a number of bits, and the memory of the 64-bit words that hold these bits:
/// `9,586 bits (1.172 KiB)`.
#[must_use]
pub fn size(bits: u64) -> String {
    format!("{} ({})", plural(bits, "bit"), bytes(bits.div_ceil(64).saturating_mul(8)))
}

/// Formats a rate to `digits` significant digits, even if the rate is too small for an `f64`.
#[must_use]
pub fn fpr(fpr: &Fpr, digits: usize) -> String {
    if has_digits(fpr.value, fpr.ln) { rate(fpr.value, digits) } else { power(fpr.ln, digits) }
}

/// Like [`fpr`], for the upper end of the bracket, rounded up.
#[must_use]
pub fn fpr_up(fpr: &Fpr, digits: usize) -> String {
    if has_digits(fpr.upper, fpr.ln_upper) { rate_up(fpr.upper, digits) } else { power_with(fpr.ln_upper, digits, rate_up) }
}

/// Like [`fpr`], for the lower end of the bracket, rounded down.
#[must_use]
pub fn fpr_down(fpr: &Fpr, digits: usize) -> String {
    if has_digits(fpr.lower, fpr.ln_lower) { rate_down(fpr.lower, digits) } else { power_with(fpr.ln_lower, digits, rate_down) }
}

/// Whether an `f64` has all digits of this number, whose natural logarithm is `ln`.
fn has_digits(value: f64, ln: f64) -> bool {
    value >= f64::MIN_POSITIVE || ln == f64::NEG_INFINITY
}

/// Formats a number to `digits` significant digits. `ln` is the natural logarithm of the number, so
/// the number can be beyond the range of `f64`.
#[must_use]
pub fn power(ln: f64, digits: usize) -> String {
    power_with(ln, digits, significant)
}

fn power_with(ln: f64, digits: usize, round: impl Fn(f64, usize) -> String) -> String {
    let exponent = (ln / std::f64::consts::LN_10).floor();
    let mantissa = (ln - exponent * std::f64::consts::LN_10).exp();
    match round(mantissa, digits.min(10)).as_str() {
        "10" => format!("1e{}", exponent + 1.0),
        digits => format!("{digits}e{exponent}"),
    }
}

/// Formats the upper end of a proven bracket for a rate, rounded up to 6 significant digits. If
/// `met` is given, the result is never above `met`. The caller knows that the rate is at most
/// `met`.
#[must_use]
pub fn proven(fpr: &Fpr, met: Option<Rate>) -> String {
    let text = rate_up(fpr.upper, 6);
    match met {
        Some(asked) if text.parse().is_ok_and(|shown: f64| shown > asked.to_f64()) => asked.to_string(),
        _ => text,
    }
}

/// Returns the bracket for the rate of a plan, for programs that use a printed rate as the
/// requested rate of another plan. The upper end of the bracket is raised to the next larger `f64`,
/// because the shortest decimal text of an `f64` can be below the `f64` itself. But the upper end
/// is never raised above `asked`, the requested rate, which the plan meets.
#[must_use]
pub fn askable(fpr: &Fpr, asked: Option<Rate>) -> Fpr {
    let mut raised = *fpr;
    raised.upper = fpr.upper.next_up().min(asked.map_or(1.0, |asked| asked.to_f64()));
    raised
}

/// Formats a number between 0 and 1 to `digits` significant digits, in plain or scientific
/// notation.
#[must_use]
pub fn rate(value: f64, digits: usize) -> String {
    round_with(value, digits, |exact| exact)
}

/// Like [`rate`], but rounded up, for upper bounds.
#[must_use]
pub fn rate_up(value: f64, digits: usize) -> String {
    // If the printed number is too low, it is raised by one in its last digit.
    round_with(value, digits, |shown| if shown < value { step(value, digits) } else { 0.0 } + shown)
}

/// Like [`rate`], but rounded down, for lower bounds.
#[must_use]
pub fn rate_down(value: f64, digits: usize) -> String {
    round_with(value, digits, |shown| shown - if shown > value { step(value, digits) } else { 0.0 })
}

/// Formats a probability in percent, without the percent sign. The result has `digits` significant
/// digits. If the probability is below 1 but would be rounded to 100, the result has all digits.
#[must_use]
pub fn certainty(share: f64, digits: usize) -> String {
    let short = significant(100.0 * share, digits);
    if short != "100" || share >= 1.0 {
        return short;
    }
    // Moving the decimal point keeps the digits; a product would be rounded.
    let decimal = share.to_string();
    let (whole, rest) = decimal.trim_start_matches("0.").split_at(2);
    format!("{whole}.{rest}")
}

fn step(value: f64, digits: usize) -> f64 {
    10f64.powi(value.log10().floor() as i32 + 1 - digits as i32)
}

fn round_with(value: f64, digits: usize, adjust: impl Fn(f64) -> f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    significant(adjust(rounded), digits)
}

/// Formats a number to `digits` significant digits, without trailing zeros. Numbers below 0.001,
/// and numbers from a million on, are in scientific notation.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() };
    if !(-3..6).contains(&exponent) {
        return format!("{}e{exponent}", trim(mantissa));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = trim(&format!("{value:.decimals$}"));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    whole.parse().map_or_else(|_| text.clone(), |whole| count(whole) + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use truebloom_math::{Layout, Method, Plan, SchemeId, Target};

    #[test]
    fn numbers_for_people() {
        assert_eq!([0.355_932_2, 0.196_969_7].map(|value| rate_up(value, 4)), ["0.356", "0.197"]);
        assert_eq!(
            [0.355_932_2, 0.196_969_7, 0.999_96, 0.0, 0.25].map(|value| rate_down(value, 4)),
            ["0.3559", "0.1969", "0.9999", "0", "0.25"]
        );
        // e^-1000 is 5.07595889...e-435.
        assert_eq!(power(-310.0 * std::f64::consts::LN_10 - 1e-9, 4), "1e-310");
        let tiny = Fpr::from_ln(-1000.0, -1000.0, Method::Exact);
        assert_eq!([fpr_down(&tiny, 6), fpr(&tiny, 6), fpr_up(&tiny, 6)], ["5.07595e-435", "5.07596e-435", "5.07596e-435"]);
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "line"), "1 line");
        assert_eq!([1e-7, 0.2751, 9.538, 1417.4].map(expected), ["fewer than 1e-6", "about 0.28", "about 10", "about 1,417"]);
        assert_eq!((bytes(1), bytes(1023)), ("1 byte".to_owned(), "1,023 bytes".to_owned()));
        assert_eq!((significant(1417.26, 5), significant(-3.5, 2)), ("1,417.3".to_owned(), "-3.5".to_owned()));
        assert_eq!(bytes(1 << 20), "1 MiB");
        assert_eq!(bytes(1_797_206), "1.714 MiB");
        assert_eq!(size(9_586), "9,586 bits (1.172 KiB)");
        assert_eq!(rate(0.001_000_88, 4), "0.001001");
        assert_eq!(rate(9.999e-7, 3), "1e-6");
        assert_eq!(rate(0.5, 4), "0.5");
        let sure = [0.999, 0.5, 1.0, 0.999_999_9, 1.0 - f64::EPSILON].map(|share| certainty(share, 6));
        assert_eq!(sure, ["99.9", "50", "100", "99.99999", "99.99999999999998"]);
        assert_eq!(rate_up(9.999_412e-7, 4), "1e-6");
        assert_eq!(rate_up(1.234_01e-7, 4), "1.235e-7");
        assert_eq!(rate_up(0.001, 4), "0.001");
    }

    /// A rate that a plan reports is accepted when it is asked for as the number that JSON has: for
    /// all schemes with a guarantee, for blocked filters and for averages, with or without a
    /// requested rate.
    #[test]
    fn a_reported_rate_is_accepted_again() {
        let sizes = [(1u64, 64u64), (1, 194), (3, 104), (14, 271), (46, 1_326), (850, 14_245), (61_266, 1_104_157), (409_804, 23_629_031)];
        let schemes = [SchemeId::Standard, SchemeId::Classic, SchemeId::Partitioned, SchemeId::Double].map(|id| Target::new().scheme(id));
        for (target, (items, bits)) in
            schemes.into_iter().chain([Target::new().layout(Layout::Lines)]).flat_map(|target| sizes.map(|size| (target.clone(), size)))
        {
            // Two-hash schemes have no plans with a guarantee.
            for target in [target.clone(), target.clone().confidence(0.6), target.mean()] {
                let target = target.items(items).bits(bits);
                let Ok(plan) = Plan::new(&target) else { continue };
                let again = |plan: &Plan| -> Option<Plan> {
                    let rates = plan.guarantee.map(|one| one.fpr).into_iter().chain([plan.fpr]);
                    let upper = rates.map(|fpr| askable(&fpr, plan.rate).upper).fold(0.0, f64::max);
                    // A rate of 1 is not accepted.
                    let rate: Rate = format!("{upper:e}").parse().ok()?;
                    let again = Plan::new(&target.clone().rate(rate));
                    Some(again.unwrap_or_else(|error| panic!("{items} items, {bits} bits: {error}")))
                };
                again(&plan).and_then(|plan| again(&plan));
            }
        }
    }
}
