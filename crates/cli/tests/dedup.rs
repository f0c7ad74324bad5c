//! Compares `dedup` with exact de-duplication, and interrupts it by signals at random moments.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use truebloom::{FileError, RecyclingFilter};

fn dedup(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truebloom"));
    command.arg("dedup").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = dedup(arguments).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("it ends")
    })
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stderr).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn words() -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/american-english.gz");
    let mut text = Vec::new();
    let file = std::fs::File::open(path).expect("the words");
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut text).expect("the words");
    text.split(|byte| *byte == b'\n').filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Returns real text with 40,000 lines, most of which are repeats. Each line is a pair of words,
/// and words from the beginning are more frequent.
fn text() -> Vec<Vec<u8>> {
    let words = words();
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    (0..40_000).map(|_| words[((next() * next() * next()) * words.len() as f64) as usize].clone()).collect()
}

fn joined<'a>(lines: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    lines.into_iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
}

/// As long as nothing is forgotten, a first occurrence is missing from the output only if it was
/// wrongly dropped. Exact de-duplication shows how many were dropped: over 30 seeds, the number
/// agrees with the expected number, and in no run does it exceed the reported bound. A correct
/// program fails with a small probability: 1e-6 for each of the 30 bounds, and that of six standard
/// deviations for the sum. All other lines must be printed in order. Both layouts are tested.
#[test]
fn wrong_drops_are_as_many_as_reported() {
    let lines = text();
    let input = joined(&lines);
    let firsts = {
        let mut seen = HashSet::new();
        lines.iter().filter(|line| seen.insert(*line)).collect::<Vec<_>>()
    };
    ["standard", "blocked"].into_iter().for_each(|layout| loses_as_reported(layout, &firsts, &input));
}

fn loses_as_reported(layout: &str, firsts: &[&Vec<u8>], input: &[u8]) {
    let (mut lost, mut expected) = (0.0, 0.0);
    for seed in 1..=30 {
        let output = run(&["-n", "30000", "-p", "5%", "--layout", layout, "--seed", &format!("{seed:x}"), "--json"], input);
        let report = json(&output);
        assert_eq!((&report["cycles"], &report["layout"]), (&0.into(), &layout.into()));
        let mut kept = output.stdout.split(|byte| *byte == b'\n');
        let mut next = kept.next();
        let missing = firsts
            .iter()
            .filter(|line| {
                if next == Some(line.as_slice()) {
                    next = kept.next();
                    false
                } else {
                    true
                }
            })
            .count();
        assert_eq!(next, Some(&b""[..]), "a line that is no first occurrence, or out of order");
        let drops = &report["wrong_drops"];
        assert!(missing as f64 <= drops["at_most"].as_f64().expect("a bound"), "{missing} {drops}");
        assert_eq!(report["kept"].as_u64().expect("a count") as usize, firsts.len() - missing);
        lost += missing as f64;
        expected += drops["expected"].as_f64().expect("a number");
    }
    assert!(expected > 500.0, "{layout}: the test has no power: {expected}");
    assert!((lost - expected).abs() < 6.0 * expected.sqrt(), "{layout}: {lost} lost, {expected} expected");
}

/// Offers only new lines over many cycles, so that the number of lost lines is known exactly. The
/// number of lost lines must agree with the report (within six standard deviations) and with the
/// average rate of the design. For a blocked design, the rate is compared with the ends of its
/// bracket.
#[test]
fn the_average_rate_is_that_of_the_design() {
    let input: Vec<u8> = (0..400_000).flat_map(|i| format!("{i}\n").into_bytes()).collect();
    // The filter has room for this number of lines. A cycle can have a few more lines, most of all
    // with blocks.
    for phases in [&["-n", "1000"][..], &["--remember", "1000"], &["-n", "900", "--layout", "blocked"]] {
        let report = json(&run(&[phases, &["-p", "1%", "--seed", "1", "--json"]].concat(), &input));
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let lost = 400_000.0 - number(&report["kept"]);
        let drops = &report["wrong_drops"];
        let expected = number(&drops["expected"]);
        assert!((lost - expected).abs() < 6.0 * expected.sqrt() && lost <= number(&drops["at_most"]), "{lost} {drops}");
        let (least, most) = (number(&report["design_fpr"]["lower"]), number(&report["design_fpr"]["upper"]));
        let deviation = (most / 400_000.0).sqrt();
        let rate = lost / 400_000.0;
        assert!(least - 6.0 * deviation < rate && rate < most + 6.0 * deviation, "{phases:?}: {rate} {least} {most}");
        assert!(most <= 0.01 * (1.0 + 1e-9), "{phases:?}: {most}");
        assert!(number(&report["cycles"]) > 300.0);
    }
}

