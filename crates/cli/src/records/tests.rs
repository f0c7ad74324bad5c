//! Tests that splitting does not depend on where blocks end: every input is split as a whole, in
//! two pieces at every place, and in pieces of every length.

use super::SHOWN;
use super::ahead::{Cut, Done};
use super::csv::{Column, Csv};
use super::found::{Batch, Found};
use super::key::KeyOf;
use super::split::{Ends, Split};
use super::splitter::Splitter;

/// Everything that splitting finds in an input.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// Records with keys: the record, its key and its number.
    records: Vec<(String, String, u64)>,
    /// The numbers of the first skipped records with the reasons why they were skipped, and the
    /// number of all skipped records.
    told: Vec<(u64, String)>,
    skipped: u64,
    header: Option<Vec<u8>>,
    /// The output if everything is passed on: records with and without keys, each with a newline,
    /// and other bytes unchanged.
    output: Vec<u8>,
    /// Why the input could not be read to its end.
    failure: Option<String>,
}

impl Outcome {
    /// Adds what was found in a text.
    fn take(&mut self, splitter: &mut Splitter, text: &[u8], found: &mut Found) {
        let text = if found.carried { splitter.carry() } else { text };
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let batch = Batch { spans: &found.spans, text, keys: &found.keys, numbers: &found.numbers };
        for index in 0..batch.len() {
            let record = batch.text_of(index, index);
            self.output.extend_from_slice(record);
            self.output.push(b'\n');
            self.records.extend(batch.key(index).map(|key| (lossy(record), lossy(key), batch.number(index))));
        }
        self.output.append(&mut found.passed);
        self.skipped += found.troubles.len() as u64 + std::mem::take(&mut found.more_troubles);
        self.told.extend(found.troubles.drain(..).map(|trouble| (trouble.record, trouble.why)));
        self.told.truncate(SHOWN);
        self.header = splitter.take_header().or(self.header.take());
        found.clear();
    }

    fn split(&mut self, splitter: &mut Splitter, text: &[u8]) {
        let (mut at, mut found) = (0, passing());
        while at < text.len() && self.failure.is_none() {
            let rest = &text[at..];
            match splitter.split(rest, &mut found) {
                Ok(used) => at += used,
                Err(why) => self.failure = Some(why),
            }
            self.take(splitter, rest, &mut found);
            if let Some(again) = found.again.take() {
                self.split(splitter, &again);
            }
        }
    }

    /// Splits a text after another splitter has found its complete records, as other threads do.
    fn split_ahead(&mut self, splitter: &mut Splitter, (other, done): (&mut Splitter, &mut Done), cut: &mut Cut, text: &[u8]) {
        let whole = cut.whole(text);
        done.found.passing = true;
        let found = splitter.columns().is_some_and(|columns| done.find(other, columns, &text[whole.clone()]));
        self.split(splitter, &text[..whole.start]);
        if found && done.follows(splitter) {
            splitter.adopt(done.records, &mut done.found);
            self.take(splitter, &text[whole.clone()], &mut done.found);
        } else {
            self.split(splitter, &text[whole.clone()]);
        }
        self.split(splitter, &text[whole.end..]);
    }

    fn finish(&mut self, splitter: &mut Splitter) {
        while self.failure.is_none() {
            let mut found = passing();
            splitter.finish(&mut found);
            self.take(splitter, &[], &mut found);
            let Some(again) = found.again.take() else { return };
            self.split(splitter, &again);
        }
    }
}

fn passing() -> Found {
    Found { passing: true, ..Found::default() }
}

fn run<'t>(mut splitter: Splitter, mut other: Option<Splitter>, pieces: impl Iterator<Item = &'t [u8]>) -> Outcome {
    let mut outcome = Outcome::default();
    // The results are reused, like those of blocks that come back.
    let (mut cut, mut done) = (Cut::new(splitter.ends()), Done::default());
    for piece in pieces {
        match &mut other {
            Some(other) => outcome.split_ahead(&mut splitter, (other, &mut done), &mut cut, piece),
            None => outcome.split(&mut splitter, piece),
        }
    }
    outcome.finish(&mut splitter);
    outcome
}

