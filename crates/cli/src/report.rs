//! The one reporter: the same answer as aligned text for people and as one JSON object for
//! programs.

use crate::color;
use crate::failure::printable;
use crate::{output, progress};
use serde_json::{Map, Value};
use std::io::{self, Write};
use truebloom_math::{Fpr, Rate};

/// An answer under construction: lines for people, fields for programs, filled side by side.
pub(crate) struct Report {
    lines: Vec<(String, String)>,
    fields: Map<String, Value>,
}

impl Report {
    /// An empty report of a verb.
    pub(crate) fn new(verb: &str) -> Report {
        let mut fields = Map::new();
        fields.insert("verb".to_owned(), verb.into());
        Report { lines: Vec::new(), fields }
    }

    /// A line of text: a label of one or two words, and what there is to say.
    pub(crate) fn line(&mut self, label: &str, text: impl Into<String>) -> &mut Report {
        self.lines.push((label.to_owned(), text.into()));
        self
    }

    /// The same, before all others.
    pub(crate) fn first_line(&mut self, label: &str, text: impl Into<String>) {
        self.lines.insert(0, (label.to_owned(), text.into()));
    }

    /// A field of the JSON object.
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Value>) -> &mut Report {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Prints it to standard output, as JSON or as text.
    pub(crate) fn print(self, json: bool) -> io::Result<()> {
        self.print_as(if json { Format::Json } else { Format::Text })
    }

    /// Prints it to standard output.
    pub(crate) fn print_as(self, format: Format) -> io::Result<()> {
        let out = crate::output::stdout();
        let width = output::columns(&std::io::stdout());
        self.write_to(out, width, format)
    }

    /// Prints it to standard error, beside an output of lines.
    pub(crate) fn print_aside(&self, json: bool) -> io::Result<()> {
        progress::end();
        let out = io::stderr().lock();
        let width = output::columns(&out);
        self.write_to(out, width, if json { Format::Json } else { Format::Text })
    }

    /// What there is to say to programs.
    pub(crate) fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// On a terminal with this many columns, or elsewhere.
    fn write_to(&self, mut out: impl Write, columns: Option<usize>, format: Format) -> io::Result<()> {
        match format {
            Format::Json => writeln!(out, "{}", Value::Object(self.fields.clone())),
            Format::Csv => {
                writeln!(out, "field,value")?;
                print_leaves(&mut out, "", &Value::Object(self.fields.clone()))
            }
            Format::Text => {
                let width = self.lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
                let shown = |label: &str| color::bold(&format!("{label:width$}"), columns.is_some());
                let text = |text: &str| columns.map_or_else(|| printable(text), |columns| wrapped(&printable(text), width + 2, columns));
                self.lines.iter().try_for_each(|(label, line)| writeln!(out, "{}  {}", shown(label), text(line)))
            }
        }
    }
}

/// A text that begins in this column of a terminal this wide, its later lines below its beginning.
/// Words are not broken, even where there is too little room.
fn wrapped(text: &str, column: usize, columns: usize) -> String {
    if column + LEAST_ROOM > columns {
        return text.to_owned();
    }
    let (mut lines, mut at) = (String::with_capacity(text.len()), column);
    for (number, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && at + 1 + length > columns {
            lines.push_str(&format!("\n{:column$}", ""));
            at = column;
        } else if number > 0 {
            lines.push(' ');
            at += 1;
        }
        lines.push_str(word);
        at += length;
    }
    lines
}

/// Columns that a wrapped text has at least.
const LEAST_ROOM: usize = 20;

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Aligned lines for people.
    Text,
    /// One object.
    Json,
    /// A line for each number, nested names joined by points.
    Csv,
}

/// The choice between text, JSON and CSV.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print comma-separated values, one number per line
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl FormatArgs {
    pub(crate) fn format(&self) -> Format {
        match (self.json, self.csv) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => Format::Text,
        }
    }
}

/// A key is bytes: its text, or null and its bytes in hexadecimal.
pub(crate) fn key_fields(key: &[u8]) -> (Value, Value) {
    match std::str::from_utf8(key) {
        Ok(text) => (text.into(), Value::Null),
        Err(_) => (Value::Null, key.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()),
    }
}

/// The numbers and words of nested objects, a line each.
fn print_leaves(out: &mut impl Write, name: &str, value: &Value) -> io::Result<()> {
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            print_leaves(out, &name, value)
        }),
        Value::String(text) => writeln!(out, "{name},{}", quoted(text)),
        Value::Null => writeln!(out, "{name},"),
        other => writeln!(out, "{name},{}", quoted(&other.to_string())),
    }
}

/// In quotes if it needs them: the name of a file may.
fn quoted(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")).into() } else { text.into() }
}