/// A repeat within the requested number of lines is dropped; a later repeat is printed again.
#[test]
fn a_span_of_lines_is_remembered() {
    let numbers = |range: std::ops::Range<u32>| range.flat_map(|i| format!("{i}\n").into_bytes()).collect::<Vec<u8>>();
    let count = |input: &[u8]| {
        String::from_utf8_lossy(&run(&["--remember", "2000", "-p", "1e-9", "-dc", "--seed", "1"], input).stdout)
            .trim()
            .parse::<u32>()
            .expect("a count")
    };
    let within = [numbers(0..50_000), numbers(48_000..50_000)].concat();
    assert_eq!(count(&within), 2_000);
    let beyond = [numbers(0..50_000), numbers(0..40_000)].concat();
    assert_eq!(count(&beyond), 0);
}

/// A stream that is chosen without knowing the seed, in periods as long as a phase has items: first
/// 2% new lines, then 88% lines from a fixed hot set, which are refreshed, and then 10% new lines,
/// which find the active phase nearly full. With two phases that were planned for the average rate
/// of new lines, 1.4% of the new lines were lost when 1% was requested. For a filter that meets a
/// rate of 1% for each line, the loss exceeds the mean by more than six standard deviations with a
/// probability below 1e-8. The seed is fixed. A loss of 1.4% would be more than eight standard
/// deviations above the mean.
#[test]
fn two_phases_keep_their_rate_on_every_stream() {
    let (mut input, mut fresh) = (String::new(), 0u64);
    for _ in 0..120 {
        for (what, count) in [("new", 42), ("hot", 1_855), ("new", 211)] {
            let first = if what == "new" { fresh } else { 0 };
            (first..first + count).for_each(|line| input.push_str(&format!("{what} {line}\n")));
            fresh += if what == "new" { count } else { 0 };
        }
    }
    let output = run(&["--remember", "2000", "-p", "1%", "--seed", "1", "--json"], input.as_bytes());
    let printed = output.stdout.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"new")).count() as u64;
    let (lost, report) = ((fresh - printed) as f64, json(&output));
    let most = 0.01 * fresh as f64;
    assert!(lost <= most + 6.0 * most.sqrt(), "{lost} of {fresh} lost");
    assert!(lost > 0.0 && lost <= report["wrong_drops"]["at_most"].as_f64().expect("a bound"), "{report}");
    assert!(report["promised_fpr"]["upper"].as_f64().is_some_and(|rate| rate <= 0.01), "{report}");
}

