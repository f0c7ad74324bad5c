//! The reporter: it prints the same answer as aligned text for people or as one JSON object for
//! programs.

use crate::color;
use crate::failure::printable;
use crate::{output, progress};
use serde_json::{Map, Value};
use std::io::{self, Write};
use truebloom_math::{Fpr, Rate};
pub(crate) use truebloom_report::show::*;

/// A report under construction. A line for people is added together with the corresponding fields
/// for programs.
pub(crate) struct Report {
    lines: Vec<(String, String)>,
    fields: Map<String, Value>,
}

impl Report {
    /// Creates an empty report for a subcommand.
    pub(crate) fn new(verb: &str) -> Report {
        let mut fields = Map::new();
        fields.insert("verb".to_owned(), verb.into());
        Report { lines: Vec::new(), fields }
    }

    /// Adds a line of text: a label of one or two words, and the information.
    pub(crate) fn line(&mut self, label: &str, text: impl Into<String>) -> &mut Report {
        self.lines.push((label.to_owned(), text.into()));
        self
    }

    /// Adds a line before all other lines.
    pub(crate) fn first_line(&mut self, label: &str, text: impl Into<String>) {
        self.lines.insert(0, (label.to_owned(), text.into()));
    }

    /// Adds a field of the JSON object.
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Value>) -> &mut Report {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Prints the report to standard output, as JSON or as text.
    pub(crate) fn print(self, json: bool) -> io::Result<()> {
        self.print_as(if json { Format::Json } else { Format::Text })
    }

    /// Prints the report to standard output.
    pub(crate) fn print_as(self, format: Format) -> io::Result<()> {
        let out = crate::output::stdout();
        let width = output::columns(&std::io::stdout());
        output::unless_closed(self.write_to(out, width, format))
    }

    /// Prints the report to standard error, because standard output is used for lines.
    pub(crate) fn print_aside(&self, json: bool) -> io::Result<()> {
        progress::end();
        let out = io::stderr().lock();
        let width = output::columns(&out);
        self.write_to(out, width, if json { Format::Json } else { Format::Text })
    }

    /// The fields of the report for programs.
    pub(crate) fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Writes the report, wrapped if `columns` is the width of a terminal.
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
                let one_line = |text: &str| printable(text).replace('\n', "\\n");
                let text = |text: &str| columns.map_or_else(|| one_line(text), |columns| wrapped(&one_line(text), width + 2, columns));
                self.lines.iter().try_for_each(|(label, line)| writeln!(out, "{}  {}", shown(label), text(line)))
            }
        }
    }
}

/// Wraps a text that begins in this column of a terminal with this width. Further lines are
/// indented to the same column. Words are not broken, even if there is too little room.
pub(crate) fn wrapped(text: &str, column: usize, columns: usize) -> String {
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

/// The smallest width, in columns, to which a text is wrapped.
const LEAST_ROOM: usize = 20;

/// The format in which a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Aligned lines for people.
    Text,
    /// One JSON object.
    Json,
    /// One line for each number, with nested names joined by dots.
    Csv,
}

/// The choice between text, JSON and CSV.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print CSV with two columns, `field` and `value`; each line is one field of the JSON object
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

/// A key as two values: its text (null if its bytes are not text), and its bytes in hexadecimal.
pub(crate) fn key_fields(key: &[u8]) -> (Value, Value) {
    match std::str::from_utf8(key) {
        Ok(text) => (text.into(), Value::Null),
        Err(_) => (Value::Null, key.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()),
    }
}

/// Prints the numbers and texts of nested objects, one per line.
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

/// Puts a value in quotes if CSV needs it, as for some file names.
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

/// The requested rate, as a number or null.
pub(crate) fn rate_value(rate: Option<Rate>) -> Value {
    rate.map_or(Value::Null, |rate| rate.to_f64().into())
}

/// The confidence of the bounds in reports.
pub(crate) const CONFIDENCE: f64 = 0.999_999;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_below_their_beginning() {
        assert_eq!(wrapped("a report of some words", 6, 26), "a report of some\n      words");
        assert_eq!(wrapped("a report of some words", 6, 25), "a report of some words", "no room");
        assert_eq!(wrapped("averyveryverylongword-that-stays whole", 2, 22), "averyveryverylongword-that-stays\n  whole");
    }
}
