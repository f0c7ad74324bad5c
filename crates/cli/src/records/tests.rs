//! Tests that splitting does not depend on where blocks end: every input is split as a whole, byte
//! by byte, and in pieces of other lengths.

use super::ahead::{Cut, Done};
use super::csv::{Column, Csv};
use super::found::{Batch, Found};
use super::key::KeyOf;
use super::split::{Ends, Split};
use super::splitter::Splitter;

/// Pairs of record and key, and the numbers of the skipped records.
type Outcome = (Vec<(String, String)>, Vec<u64>);

fn take(splitter: &Splitter, text: &[u8], found: &mut Found, outcome: &mut Outcome) {
    let text = if found.carried { splitter.carry() } else { text };
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    outcome.0.extend(
        Batch { spans: &found.spans, text, keys: &found.keys, numbers: &found.numbers }
            .iter()
            .map(|(record, key)| (lossy(record), lossy(key))),
    );
    outcome.1.extend(found.troubles.drain(..).map(|trouble| trouble.record));
    found.clear();
}

fn split_all(splitter: &mut Splitter, text: &[u8], outcome: &mut Outcome) {
    let (mut at, mut found) = (0, Found::default());
    while at < text.len() {
        let rest = &text[at..];
        at += splitter.split(rest, &mut found).expect("an input with the column");
        take(splitter, rest, &mut found, outcome);
        if let Some(again) = found.again.take() {
            split_all(splitter, &again, outcome);
        }
        let _ = splitter.take_header();
    }
}

/// Splits a text whose complete records another splitter finds, as other threads do.
fn split_ahead(splitter: &mut Splitter, (other, done): (&mut Splitter, &mut Done), cut: &mut Cut, text: &[u8], outcome: &mut Outcome) {
    let whole = cut.whole(text);
    let found = splitter.columns().is_some_and(|columns| done.find(other, columns, &text[whole.clone()]));
    split_all(splitter, &text[..whole.start], outcome);
    if found && done.follows(splitter) {
        splitter.adopt(done.records, &mut done.found);
        take(splitter, &text[whole.clone()], &mut done.found, outcome);
    } else {
        split_all(splitter, &text[whole.clone()], outcome);
    }
    split_all(splitter, &text[whole.end..], outcome);
}

fn run(mut splitter: Splitter, mut other: Option<Splitter>, text: &[u8], step: usize) -> Outcome {
    let mut outcome = Outcome::default();
    // The results are reused, like those of blocks that come back.
    let (mut cut, mut done) = (Cut::new(splitter.ends()), Done::default());
    for piece in text.chunks(step) {
        match &mut other {
            Some(other) => split_ahead(&mut splitter, (other, &mut done), &mut cut, piece, &mut outcome),
            None => split_all(&mut splitter, piece, &mut outcome),
        }
    }
    loop {
        let mut found = Found::default();
        splitter.finish(&mut found).expect("an input with the column");
        take(&splitter, &[], &mut found, &mut outcome);
        let Some(again) = found.again.take() else { return outcome };
        split_all(&mut splitter, &again, &mut outcome);
    }
}

/// The outcome of splitting a text. It must not depend on the pieces, nor on the thread that finds
/// the records.
fn split(make: impl Fn() -> Splitter, text: &str) -> Outcome {
    let whole = run(make(), None, text.as_bytes(), text.len().max(1));
    for step in (1..text.len().min(40)).chain([text.len().max(1)]) {
        assert_eq!(run(make(), None, text.as_bytes(), step), whole, "in pieces of {step}: {text:?}");
        assert_eq!(run(make(), Some(make()), text.as_bytes(), step), whole, "ahead, in pieces of {step}: {text:?}");
    }
    whole
}

fn records(ends: Ends, most: usize, text: &str) -> (Vec<String>, Vec<u64>) {
    let (pairs, skipped) = split(|| Splitter::Plain(Split::new(ends, KeyOf::Record, false, most)), text);
    (pairs.into_iter().map(|(record, _)| record).collect(), skipped)
}