/// Splits a text, and checks that the outcome depends neither on the pieces in which the text is
/// read nor on the splitter that finds the records.
fn split(make: impl Fn() -> Splitter, text: &[u8]) -> Outcome {
    let whole = run(make(), None, std::iter::once(text));
    let ways = [false, true].into_iter().flat_map(|ahead| (0..=text.len()).map(move |at| (ahead, at)));
    for (ahead, at) in ways {
        let other = || ahead.then(&make);
        let (start, end) = text.split_at(at);
        let shown = || (ahead, at, String::from_utf8_lossy(text).into_owned());
        assert_eq!(run(make(), other(), [start, end].into_iter()), whole, "ahead and in two pieces: {:?}", shown());
        assert_eq!(run(make(), other(), text.chunks(at.max(1))), whole, "ahead and in equal pieces: {:?}", shown());
    }
    whole
}

fn records(ends: Ends, most: usize, text: &str) -> (Vec<String>, Vec<u64>) {
    let outcome = split(|| Splitter::Plain(Split::new(ends, KeyOf::Record, false, most, b"\n")), text.as_bytes());
    (outcome.records.into_iter().map(|(record, ..)| record).collect(), outcome.told.into_iter().map(|(number, _)| number).collect())
}

fn csv(column: &str, text: &str) -> (Vec<String>, Vec<u64>) {
    let make = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named(column.to_owned()), true, false, 60, b"\n")));
    let outcome = split(make, text.as_bytes());
    (outcome.records.into_iter().map(|(_, key, _)| key).collect(), outcome.told.into_iter().map(|(number, _)| number).collect())
}

fn none() -> Vec<u64> {
    Vec::new()
}

#[test]
fn lines() {
    let line = |crlf| Ends::Byte { byte: b'\n', crlf };
    let nul = Ends::Byte { byte: 0, crlf: false };
    let of = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    assert_eq!(records(line(false), 9, "a\n\nbb\nlast"), (of(&["a", "", "bb", "last"]), none()));
    assert_eq!(records(line(false), 9, ""), (of(&[]), none()));
    assert_eq!(records(line(false), 9, "\n"), (of(&[""]), none()));
    assert_eq!(records(line(true), 9, "a\r\nb\n\r\nc\r\r\n"), (of(&["a", "b", "", "c\r"]), none()));
    assert_eq!(records(line(false), 9, "a\r\n"), (of(&["a\r"]), none()));
    assert_eq!(records(nul, 9, "a\nb\0c\0"), (of(&["a\nb", "c"]), none()));
}

#[test]
fn long_records_are_skipped_alone() {
    let ends = Ends::Byte { byte: b'\n', crlf: false };
    let of = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    assert_eq!(records(ends, 3, "abc\nabcd\nx\n0123456789\ny"), (of(&["abc", "x", "y"]), vec![2, 4]));
    assert_eq!(records(ends, 3, "x\n0123456789"), (of(&["x"]), vec![2]));
}

#[test]
fn fixed_lengths() {
    let of = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    assert_eq!(records(Ends::Length(3), 9, "abc\ndef"), (of(&["abc", "\nde"]), vec![3]));
    assert_eq!(records(Ends::Length(3), 9, "abcdef"), (of(&["abc", "def"]), none()));
}

#[test]
fn csv_columns() {
    let of = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    let text = "id,name\n1,a\r\n\r\n2,\"b, \"\"c\"\"\nd\"\n3,\u{c3}\n";
    assert_eq!(csv("name", text), (of(&["a", "b, \"c\"\nd", "\u{c3}"]), none()));
    assert_eq!(csv("1", text).0, of(&["1", "2", "3"]));
    assert_eq!(csv("name", "id,name\n1,last"), (of(&["last"]), none()));
    assert_eq!(csv("name", "\u{feff}name,id\nx,1\n"), (of(&["x"]), none()));
    assert_eq!(csv("name", "id,name\n1\n2,b\n"), (of(&["b"]), vec![2]));
    assert_eq!(csv("name", "id,name\n"), (of(&[]), none()));
    // A carriage return alone ends a record, but not in quotes.
    assert_eq!(csv("name", "id,name\r1,a\r2,\"b\rc\"\r\n3,d\n4,e\r5,f"), (of(&["a", "b\rc", "d", "e", "f"]), none()));
}

