//! `-j` changes no result: output, messages, exit codes and files are the same bytes for every
//! number of threads.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Everything that a run produces: its exit code, its output, and the filter that it writes.
#[derive(PartialEq)]
struct Trace {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
    /// The filter that the run wrote, if any.
    file: Option<Vec<u8>>,
}

fn truebloom(folder: &Path, arguments: &str, threads: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truebloom"));
    command.args(arguments.split_whitespace()).args(["-j", threads]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn trace(folder: &Path, output: &Output) -> Trace {
    let file = folder.join("out.tbl");
    let (out, err) = (output.stdout.clone(), String::from_utf8_lossy(&output.stderr).into_owned());
    let trace = Trace { code: output.status.code(), out, err, file: std::fs::read(&file).ok() };
    if trace.file.is_some() {
        std::fs::remove_file(file).expect("it was there");
    }
    trace
}

/// Returns the trace of a run with one thread, and checks that other numbers of threads give the
/// same trace.
fn run(folder: &Path, arguments: &str) -> Trace {
    let traced = |threads: &str| {
        if let Some(rest) = arguments.strip_prefix("insert ") {
            std::fs::copy(folder.join("half.tbl"), folder.join("out.tbl")).expect("a filter");
            return trace(folder, &truebloom(folder, &format!("insert out.tbl {rest}"), threads).output().expect("it runs"));
        }
        trace(folder, &truebloom(folder, arguments, threads).output().expect("it runs"))
    };
    let one = traced("1");
    for threads in ["2", "7"] {
        let more = traced(threads);
        assert_eq!((more.code, &more.err), (one.code, &one.err), "{arguments} -j {threads}");
        assert!(more.out == one.out, "{arguments} -j {threads}: other output");
        assert!(more.file == one.file, "{arguments} -j {threads}: another file");
    }
    one
}

/// A separate random number generator, so that the texts never change.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Writes at least five blocks of every kind of records. A third of the records are repeats, and a
/// few are malformed.
fn write_texts(folder: &Path) {
    let mut numbers = Numbers(7);
    let (mut lines, mut json, mut csv, mut hex) = (String::new(), String::new(), "id,name\n".to_owned(), String::new());
    for i in 0..30_000 {
        let (key, odd) = (numbers.below(30_000), numbers.below(10_000));
        let filling = "x".repeat(numbers.below(40) as usize);
        match odd {
            0 => lines += "\n\n",
            1 => writeln!(lines, "one-field-{key}").expect("memory"),
            2 => writeln!(lines, "{key}\t{}", "long".repeat(300)).expect("memory"),
            _ => writeln!(lines, "{filling}\tkey-{key}\t{}", key % 7).expect("memory"),
        }
        match odd {
            0 => json += "\n  \n",
            1 => json += "{\"id\": 1}\nno json\n",
            _ => writeln!(json, "{{\"id\": {i}, \"user\": {{\"name\": \"n\\u00e9-{key}{filling}\"}}}}").expect("memory"),
        }
        match odd {
            0 => csv += "1,\"open\n",
            1..30 => writeln!(csv, "{i},\"two\nlines, {key}\"").expect("memory"),
            _ => writeln!(csv, "{i},{key}{filling}").expect("memory"),
        }
        if odd == 0 { hex += "abc\nxyz\n" } else { writeln!(hex, "{key:04x}{key:032x}").expect("memory") }
    }
    // The last line of one input has no end, and one line is longer than two blocks.
    let long = "z".repeat(600_000);
    let write = |name: &str, text: &[u8]| std::fs::write(folder.join(name), text).expect("a file");
    for (name, text) in [("half.txt", &lines), ("half.json", &json), ("half.csv", &csv)] {
        write(name, &text.as_bytes()[..text.len() / 2]);
    }
    write("lines.txt", lines.as_bytes());
    write("long.txt", format!("first\n{long}\nsecond\n{lines}{long}").as_bytes());
    write("crlf.txt", lines.replace('\n', "\r\n").as_bytes());
    write("null.txt", lines.replace('\n', "\0").as_bytes());
    write("lines.json", json.as_bytes());
    write("lines.csv", csv.as_bytes());
    let turned = csv.lines().filter_map(|line| line.split_once(',')).map(|(id, name)| format!("{name},{id}\n"));
    write("turned.csv", turned.collect::<String>().as_bytes());
    let torn = |(i, line): (usize, &str)| if i % 3 == 0 { format!("{line}\n") } else { format!("{line}\n{i},\"open\n") };
    write("torn.csv", csv.lines().enumerate().map(torn).collect::<String>().as_bytes());
    write("seams.csv", seams().as_bytes());
    write("hex.txt", hex.as_bytes());
    write("empty.txt", b"");
    write("blank.txt", &b"\n".repeat(600_000));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(lines.as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    write("lines.gz", &packed);
    write("broken.gz", &packed[..packed.len() * 2 / 3]);
}

/// Returns CSV in which a broken record spans the end of every second block, between valid records.
/// The first block of a file has 64 KiB, and all others have 256 KiB.
fn seams() -> String {
    let (mut text, mut i) = ("id,name\n".to_owned(), 0);
    for end in (1..=10).step_by(2).map(|block| (64 << 10) + block * (256 << 10)) {
        while text.len() + 60 < end {
            i += 1;
            writeln!(text, "{i},{}", i % 20_000).expect("memory");
        }
        let broken = "1,\"open\n2,\"clo";
        let room = end - broken.len() - text.len();
        text += &format!("1,{}\n{broken}sed\"\n", "x".repeat(room - 3));
    }
    text
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write_texts(folder.path());
    for (name, input) in
        [("half.tbl", "half.txt"), ("json.tbl", "--json-field .user.name half.json"), ("csv.tbl", "--csv --column name half.csv")]
    {
        let made = truebloom(folder.path(), &format!("create -n 20k -p 10% --seed 1 {name} {input}"), "1").output().expect("it runs");
        assert!(folder.path().join(name).exists(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    folder
}

/// Command lines with different records and keys; each has the filter that contains about half of
/// these keys.
const INPUTS: [(&str, &str); 15] = [
    ("half.tbl", "lines.txt"),
    ("half.tbl", "half.txt lines.gz"),
    ("half.tbl", "lines.txt missing.txt broken.gz empty.txt half.txt"),
    ("half.tbl", "long.txt --max-record 1000"),
    ("half.tbl", "long.txt blank.txt"),
    ("half.tbl", "--crlf crlf.txt"),
    ("half.tbl", "-0 null.txt"),
    ("half.tbl", "--fixed 13 lines.txt half.txt"),
    ("half.tbl", "-f 2 lines.txt --max-record 500"),
    ("half.tbl", "-f 1,3 lines.txt half.txt"),
    ("json.tbl", "--json-field .user.name lines.json"),
    ("csv.tbl", "--csv --column name lines.csv"),
    ("csv.tbl", "--csv --column name lines.csv turned.csv half.csv"),
    ("csv.tbl", "--csv --column name torn.csv lines.csv torn.csv --max-record 200"),
    ("csv.tbl", "--csv --column name seams.csv"),
];

#[test]
fn output_is_the_same() {
    let folder = folder();
    let path = folder.path();
    for (filter, input) in INPUTS {
        let known = run(path, &format!("check {filter} {input}")).out.len();
        let new = run(path, &format!("check -v {filter} {input}")).out.len();
        assert!(known > 10_000 && new > 10_000, "{input}: {known} bytes known, {new} new: not much of a test");
        run(path, &format!("check --only-key {filter} {input}"));
        run(path, &format!("check --json {filter} {input}"));
        run(path, &format!("check -qv {filter} {input}"));
        let first = run(path, &format!("dedup --seed 1 -n 8k -p 1% --json {}", input.replace("-d", "--delimiter"))).out.len();
        assert!(first > 10_000, "{input}: only {first} bytes are new");
        run(path, &format!("dedup --seed 1 -n 100k -p 1% -d --only-key {input}"));
    }
    run(path, "check half.tbl --hex hex.txt");
    // No line has such a member. Five of them are reported individually, and the others are
    // counted.
    let json = std::fs::read_to_string(path.join("lines.json")).expect("a file");
    let more = json.lines().filter(|line| !line.trim().is_empty()).count() - 5;
    let told = format!("lines.json: {},{:03} more skipped\n", more / 1000, more % 1000);
    assert!(run(path, "check half.tbl --json-field .nothing lines.json").err.ends_with(&told), "not {told}");
    run(path, "dedup --seed 1 -n 8k --remember 3k -p 1% lines.txt");
}

#[test]
fn filters_are_the_same() {
    let folder = folder();
    let path = folder.path();
    for (_, input) in INPUTS {
        let made = run(path, &format!("create -n 40k -p 1% --seed 1 out.tbl {input}"));
        assert!(made.file.is_some(), "{input}: {}", made.err);
    }
    for (input, layout) in [("lines.txt", "--layout blocked"), ("--hex hex.txt", "--untrusted"), ("half.txt", "--scheme double --mean")] {
        assert!(run(path, &format!("create -n 40k -p 1% --seed 1 {layout} out.tbl {input}")).file.is_some());
    }
    // The records are counted first.
    assert!(run(path, "create -p 1% --seed 1 out.tbl lines.txt half.txt").file.is_some());
    assert!(run(path, "insert -f 2 lines.txt --json").file.is_some());
    // The record that exceeds the planned number is the same one.
    for arguments in ["create --strict -n 15k -p 1% --seed 1 out.tbl lines.txt", "insert --strict lines.txt"] {
        let refused = run(path, arguments);
        assert!(refused.err.contains("nothing was written"), "{arguments}: {}", refused.err);
    }
}

/// The reader of the output stops early, or the input pauses for a while.
#[test]
fn streams_are_not_held_up() {
    let folder = folder();
    let script = r#"
        "$TRUEBLOOM" check -j 3 half.tbl lines.txt | head -2 | cmp - <("$TRUEBLOOM" check half.tbl lines.txt | head -2) || echo "head: $?"
        mkfifo pipe; exec 3<> pipe; "$TRUEBLOOM" dedup -j 3 -n 100k -p 1e-6 pipe > held &
        (cat half.txt; echo; echo last) >&3
        until [ "$(tail -1 held)" = last ]; do sleep 0.1; done
        kill -TERM $!; wait $!; echo "$? after $(tail -1 held)"
        yes "$(head -1 half.txt)" | "$TRUEBLOOM" check -q -j 3 half.tbl || echo "-q: $?"
        "$TRUEBLOOM" check -v -j 3 half.tbl pipe > interrupted &
        (head -c 300000 half.txt; echo; echo final) >&3
        until [ "$(tail -1 interrupted)" = final ]; do sleep 0.1; done
        kill -TERM $!; wait $!; echo "$? after $(tail -1 interrupted)""#;
    // A command that hangs is ended after five minutes. Nothing else depends on time.
    let mut command = Command::new("timeout");
    command.args(["-k", "5", "300", "bash", "-c", script]).current_dir(folder.path()).env("TRUEBLOOM", env!("CARGO_BIN_EXE_truebloom"));
    let output = command.output();
    let output = output.expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "143 after last\n143 after final\n", "{}", String::from_utf8_lossy(&output.stderr));
}

/// A block contains malformed records between valid ones; all valid records are printed unchanged.
#[test]
fn records_beside_broken_ones_are_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let lines = |from: u32| (from..from + 10_000).map(|i| format!("{i},name{i}\n")).collect::<String>();
    // A record can have any number of fields, but in the next record, the quote is never closed.
    let open = format!("id,name\n{}{}\n\"open,line\n{}", lines(0), ",".repeat(70_000), lines(10_000));
    for (text, arguments) in [(&open[..], "--column name"), (",\n2345x,\n", "--column 2 --no-header --max-record 5")] {
        std::fs::write(path.join("in.csv"), text).expect("a file");
        let printed = run(path, &format!("dedup --seed 1 -n 1M -p 1e-9 --csv {arguments} in.csv"));
        assert!(printed.code == Some(2) && printed.err.lines().count() == 1, "{}", printed.err);
        assert!(printed.out == text.as_bytes(), "{arguments}: other text");
    }
}

#[test]
fn numbers_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lines.txt"), "a\nb\na\n").expect("a file");
    for threads in ["0", "1", "256"] {
        let output = truebloom(folder.path(), "dedup -n 1k -p 1e-9 lines.txt", threads).output().expect("it runs");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"a\nb\n"[..]), "{threads}");
    }
    for threads in ["257", "many", "-1", ""] {
        let output = truebloom(folder.path(), "dedup lines.txt", threads).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{threads:?}");
    }
}