fn csv(column: &str, text: &str) -> (Vec<String>, Vec<u64>) {
    let make = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named(column.to_owned()), true, false, 60)));
    let (pairs, skipped) = split(make, text);
    (pairs.into_iter().map(|(_, key)| key).collect(), skipped)
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
    let make = || Splitter::Plain(Split::new(Ends::Byte { byte: b'\n', crlf: false }, key_of(), true, 60));
    let (pairs, skipped) = split(make, "a 6162\nb 6\nc\nd 7a");
    assert_eq!(pairs, [("a 6162".to_owned(), "ab".to_owned()), ("d 7a".to_owned(), "z".to_owned())]);
    assert_eq!(skipped, [2, 3]);
}

/// The output if everything is passed on: records with and without keys, each with a newline, and
/// other bytes unchanged.
fn pass_all(splitter: &mut Splitter, text: &[u8], out: &mut Vec<u8>, keyed: &mut usize) {
    let (mut at, mut found) = (0, Found { passing: true, ..Found::default() });
    while at < text.len() {
        let rest = &text[at..];
        at += splitter.split(rest, &mut found).expect("an input with the column");
        hand_over(splitter, rest, &mut found, out, keyed);
    }
}

/// Takes over the results; returns whether nothing has to be split again.
fn hand_over(splitter: &mut Splitter, text: &[u8], found: &mut Found, out: &mut Vec<u8>, keyed: &mut usize) -> bool {
    let text = if found.carried { splitter.carry() } else { text };
    let batch = Batch { spans: &found.spans, text, keys: &found.keys, numbers: &found.numbers };
    for index in 0..batch.len() {
        out.extend_from_slice(batch.text_of(index, index));
        out.push(b'\n');
        *keyed += usize::from(batch.key(index).is_some());
    }
    out.append(&mut found.passed);
    found.clear();
    found.troubles.clear();
    let again = found.again.take();
    again.iter().for_each(|again| pass_all(splitter, again, out, keyed));
    again.is_none()
}

#[test]
fn nothing_is_lost_where_all_is_passed_on() {
    let plain =
        |ends| move || Splitter::Plain(Split::new(ends, KeyOf::Fields { delimiter: b':', fields: "2".parse().expect("a list") }, false, 9));
    let line = Ends::Byte { byte: b'\n', crlf: false };
    let csv = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named("2".to_owned()), false, false, 12)));
    let makers: [(&str, &dyn Fn() -> Splitter, usize); 6] = [
        ("a:b\nnone\n:\nfar too long:to have\na:c\n", &plain(line), 3),
        ("a:b\nfar too long:to have a key at all", &plain(line), 1),
        ("\n\nwithout\n\n", &plain(line), 0),
        ("a,b\nc\nd,e\n\"x,y\nz,w\nu,v", &csv, 4),
        ("a,b\n0123456789abcdef,far too long\nd,e\n", &csv, 2),
        ("a,b\n\"c\nd\",e\n\"open,quote\nf,g\n", &csv, 3),
    ];
    for (text, make, expected) in makers {
        for step in 1..=text.len() {
            let (mut splitter, mut out, mut keyed) = (make(), Vec::new(), 0);
            text.as_bytes().chunks(step).for_each(|piece| pass_all(&mut splitter, piece, &mut out, &mut keyed));
            loop {
                let mut found = Found { passing: true, ..Found::default() };
                splitter.finish(&mut found).expect("an input with the column");
                if hand_over(&mut splitter, &[], &mut found, &mut out, &mut keyed) {
                    break;
                }
            }
            let whole = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
            assert_eq!((String::from_utf8_lossy(&out).into_owned(), keyed), (whole, expected), "in pieces of {step}");
        }
    }
}

/// The text that is passed on for a broken record begins with the record, not with the end of the
/// line before it.
#[test]
fn no_empty_line_comes_before_a_broken_record() {
    let csv = || Splitter::Csv(Box::new(Csv::new(b',', Column::Named("2".to_owned()), false, false, 60)));
    let text = "a,b\r\n\"open\r\nf,g\r\n";
    for step in 1..=text.len() {
        let (mut splitter, mut out) = (csv(), Vec::new());
        text.as_bytes().chunks(step).for_each(|piece| pass_all(&mut splitter, piece, &mut out, &mut 0));
        loop {
            let mut found = Found { passing: true, ..Found::default() };
            splitter.finish(&mut found).expect("an input with the column");
            if hand_over(&mut splitter, &[], &mut found, &mut out, &mut 0) {
                break;
            }
        }
        assert_eq!(String::from_utf8_lossy(&out).replace('\r', ""), "a,b\n\"open\nf,g\n", "in pieces of {step}");
    }
}