#[test]
fn a_broken_quote_loses_its_line_only() {
    let of = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    // The quote is never closed, is closed by a later quote, or is open beyond the limit of 60
    // bytes.
    assert_eq!(csv("name", "id,name\n1,a\n2,\"b\n3,c\n4,d\n"), (of(&["a", "c", "d"]), vec![3]));
    assert_eq!(csv("name", "id,name\n1,a\n2,\"b\n3,c\n4,\"d,\"\n5,e"), (of(&["a", "c", "d,", "e"]), vec![3]));
    // The quote is closed by the next opening quote, and the record has the expected number of
    // fields.
    assert_eq!(csv("name", "id,name\n1,a\n2,\"b\n3,\"c\n4,d\n"), (of(&["a", "d"]), vec![3, 4]));
    assert_eq!(csv("name", "id,name\n1,\"a\nb\"\r\n2,\"\"\"c\"\"\nd\"\n"), (of(&["a\nb", "\"c\"\nd"]), none()));
    let long: String = (3..20).map(|i| format!("{i},v{i}\n")).collect();
    let kept: Vec<String> = std::iter::once("a".to_owned()).chain((3..20).map(|i| format!("v{i}"))).collect();
    assert_eq!(csv("name", &format!("id,name\n1,a\n2,\"b\n{long}")), (kept, vec![3]));
    // The quote is closed, but the record is too long, in one line and in several.
    let wide = "x".repeat(30);
    assert_eq!(csv("name", &format!("id,name\n1,\"{wide}{wide}\"\n2,\"{wide}\n{wide}\"\n3,c\n")).0, of(&["c"]));
}

#[test]
fn keys_are_decoded() {
    let key_of = || KeyOf::Fields { delimiter: b' ', fields: "2".parse().expect("a field") };
    let make = || Splitter::Plain(Split::new(Ends::Byte { byte: b'\n', crlf: false }, key_of(), true, 60, b"\n"));
    let outcome = split(make, b"a 6162\nb 6\nc\nd 7a");
    assert_eq!(outcome.records, [("a 6162".to_owned(), "ab".to_owned(), 1), ("d 7a".to_owned(), "z".to_owned(), 4)]);
    assert_eq!(outcome.told.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn nothing_is_lost_where_all_is_passed_on() {
    let plain = |ends| {
        move || Splitter::Plain(Split::new(ends, KeyOf::Fields { delimiter: b':', fields: "2".parse().expect("a list") }, false, 9, b"\n"))
    };
    let line = Ends::Byte { byte: b'\n', crlf: false };
    let csv = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named("2".to_owned()), false, false, 12, b"\n")));
    let makers: [(&str, &dyn Fn() -> Splitter, usize); 6] = [
        ("a:b\nnone\n:\nfar too long:to have\na:c\n", &plain(line), 3),
        ("a:b\nfar too long:to have a key at all", &plain(line), 1),
        ("\n\nwithout\n\n", &plain(line), 0),
        ("a,b\nc\nd,e\n\"x,y\nz,w\nu,v", &csv, 4),
        ("a,b\n0123456789abcdef,far too long\nd,e\n", &csv, 2),
        ("a,b\n\"c\nd\",e\n\"open,quote\nf,g\n", &csv, 3),
    ];
    for (text, make, expected) in makers {
        let outcome = split(make, text.as_bytes());
        let whole = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        assert_eq!((String::from_utf8_lossy(&outcome.output).into_owned(), outcome.records.len()), (whole, expected));
    }
}

/// The text that is passed on for a broken record begins with the record, not with the end of the
/// line before it.
#[test]
fn no_empty_line_comes_before_a_broken_record() {
    let csv = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named("2".to_owned()), false, false, 60, b"\n")));
    let outcome = split(csv, b"a,b\r\n\"open\r\nf,g\r\n");
    assert_eq!(String::from_utf8_lossy(&outcome.output), "a,b\n\"open\nf,g\n");
}