/// A rate with its bracket, as in the answers of `eval`.
pub(crate) fn fpr_value(fpr: &Fpr) -> Map<String, Value> {
    let fields = [
        ("value", Value::from(fpr.value)),
        ("lower", fpr.lower.into()),
        ("upper", fpr.upper.into()),
        ("ln", fpr.ln.into()),
        ("ln_lower", fpr.ln_lower.into()),
        ("ln_upper", fpr.ln_upper.into()),
        ("method", fpr.method.to_string().into()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The rate asked for: the number, or null.
pub(crate) fn rate_value(rate: Option<Rate>) -> Value {
    rate.map_or(Value::Null, |rate| rate.to_f64().into())
}

/// A count with separators: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
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

/// Confidence of the bounds in reports.
pub(crate) const CONFIDENCE: f64 = 0.999_999;

/// An expected number: whole from 2 on, because its decimals mean nothing for what occurred.
pub(crate) fn expected(number: f64) -> String {
    match number {
        0.0..1e-6 => "fewer than 1e-6".to_owned(),
        1e-6..2.0 => format!("about {}", significant(number, 2)),
        _ => format!("about {}", count(number.round() as u64)),
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn plural(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Bytes in the largest binary unit that keeps the number at least 1.
pub(crate) fn bytes(number: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (number as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { plural(number, "byte") } else { format!("{} {}", significant(value, 4), units[unit]) }
}

/// `9,586 bits (1.172 KiB)`: a number of bits, and the whole words of 64 that hold them.
pub(crate) fn size(bits: u64) -> String {
    format!("{} ({})", plural(bits, "bit"), bytes(bits.div_ceil(64).saturating_mul(8)))
}

/// A rate to `digits` significant digits, also below the range of `f64`.
pub(crate) fn fpr(fpr: &Fpr, digits: usize) -> String {
    if fpr.value >= f64::MIN_POSITIVE || fpr.ln == f64::NEG_INFINITY {
        return rate(fpr.value, digits);
    }
    let exponent = (fpr.ln / std::f64::consts::LN_10).floor();
    let mantissa = (fpr.ln - exponent * std::f64::consts::LN_10).exp();
    format!("{}e{exponent}", significant(mantissa, digits.min(10)))
}

/// The upper end of a proven rate, rounded up to 6 digits, but never above a rate that it is proven
/// to be at most.
pub(crate) fn proven(fpr: &Fpr, met: Option<Rate>) -> String {
    let text = rate_up(fpr.upper, 6);
    match met {
        Some(asked) if text.parse().is_ok_and(|shown: f64| shown > asked.to_f64()) => asked.to_string(),
        _ => text,
    }
}

/// A number between 0 and 1 to `digits` significant digits, plain or scientific.
pub(crate) fn rate(value: f64, digits: usize) -> String {
    round_with(value, digits, |exact| exact)
}

/// As [`rate`], never below the number: for upper bounds.
pub(crate) fn rate_up(value: f64, digits: usize) -> String {
    // The shortest step up that the printed digits show.
    round_with(value, digits, |shown| if shown < value { step(value, digits) } else { 0.0 } + shown)
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

/// `digits` significant digits, scientific below 0.001 and from a million up; zeros at the end
/// dropped.
pub(crate) fn significant(value: f64, digits: usize) -> String {
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

    #[test]
    fn numbers_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "line"), "1 line");
        assert_eq!([1e-7, 0.2751, 9.538, 1417.4].map(expected), ["fewer than 1e-6", "about 0.28", "about 10", "about 1,417"]);
        assert_eq!((bytes(1), bytes(1023)), ("1 byte".to_owned(), "1,023 bytes".to_owned()));
        assert_eq!((significant(1417.26, 5), significant(-3.5, 2)), ("1,417.3".to_owned(), "-3.5".to_owned()));
        assert_eq!(bytes(1 << 20), "1 MiB");
        assert_eq!(bytes(1_797_206), "1.714 MiB");
        assert_eq!(size(9_586), "9,586 bits (1.172 KiB)");
        assert_eq!(wrapped("a report of some words", 6, 26), "a report of some\n      words");
        assert_eq!(wrapped("a report of some words", 6, 25), "a report of some words", "no room");
        assert_eq!(wrapped("averyveryverylongword-that-stays whole", 2, 22), "averyveryverylongword-that-stays\n  whole");
        assert_eq!(rate(0.001_000_88, 4), "0.001001");
        assert_eq!(rate(9.999e-7, 3), "1e-6");
        assert_eq!(rate(0.5, 4), "0.5");
        assert_eq!(rate_up(9.999_412e-7, 4), "1e-6");
        assert_eq!(rate_up(1.234_01e-7, 4), "1.235e-7");
        assert_eq!(rate_up(0.001, 4), "0.001");
    }
}
