//! An axis: its quantity, its scale, and its ticks.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// How an axis maps values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scale {
    /// Equal differences of values have equal lengths on the axis.
    Linear,
    /// Equal ratios of values have equal lengths on the axis. Only values above 0 can be shown.
    Log,
}

/// An axis of a [`Chart`](crate::Chart).
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    pub(crate) range: Option<(f64, f64)>,
    names: Vec<String>,
}

impl Axis {
    /// Creates a linear axis. The label should name the quantity and its unit.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear, range: None, names: Vec::new() }
    }

    /// Creates a logarithmic axis.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Log, range: None, names: Vec::new() }
    }

    /// Creates an axis for named categories. The first category is at 0, the second at 1, and so
    /// on.
    #[must_use]
    pub fn named(label: impl Into<String>, names: Vec<String>) -> Axis {
        Axis { names, ..Axis::linear(label) }
    }

    /// Sets the range of the axis, from `low` to `high`. `high` must be larger than `low`. Curves
    /// are cut off at the ends of the range. By default, the axis covers all data.
    #[must_use]
    pub fn between(self, low: f64, high: f64) -> Axis {
        Axis { range: Some((low, high)), ..self }
    }

    /// Whether a value can be shown.
    pub(crate) fn places(&self, value: f64) -> bool {
        value.abs() <= FARTHEST && (self.scale == Scale::Linear || value >= f64::MIN_POSITIVE)
    }

    /// The axis for data between `low` and `high`, with as many labels as fit. `fits` gets all
    /// labels and returns whether they fit.
    pub(crate) fn coordinate(&self, (low, high): (f64, f64), fits: impl Fn(&[String]) -> bool) -> Coordinate {
        if !self.names.is_empty() {
            let labelled = (0..self.names.len()).map(|i| i as f64).collect();
            let ticks = Ticks { labelled, minor: Vec::new() };
            let high = self.names.len() as f64 - 0.4;
            return Coordinate { scale: self.scale, low: -0.6, high, ticks, notation: Notation::Plain, names: self.names.clone() };
        }
        let (low, high) = self.range.filter(|(low, high)| self.places(*low) && low < high && high.is_finite()).unwrap_or_else(|| {
            let (low, high) = widened(self.scale, low, high);
            // A linear axis whose data begin near 0 begins there.
            if self.scale == Scale::Linear && low > 0.0 && low < 0.4 * high { (0.0, high) } else { (low, high) }
        });
        // Beyond these limits, differences and ratios of the ends would overflow.
        let (low, high) = match self.scale {
            Scale::Linear => (low.max(-FARTHEST), high.min(FARTHEST)),
            Scale::Log => (low.max(f64::MIN_POSITIVE), high.min(FARTHEST)),
        };
        let with_labels = |most: u32| {
            let ticks = match self.scale {
                Scale::Linear => linear_ticks(low, high, most),
                Scale::Log => log_ticks(low, high, most),
            };
            Coordinate { scale: self.scale, low, high, notation: Notation::of(self.scale, &ticks.labelled), ticks, names: Vec::new() }
        };
        let labels = |axis: &Coordinate| axis.ticks.labelled.iter().map(|tick| axis.label(*tick)).collect::<Vec<_>>();
        let fewer = (FEWEST_LABELS..MOST_LABELS).rev().map(with_labels).filter(|axis| axis.ticks.labelled.len() >= 2);
        let all = with_labels(MOST_LABELS);
        // If not even the smallest number of labels fits, there are still two.
        let mut last = None;
        for axis in std::iter::once(all).chain(fewer) {
            if fits(&labels(&axis)) {
                return axis;
            }
            last = Some(axis);
        }
        last.unwrap_or_else(|| with_labels(MOST_LABELS))
    }
}

const FARTHEST: f64 = 1e300;

/// Adds a margin on both sides or, if there is only one value, a range around it.
fn widened(scale: Scale, low: f64, high: f64) -> (f64, f64) {
    match scale {
        Scale::Log => {
            let room = if high > low { (high / low).powf(0.03).max(1.000_01) } else { 1.02 };
            (low / room, high * room)
        }
        Scale::Linear => {
            let room = if high > low { 0.03 * (high - low) } else { (0.1 * high.abs()).max(1.0) };
            // Data that are never negative get no margin below 0.
            (if low >= 0.0 { (low - room).max(0.0) } else { low - room }, high + room)
        }
    }
}