/// A skipped line ends like every other line of the output, whether it is passed on as a whole or
/// in parts.
#[test]
fn long_lines_end_like_others() {
    let crlf = || Splitter::Plain(Split::new(Ends::Byte { byte: b'\n', crlf: true }, KeyOf::Record, false, 3, b"\n"));
    let outcome = split(crlf, b"abcdefgh\nb\r\nabc\r\nab\r\ra\r\r\nabcdef\r");
    assert_eq!(String::from_utf8_lossy(&outcome.output), "abcdefgh\nb\nabc\nab\r\ra\r\nabcdef\n");
}

/// An independent reading of CSV: for each record, its bytes are read one by one.
struct Model<'t> {
    text: &'t [u8],
    most: usize,
    /// The number of fields of the first record.
    width: Option<usize>,
}

/// One record of the model: its end, its fields, and why it is skipped.
struct Read {
    end: usize,
    fields: Vec<Vec<u8>>,
    why: Option<&'static str>,
}

impl Model<'_> {
    /// The record that begins here, up to the line that ends it or shows that it is broken.
    fn read(&self, start: usize) -> Read {
        let is_end = |at: usize| self.text.get(at).is_none_or(|byte| matches!(byte, b'\r' | b'\n'));
        let (mut at, mut fields, mut field) = (start, Vec::new(), Vec::new());
        let (mut is_open, mut begins, mut first_end, mut misquoted) = (false, true, None, false);
        loop {
            if is_end(at) {
                first_end = first_end.or(Some(at));
                if !is_open || misquoted || at >= self.text.len() {
                    break;
                }
            }
            let byte = self.text[at];
            if is_open && byte == b'"' && self.text.get(at + 1) == Some(&b'"') {
                (at, _) = (at + 1, field.push(b'"'));
            } else if is_open && byte == b'"' {
                (is_open, misquoted) = (false, misquoted || !(is_end(at + 1) || self.text[at + 1] == b','));
            } else if !is_open && begins && byte == b'"' {
                is_open = true;
            } else if !is_open && byte == b',' {
                fields.push(std::mem::take(&mut field));
                (at, begins) = (at + 1, true);
                continue;
            } else {
                field.push(byte);
            }
            (at, begins) = (at + 1, false);
        }
        fields.push(field);
        let first_end = first_end.unwrap_or(at);
        let has_lines = first_end < at;
        let why = if at - start > self.most {
            Some("is longer")
        } else if misquoted && (has_lines || is_open) || has_lines && !is_open && self.width.is_some_and(|width| width != fields.len()) {
            Some("is broken")
        } else {
            is_open.then_some("has a quote")
        };
        Read { end: if why.is_some() { first_end } else { at }, fields, why }
    }

    /// Returns the outcome that the splitter must have if the key is the second field.
    fn outcome(mut self, has_header: bool) -> Outcome {
        let (mut outcome, mut at, mut number) = (Outcome::default(), 0, 0);
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        while let Some(start) = (at..self.text.len()).find(|at| !matches!(self.text[*at], b'\r' | b'\n')) {
            let is_header = has_header && self.width.is_none();
            let mark = if is_header && self.text[start..].starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
            self.most -= mark;
            let Read { end, fields, why } = self.read(start + mark);
            self.most += mark;
            number += 1;
            at = end;
            let record = &self.text[start..end];
            let (width, is_first) = (self.width.unwrap_or(fields.len()), self.width.is_none());
            if is_header || why.is_none() && is_first && fields.len() < 2 {
                if why.is_some() || fields.len() < 2 {
                    outcome.failure = Some(why.unwrap_or("there is no column").to_owned());
                    return outcome;
                }
                (outcome.header, self.width) = (Some(record.to_vec()), Some(width));
                continue;
            }
            let why = why.or((fields.len() < 2).then_some("has only"));
            if why.is_none() || why == Some("has only") {
                self.width = Some(width);
            }
            outcome.output.extend([record, b"\n"].concat());
            match why {
                None => outcome.records.push((lossy(record), lossy(&fields[1]), number)),
                Some(why) => {
                    outcome.skipped += 1;
                    outcome.told.push((number, why.to_owned()));
                }
            }
        }
        outcome.told.truncate(SHOWN);
        outcome
    }
}