/// With --second, every line occurs twice in close succession and then never again. The share of
/// lines that are printed at their first occurrence or never is at most the requested rate. If
/// every look-up had the requested rate, nearly twice as many lines would be wrong. With one phase,
/// the stream has only such pairs; with two phases, a second stream also has a hot set, which is
/// refreshed and fills the phase. The seeds are fixed; a sum exceeds its mean by more than six
/// standard deviations with a probability below 1e-8.
#[test]
fn second_occurrences_keep_the_rate() {
    let pairs = |first: u32, count: u32| (first..first + count).map(|line| format!("new {line}:1\nnew {line}:2\n")).collect::<String>();
    let hot = || (0..150).map(|line| format!("hot {line}:0\n")).collect::<String>();
    let beside = |round: u32| pairs(20 * round, 20) + &hot() + &pairs(100_000 + 20 * round, 20);
    let streams =
        [("-n", "300", pairs(0, 20_000)), ("--remember", "200", pairs(0, 20_000)), ("--remember", "200", (0..500).map(beside).collect())];
    for (option, lines, input) in streams {
        let arguments = ["--second", "--delimiter", ":", "-f", "1", option, lines, "-p", "10%", "--seed", "1", "--json"];
        let output = run(&arguments, input.as_bytes());
        let printed: HashSet<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        let is_printed = |line: &str, nth: u32| printed.contains(format!("{}:{nth}", &line[..line.len() - 2]).as_bytes());
        let new: Vec<&str> = input.lines().filter(|line| line.starts_with("new") && line.ends_with('1')).collect();
        let wrong = new.iter().filter(|line| is_printed(line, 1) || !is_printed(line, 2)).count() as f64;
        let most = 0.1 * new.len() as f64;
        assert!(wrong <= most + 6.0 * most.sqrt(), "{option}: {wrong} of {} are wrong", new.len());
        assert!(wrong > 0.3 * most, "{option}: the test has no power: {wrong} of {} are wrong", new.len());
        let report = json(&output);
        assert!(report["promised_fpr"]["upper"].as_f64().is_some_and(|rate| 0.09 < rate && rate <= 0.1), "{report}");
        let drops = &report["wrong_drops"];
        let (expected, at_most) = (drops["expected"].as_f64().expect("a mean"), drops["at_most"].as_f64().expect("a bound"));
        assert!(wrong <= at_most && wrong <= expected + 6.0 * expected.sqrt(), "{wrong} {drops}");
        assert_eq!((&report["lines_in_all"], &report["lines"]), (&input.lines().count().into(), &input.lines().count().into()));
    }
}

fn open(state: &Path) -> Result<RecyclingFilter, FileError> {
    RecyclingFilter::open(state)
}

/// A running process whose output is read line by line.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(arguments: &[&str]) -> Running {
        let mut child = dedup(arguments).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Running { child, lines }
    }

    fn write(&mut self, text: &str) {
        self.child.stdin.as_mut().expect("piped").write_all(text.as_bytes()).expect("it reads");
    }

    fn next(&mut self) -> String {
        self.lines.next().expect("a line").expect("readable")
    }

    fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
    }
}

/// Waits until a condition holds. The test does not depend on how long this takes, but after five
/// minutes it fails.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(300), "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn lines_come_at_once_and_a_signal_loses_none() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("s.tbl");
        let mut running = Running::start(&["--memory", "4KiB", "--checkpoint", "1h", "--state", state.to_str().expect("UTF-8")]);
        running.write("a\nb\na\nc");
        // The output must be flushed although the pipe is open, because there is nothing to read.
        assert_eq!((running.next(), running.next()), ("a".to_owned(), "b".to_owned()));
        // The pipe stays open. At the end of the input, half a line would count as a whole line.
        let stdin = running.child.stdin.take();
        running.signal(signal);
        let status = running.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code));
        drop(stdin);
        assert!(running.lines.next().is_none(), "half a line is none");
        let filter = open(&state).expect("a state");
        assert_eq!((filter.stats().offered, filter.stats().new), (3, 2));
    }
}

#[test]
fn a_checkpoint_needs_no_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("s.tbl");
    let mut running = Running::start(&["--memory", "4KiB", "--checkpoint", "5ms", "--state", state.to_str().expect("UTF-8")]);
    running.write("a\nb\n");
    until("the checkpoint", || open(&state).is_ok_and(|filter| filter.stats().offered == 2));
    running.signal("-KILL");
    running.child.wait().expect("it ends");
}

/// Kills processes at random moments (with a fixed seed), also while they save. The state file is
/// always complete. The file contains a prefix of the lines, all of which were printed. A producer
/// that continues after this prefix loses no line. At most one unfinished file is left. One of
/// three processes is killed soon after its start, and the others some time after they have saved.
/// In this way, the test is equally strict on slow and on fast machines. Set `DEDUP_KILLS=100` to
/// run the full test.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let kills: u64 = std::env::var("DEDUP_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let mut moments = 5u64;
    (0..kills.div_ceil(10)).for_each(|_| ten_kills(&mut moments));
}