/// The positions of grid lines with labels, and of grid lines without labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) labelled: Vec<f64>,
    pub(crate) minor: Vec<f64>,
}

/// The largest number of labels of an axis.
const MOST_LABELS: u32 = 9;
/// The smallest number of labels, used if the axis has little room.
const FEWEST_LABELS: u32 = 2;

/// Multiples of 1, 2 or 5 times a power of ten; there are about `most` labels.
fn linear_ticks(low: f64, high: f64, most: u32) -> Ticks {
    let rough = (high - low) / f64::from(most);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(rough);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    // Ticks are not sums of steps, so that each tick is exactly the decimal number of its label.
    let at = |i: i64| if step < 1.0 { i as f64 / (1.0 / step).round() } else { i as f64 * step };
    Ticks { labelled: (first..=last.min(first + 100)).map(at).collect(), minor: Vec::new() }
}

/// Ticks at powers of ten. If there are only a few powers, some of their multiples are added, such
/// as twice and five times each power. For a range of less than about a decade, the ticks are at
/// equal distances instead.
fn log_ticks(low: f64, high: f64, most: u32) -> Ticks {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |value: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value);
    let of = |digits: &[f64], step: usize| -> Vec<f64> {
        (first..=last).step_by(step).flat_map(|e| digits.iter().map(move |digit| decimal(*digit, e))).filter(inside).collect()
    };
    let decades = (high / low).log10();
    if decades < 0.8 {
        return linear_ticks(low, high, most);
    }
    let labelled = match decades {
        d if d < 1.5 && most > 7 => of(&[1.0, 2.0, 3.0, 5.0, 7.0], 1),
        d if d < 3.2 && most > 5 || d < 1.5 && most > 4 => of(&[1.0, 2.0, 5.0], 1),
        d if d < 1.5 => of(&[1.0, 3.0], 1),
        d => {
            let step = (d / f64::from(most)).ceil().max(1.0) as i32;
            // Only exponents that are multiples of `step` are used, so the choice does not depend
            // on the range.
            (first..=last).filter(|e| e.rem_euclid(step) == 0).map(|e| decimal(1.0, e)).filter(inside).collect()
        }
    };
    let minor = if decades < 10.0 { of(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1) } else { of(&[1.0], 1) };
    Ticks { minor: minor.into_iter().filter(|value| !labelled.contains(value)).collect(), labelled }
}

/// The floating-point number nearest to the decimal; multiplying by a power of ten would not always
/// give this number.
fn decimal(digit: f64, exponent: i32) -> f64 {
    format!("{digit}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The notation of all ticks of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    /// The ticks are written as plain numbers, in groups of three digits.
    Plain,
    /// The ticks are written as products with powers of ten.
    Powers,
    /// The ticks are written as multiples of one power of ten.
    Multiples(i32),
}

impl Notation {
    fn of(scale: Scale, ticks: &[f64]) -> Notation {
        let exponents = || ticks.iter().filter(|tick| **tick != 0.0).map(|tick| parts(*tick).1);
        let (Some(least), Some(most)) = (exponents().min(), exponents().max()) else { return Notation::Plain };
        match scale {
            Scale::Log if (-3..=5).contains(&least) && (-3..=5).contains(&most) => Notation::Plain,
            Scale::Log => Notation::Powers,
            Scale::Linear if (-4..=7).contains(&least) && (-4..=7).contains(&most) => Notation::Plain,
            Scale::Linear => Notation::Multiples(most),
        }
    }

    fn label(self, value: f64) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        let (mantissa, exponent) = parts(value);
        match self {
            Notation::Plain => grouped(value),
            Notation::Powers if exponent == 0 => grouped(value),
            Notation::Powers if mantissa == "1" => power(exponent),
            Notation::Powers => format!("{}\u{d7}{}", mantissa.replace('-', "\u{2212}"), power(exponent)),
            // The decimal point is moved, so that no digit is lost.
            Notation::Multiples(common) => match format!("{mantissa}e{}", exponent - common).parse() {
                Ok(multiple) => format!("{}\u{d7}{}", grouped(multiple), power(common)),
                Err(_) => mantissa,
            },
        }
    }
}