/// Reads random fragments of CSV, with each kind of line end, a small limit on the length of a
/// record, and with or without a header. However the text is divided into pieces, the records,
/// their numbers, the messages and the passed text must agree with the model.
#[test]
fn random_csv_is_read_alike_in_all_pieces() {
    let fragments = ["a", "bcd", ",", ",", "\"", "\"", "\"\"", "\n", "\n", ",\"", "\",", "\"\n", "\u{feff}"];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let (mut keys, mut reasons) = (0, std::collections::BTreeSet::new());
    for round in 0..3000 {
        let body: String = (0..below(24)).map(|_| fragments[below(fragments.len())]).collect();
        let (begin, end) = (["", "\u{feff}", "x,y\n", "\u{feff}\"x\",y\n"][below(4)], ["\n", "\r\n", "\r"][round % 3]);
        let text = format!("{begin}{body}").replace('\n', end);
        let (most, has_header) = ([4, 7, 12, 60][below(4)], below(2) == 0);
        let make = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named("2".to_owned()), has_header, false, most, b"\n")));
        let mut found = split(make, text.as_bytes());
        let expected = Model { text: text.as_bytes(), most, width: None }.outcome(has_header);
        let cut = |why: &mut String, known: Option<&String>| *why = known.filter(|known| why.contains(*known)).unwrap_or(why).clone();
        for (index, (_, why)) in found.told.iter_mut().enumerate() {
            cut(why, expected.told.get(index).map(|(_, known)| known));
        }
        found.failure.iter_mut().for_each(|why| cut(why, expected.failure.as_ref()));
        assert_eq!(found, expected, "{text:?}, at most {most}, {has_header}");
        keys += expected.records.len();
        reasons.extend(expected.told.into_iter().map(|(_, why)| why).chain(expected.failure));
    }
    assert!(keys > 1000 && reasons.len() == 5, "{keys} {reasons:?}");
}

#[test]
fn a_long_line_is_not_searched_for_each_line_that_is_given_up() {
    let text = ["x,y\n", &"a\",\"\n".repeat(200_000), &"b".repeat(5_600_000)].concat();
    let splitter = Splitter::Csv(Box::new(Csv::new(b',', Column::Record, true, false, 4 << 20, b"\n")));
    let outcome = run(splitter, None, text.as_bytes().chunks(256 << 10));
    assert_eq!((outcome.records.len(), outcome.skipped, outcome.failure), (0, 200_001, None));
}

/// In these inputs, every line opens a quote, so that each line that is given up could cause all
/// text after it to be read again. If the time were not proportional to the length, the test would
/// take hours.
#[test]
fn broken_quotes_take_linear_time() {
    let lines = [(2, "a\",\",bbbbbbbbbbbbbbbbbbbbbb"), (2, "5\" disk,\"a"), (60_000, "a\",\","), (1, "\"\"\"a"), (3, "\"a\"b,\"")];
    for ((width, line), end) in lines.into_iter().flat_map(|line| [(line, "\n"), (line, "\r")]) {
        for (most, step) in [(1 << 30, 256 << 10), (200_000, 64 << 10), (200_000, 300)] {
            let text = [",".repeat(width - 1) + "x" + end, [line, end].concat().repeat(50_000)].concat();
            let splitter = Splitter::Csv(Box::new(Csv::new(b',', Column::Record, true, false, most, b"\n")));
            let outcome = run(splitter, None, text.as_bytes().chunks(step));
            assert_eq!((outcome.output.len() + width + 1, outcome.failure), (text.len(), None), "{line:?}");
            assert!(outcome.records.len() as u64 + outcome.skipped > 20_000, "{line:?}");
        }
    }
}