/// Starts ten processes one after the other with the same state, and kills each.
fn ten_kills(moments: &mut u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("s.tbl");
    let (mut printed, mut known) = (HashSet::new(), 0);
    for kill in 0..10 {
        *moments = moments.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_micros(200 + (*moments >> 40) % 100_000);
        let saves = kill % 3 != 0;
        printed.extend(printed_until_killed(&state, known, saves, moment));
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry").file_name()).collect();
        assert!(left.len() <= 2, "{left:?}");
        if !state.exists() {
            assert_eq!(known, 0, "a state that was there is gone");
            continue;
        }
        let filter = open(&state).unwrap_or_else(|error| panic!("after kill {kill}: {error}"));
        let stats = filter.stats();
        assert_eq!(stats.offered, stats.new, "all lines differ, and the rate is far too small for a wrong drop");
        assert!(stats.offered >= known && (!saves || stats.offered > known), "what was saved is gone");
        known = stats.offered;
        let missing = (0..known).find(|i| !printed.contains(format!("line {i}").as_bytes()));
        assert_eq!(missing, None, "known, but nobody received it");
        assert!(stats.cycles > 0 || (0..known).all(|i| filter.contains(format!("line {i}").as_bytes())), "no prefix");
    }
}

/// Returns the complete lines that a process prints before it is killed. The process reads numbered
/// lines, the first of which has the number `first`. The process is killed after the time `moment`,
/// which begins at its start or, if `saves` is set, after it has saved something.
fn printed_until_killed(state: &Path, first: u64, saves: bool, moment: Duration) -> Vec<Vec<u8>> {
    let name = state.to_str().expect("UTF-8");
    let mut child = dedup(&["--memory", "1MiB", "-p", "1e-12", "--checkpoint", "1ms", "--state", name]).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut stdout = child.stdout.take().expect("piped");
    std::thread::scope(|scope| {
        scope.spawn(move || (first..).try_for_each(|i| writeln!(stdin, "line {i}")).is_err());
        let reader = scope.spawn(move || {
            let mut text = Vec::new();
            stdout.read_to_end(&mut text).expect("readable");
            text
        });
        if saves {
            until("a save", || open(state).is_ok_and(|filter| filter.stats().offered > first));
        }
        std::thread::sleep(moment);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let text = reader.join().expect("no panic");
        // The last line can be incomplete.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        text[..whole].split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    })
}

/// If a state was saved by a clock that was a day ahead, the current clock takes over and its lines
/// keep their age. Otherwise, nothing would be forgotten until the current clock has caught up.
#[test]
fn a_state_of_a_clock_that_was_ahead_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.tbl");
    let name = path.to_str().expect("text");
    let made = run(&["--state", name, "--remember", "30d", "--memory", "64KiB", "-p", "1%"], b"a\n");
    assert_eq!((made.status.code(), &made.stdout[..]), (Some(0), &b"a\n"[..]), "{}", String::from_utf8_lossy(&made.stderr));
    let mut ahead: RecyclingFilter = RecyclingFilter::open(&path).expect("a state");
    ahead.advance(ahead.now() + Duration::from_secs(10 * 86_400));
    ahead.save(&path).expect("saved");
    let next = run(&["--state", name], b"a\nb\n");
    let told = String::from_utf8_lossy(&next.stderr);
    assert_eq!((next.status.code(), &next.stdout[..]), (Some(0), &b"b\n"[..]), "{told}");
    let expected = "state.tbl: when this state was saved, the clock was about 10d ahead of the present time; the lines keep their age, and from now on the present clock decides when they are forgotten\n";
    assert!(told.ends_with(expected), "{told}");
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let opened: RecyclingFilter = RecyclingFilter::open(&path).expect("a state");
    assert!(opened.now() <= since);
    assert!(run(&["--state", name], b"a\nb\nc\n").stderr.is_empty());
}