/// The mantissa and the exponent of the decimal form of a number.
fn parts(value: f64) -> (String, i32) {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

fn power(exponent: i32) -> String {
    format!("10{}", exponent.to_string().chars().map(superscript).collect::<String>())
}

fn superscript(digit: char) -> char {
    match digit {
        '1' => '\u{b9}',
        '2' => '\u{b2}',
        '3' => '\u{b3}',
        '-' => '\u{207b}',
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    }
}

fn grouped(value: f64) -> String {
    let text = format!("{value}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("\u{2212}", digits));
    let (whole, fraction) = digits.split_once('.').map_or((digits, String::new()), |(whole, fraction)| (whole, format!(".{fraction}")));
    let mut groups = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            groups.push(',');
        }
        groups.push(digit);
    }
    format!("{sign}{groups}{fraction}")
}

/// An axis with its range. This type is needed because the logarithmic axis of plotters has no
/// labels in a range without a power of ten.
#[derive(Clone)]
pub(crate) struct Coordinate {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Ticks,
    notation: Notation,
    names: Vec<String>,
}

impl Coordinate {
    fn label(&self, value: f64) -> String {
        self.names.get(value as usize).cloned().unwrap_or_else(|| self.notation.label(value))
    }

    /// The value, limited to the range of the axis, so that nothing is drawn beyond the edge.
    pub(crate) fn clamped(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    pub(crate) fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// The value at this share of the axis's length.
    pub(crate) fn at_share(&self, share: f64) -> f64 {
        let value = match self.scale {
            Scale::Linear => self.low + share * (self.high - self.low),
            Scale::Log => self.low * (share * (self.high / self.low).ln()).exp(),
        };
        self.clamped(value)
    }

    pub(crate) fn longest_label(&self) -> usize {
        self.ticks.labelled.iter().map(|value| self.label(*value).chars().count()).max().unwrap_or(1)
    }
}

impl Ranged for Coordinate {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        // If both ends of an axis are the same number, all values are at the beginning of the axis.
        let share = Some(self.share(*value)).filter(|share| share.is_finite()).unwrap_or(0.0);
        from + (share.clamp(-1.0, 2.0) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { self.ticks.minor.clone() } else { self.ticks.labelled.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Coordinate {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that all ticks of an axis use one notation: if one tick needs a notation, all ticks
    /// use it.
    #[test]
    fn ticks_of_an_axis_are_written_alike() {
        let labels = |axis: Axis, low: f64, high: f64| {
            let axis = axis.between(low, high).coordinate((0.0, 0.0), |_| true);
            axis.ticks.labelled.iter().map(|tick| axis.label(*tick)).collect::<Vec<_>>().join(" ")
        };
        let (log, linear) = (|| Axis::log("rate"), || Axis::linear("items"));
        for (axis, low, high, text) in [
            (log(), 1e-3, 10.0, "0.001 0.01 0.1 1 10"),
            (
                log(),
                1e-6,
                1.0,
                "10\u{207b}\u{2076} 10\u{207b}\u{2075} 10\u{207b}\u{2074} 10\u{207b}\u{b3} 10\u{207b}\u{b2} 10\u{207b}\u{b9} 1",
            ),
            (
                log(),
                4e-4,
                4e-3,
                "5\u{d7}10\u{207b}\u{2074} 7\u{d7}10\u{207b}\u{2074} 10\u{207b}\u{b3} 2\u{d7}10\u{207b}\u{b3} 3\u{d7}10\u{207b}\u{b3}",
            ),
            (log(), 100.0, 1e4, "100 200 500 1,000 2,000 5,000 10,000"),
            (linear(), 0.0, 2e7, "0 5,000,000 10,000,000 15,000,000 20,000,000"),
            (linear(), 0.0, 2e9, "0 0.5\u{d7}10\u{2079} 1\u{d7}10\u{2079} 1.5\u{d7}10\u{2079} 2\u{d7}10\u{2079}"),
            (
                linear(),
                0.0,
                3e-6,
                "0 0.5\u{d7}10\u{207b}\u{2076} 1\u{d7}10\u{207b}\u{2076} 1.5\u{d7}10\u{207b}\u{2076} 2\u{d7}10\u{207b}\u{2076} 2.5\u{d7}10\u{207b}\u{2076} 3\u{d7}10\u{207b}\u{2076}",
            ),
            (linear(), -0.5, 0.5, "\u{2212}0.4 \u{2212}0.2 0 0.2 0.4"),
        ] {
            assert_eq!(labels(axis, low, high), text);
        }
    }

    /// Tests that every range has between two and twelve labels, all of them inside the range.
    #[test]
    fn every_range_has_ticks() {
        for low in [1e-300, 3.3e-43, 1e-9, 0.0215, 0.97, 1.0, 640.0, 9.9e8] {
            for ratio in [1.0001, 1.02, 1.1, 1.9, 4.0, 7.0, 10.0, 33.0, 1e3, 1e4, 1e9, 1e40, 1e200] {
                let high: f64 = low * ratio;
                for ticks in [log_ticks(low, high, 9), linear_ticks(low, high, 9)] {
                    assert!(
                        (2..=13).contains(&ticks.labelled.len()) || ratio > 10.0 && ticks.labelled.len() >= 2,
                        "{low} {high}: {ticks:?}"
                    );
                    let inside = |value: &f64| *value >= low - 1e-9 * high && *value <= high * (1.0 + 1e-9);
                    assert!(ticks.labelled.iter().chain(&ticks.minor).all(inside), "{low} {high}: {ticks:?}");
                    assert!(ticks.labelled.windows(2).all(|pair| pair[0] < pair[1]), "{low} {high}: {ticks:?}");
                }
            }
        }
        assert_eq!(log_ticks(1e-6, 1e-1, 9).labelled, [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]);
        assert_eq!(log_ticks(0.5, 60.0, 9).labelled, [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(linear_ticks(0.0, 40.0, 9).labelled, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]);
        assert_eq!(linear_ticks(0.1, 0.3, 9).labelled, [0.1, 0.15, 0.2, 0.25, 0.3]);
    }

    /// Tests that a narrow axis has fewer labels, but at least two, and that a wide axis has the
    /// usual number.
    #[test]
    fn labels_fit_their_room() {
        for axis in [Axis::linear("items"), Axis::log("rate")] {
            for (low, high) in [(1.0, 2e7), (0.097, 0.1), (3e-9, 1.0), (0.2, 2.0), (1.0, 90.0)] {
                let within = |room: usize| {
                    let axis = axis.clone().between(low, high);
                    let axis =
                        axis.coordinate((0.0, 0.0), |labels| labels.iter().map(|label| label.chars().count() + 2).sum::<usize>() <= room);
                    axis.ticks.labelled.iter().map(|tick| axis.label(*tick).chars().count() + 2).collect::<Vec<_>>()
                };
                let (wide, narrow) = (within(1000), within(38));
                assert!(narrow.iter().sum::<usize>() <= 38 && narrow.len() >= 2, "{low} {high}: {narrow:?}");
                assert!(wide.len() >= narrow.len());
            }
        }
    }

    /// Tests that the data fill the axis, however narrow their range is.
    #[test]
    fn axes_are_as_wide_as_their_data() {
        for ratio in [1.001, 1.02, 1.5, 1e3] {
            let (low, high) = Axis::log("rate").coordinate((0.01, 0.01 * ratio), |_| true).ends();
            assert!(low <= 0.01 && high >= 0.01 * ratio, "{ratio}");
            assert!((high / low).ln() < 1.1 * f64::ln(ratio), "{ratio}: {low} {high}");
        }
        let (low, high) = Axis::log("rate").coordinate((0.01, 0.01), |_| true).ends();
        assert!(low < 0.01 && high > 0.01, "one value has room");
    }

    #[test]
    fn equal_ratios_are_equally_long() {
        let axis = Axis::log("rate").between(1e-4, 1.0).coordinate((0.0, 0.0), |_| true);
        let places: Vec<i32> = [1e-4, 1e-3, 1e-2, 1e-1, 1.0].iter().map(|value| axis.map(value, (0, 4_000))).collect();
        assert_eq!(places, [0, 1_000, 2_000, 3_000, 4_000]);
        let axis = Axis::linear("items").between(0.0, 4.0).coordinate((0.0, 0.0), |_| true);
        assert_eq!(axis.map(&3.0, (100, 500)), 400);
    }
}
