//! How commands treat files, whatever permissions, concurrent processes and closed outputs they
//! meet: they overwrite only files of this program, reveal no secret, and exit with the correct
//! code.
#![cfg(unix)]
#![allow(missing_docs, reason = "a test has no public interface")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a script in this folder, where `t` is the program. Returns what the script prints on
/// standard output and standard error.
fn shell_in(folder: &Path, script: &str) -> String {
    let script = format!("exec 2>&1\nT='{}'; t() {{ \"$T\" \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_truebloom"));
    // If a script hangs, it is ended with a message, so the tests do not hang.
    let output = Command::new("timeout")
        .args(["-k", "5", "240", "bash", "-c"])
        .arg(script)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_ne!(output.status.code(), Some(124), "it took more than four minutes: {told}");
    told
}

fn shell(script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    shell_in(folder.path(), script)
}

/// Asserts that all of these lines were printed, whatever else was printed.
#[track_caller]
fn assert_told(told: &str, lines: &[&str]) {
    for line in lines {
        assert!(told.lines().any(|found| found.contains(line)), "no `{line}` in:\n{told}");
    }
}

#[test]
fn a_new_state_overwrites_no_neighbour() {
    let told =
        shell("echo precious > v; ln -s v .truebloom-s; seq 9 | t dedup -n 100 -p 1% --state s | wc -l; cat v; readlink .truebloom-s");
    assert_eq!(told, "9\nprecious\nv\n");
    let told = shell("echo precious > .truebloom-s; seq 9 | t dedup -n 100 -p 1% --state s | wc -l; cat .truebloom-s");
    assert_eq!(told, "9\nprecious\n");
}

/// A process that is killed while it writes leaves one file, which is removed later. Files whose
/// names are only similar stay, and so does a file that a running process has locked.
#[test]
fn leftovers_of_killed_processes_are_removed_and_nothing_else() {
    let told = shell(
        "t create --empty -n 100 -p 1% F > /dev/null
        mkdir .truebloom-folderfolder.tmp; echo 1 > .truebloom-short.tmp; echo 2 > .truebloom-aaaaaaaaaaa_.tmp; echo 3 > v; ln -s v .truebloom-linklinklink.tmp
        : > .truebloom-leftleftleft.tmp; : > .truebloom-lockedlocked.tmp
        flock .truebloom-lockedlocked.tmp sh -c 'echo $$ > held; exec sleep 300' > /dev/null 2>&1 & until [ -s held ]; do sleep .01; done
        echo x | t insert F > /dev/null; kill $(cat held); ls -A | sort",
    );
    let expected = ".truebloom-aaaaaaaaaaa_.tmp .truebloom-folderfolder.tmp .truebloom-linklinklink.tmp .truebloom-lockedlocked.tmp .truebloom-short.tmp F held v";
    let mut found: Vec<&str> = told.lines().collect();
    found.sort_unstable();
    assert_eq!(found.join(" "), expected);
}

/// The file is replaced or removed while `insert` reads its lines. `insert` examines the file
/// before it opens its inputs, and bash continues once the inputs are open.
#[test]
fn an_insert_into_a_file_that_was_replaced_is_refused() {
    for (verb, between, left) in [
        ("insert F", "rm F; t create --empty -n 100 -p 1% --seed 2 F; echo B | t insert F", "B\n"),
        ("insert F", "rm F; t create --empty -n 100 -p 1% --seed 2 N; mv N F", ""),
        ("create --force -n 100 -p 1% F", "rm F; t create --empty -n 100 -p 1% --seed 2 F; echo B | t insert F", "B\n"),
    ] {
        let told = shell(&format!(
            "t create --empty -n 100 -p 1% --seed 1 F > /dev/null; mkfifo lines; t {verb} lines > told 2>&1 & exec 3> lines
            {{ {between}; }} > /dev/null; echo A >&3; exec 3>&-; wait %1; echo \"exit $?\"; cat told; (echo A; echo B) | t check F"
        ));
        assert!(
            told.starts_with("exit 2\n")
                && told.contains("F was removed or replaced by another program in the meantime; nothing was written"),
            "{told}"
        );
        assert!(told.ends_with(&format!("run the command again\n{left}")), "{told}");
    }
    let told = shell(
        "mkfifo lines; t create -n 100 -p 1% --force F lines > told 2>&1 & exec 3> lines; echo other > F; echo A >&3; exec 3>&-; wait %1; echo \"exit $?\"; cat told F",
    );
    assert!(told.starts_with("exit 2\n") && told.ends_with("other\n"), "a file that appeared is not overwritten: {told}");
}

#[test]
fn a_closed_output_is_an_error_and_the_state_knows_only_what_was_printed() {
    let told = shell("seq 5 | t dedup -n 100 -p 1% --state s >&-; echo \"exit $?\"; seq 5 | t dedup --state s | wc -l");
    assert!(told.ends_with("exit 2\n5\n") && told.contains("cannot write the output: it is closed"), "{told}");
    let prepared = "seq 5 > five; t create -n 100 -p 1% --seed 1 F five > /dev/null; ";
    for verb in [
        "check F five",
        "check -c F five",
        "--help",
        "--version",
        "help check",
        "info F",
        "fpr -m 9 -n 1 -k 1",
        "man",
        "dedup five",
        "count five",
        "completions bash",
    ] {
        for to in [">&-", "> /dev/full"] {
            let told = shell(&format!("{prepared} t {verb} {to}; echo \"exit $?\""));
            assert!(told.ends_with("exit 2\n") && told.contains("cannot write the output"), "{verb} {to}: {told}");
        }
    }
    assert_eq!(shell(&format!("{prepared} t check -q F five >&-; echo \"exit $?\"")), "exit 0\n", "it prints nothing");
    assert_eq!(shell(&format!("{prepared} t check F five > /dev/null; echo \"exit $?\"")), "exit 0\n");
    let told = shell(&format!("{prepared} t check F <&-; echo \"exit $?\""));
    assert!(told.ends_with("exit 2\n") && told.contains("standard input: it is closed"), "{told}");
}

#[test]
fn a_full_output_after_a_file_was_written_says_so() {
    let prepared = "seq 5 > five; t create -n 100 -p 1% --seed 1 F five > /dev/null; t count -o S five > /dev/null; t count -o S2 --seed 3 five > /dev/null; cp S2 S3; ";
    for (verb, file) in [
        ("create -n 9 -p 1% N five", "N"),
        ("insert F five", "F"),
        ("clear F", "F"),
        ("copy F N", "N"),
        ("merge N F F", "N"),
        ("count -o N five", "N"),
        ("count merge N S2 S3", "N"),
    ] {
        let told = shell(&format!("{prepared} t {verb} > /dev/full; echo \"exit $?\"; t doctor {file} > /dev/null; echo \"whole $?\""));
        assert_told(&told, &[&format!("; {file} was written anyway"), "exit 2", "whole 0"]);
    }
}

#[test]
fn signals_and_limits_leave_no_temporary_file_of_any_verb() {
    let told = shell(
        "seq 1000 > in; for n in 1 2; do t count -o s$n --seed 5 --memory 32MiB in > /dev/null 2>&1; done
        for run in $(seq 12); do
            $T count merge --force merged s1 s2 > /dev/null 2>&1 & sleep 0.$(printf %03d $((run * 7))); kill -$( ((run % 2)) && echo INT || echo TERM) $! 2> /dev/null; wait $! 2> /dev/null
            $T dedup --memory 32MiB --state new$run in > /dev/null 2>&1 & sleep 0.$(printf %03d $((run * 7))); kill -TERM $! 2> /dev/null; wait $! 2> /dev/null
            ls -A | grep truebloom-
        done
        (ulimit -f 100; t count merge M s1 s2; echo \"merge $?\"; seq 9 | t dedup --memory 32MiB --state S; echo \"dedup $?\"); ls -A | grep -e truebloom- -e '^[MS]$'",
    );
    let wanted: Vec<&str> = told.lines().filter(|line| !line.contains("Terminated") && !line.contains("Interrupt")).collect();
    assert_eq!(wanted.len(), 4, "{told}");
    assert_told(&told, &["cannot write M: File too large", "merge 2", "cannot write S: File too large", "dedup 2"]);
}

/// Examines a private file and its replacement repeatedly, until the temporary file has been seen.
#[test]
fn a_private_file_is_private_while_it_is_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    shell_in(folder.path(), "umask 022; t create --empty -m 64MiB -n 1M --untrusted F > /dev/null; chmod 600 F");
    let (mut seen, mut open) = (0, Vec::new());
    let began = std::time::Instant::now();
    while seen < 3 {
        assert!(began.elapsed().as_secs() < 300, "the temporary file is never seen: the test has no power");
        let mut child = Command::new(env!("CARGO_BIN_EXE_truebloom"))
            .args(["clear", "F"])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        while child.try_wait().expect("it can be waited for").is_none() {
            for entry in fs::read_dir(&folder).expect("the folder").flatten() {
                // The temporary file can already be gone.
                let Ok(metadata) = entry.metadata() else { continue };
                if entry.file_name() != "F" {
                    seen += 1;
                    open.extend(Some(metadata.mode() & 0o777).filter(|mode| mode & 0o077 != 0));
                }
            }
        }
    }
    assert_eq!(open, [], "modes of the temporary file");
    assert_eq!(fs::metadata(folder.path().join("F")).expect("the filter").mode() & 0o777, 0o600);
}

#[test]
fn owner_group_mode_and_links_are_kept_or_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("F");
    shell_in(folder.path(), "t create --empty -n 100 -p 1% F > /dev/null; ln F G");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("ours");
    // Only root can give a file to another user. For other users, this has no effect.
    let given = std::os::unix::fs::chown(&file, Some(1234), Some(5678)).is_ok();
    let told = shell_in(folder.path(), "seq 3 | t insert F");
    assert_told(&told, &["F was written, but another name of the old file (a hard link) still has the old contents"]);
    let data = fs::metadata(&file).expect("the filter");
    assert_eq!(data.mode() & 0o777, 0o640);
    if given {
        assert_eq!((data.uid(), data.gid()), (1234, 5678));
    }
    let told = shell_in(
        folder.path(),
        "chmod 444 F; cp F before; seq 3 | t insert F; echo \"exit $?\"; t create --empty --force -n 9 -p 1% F; echo \"exit $?\"; t dedup --state F < /dev/null; echo \"exit $?\"; cmp F before",
    );
    assert_eq!(told.matches("F is write-protected; `chmod u+w` it first, or choose another name\nexit 2\n").count(), 3, "{told}");
}

#[test]
fn pipes_and_links_that_lead_nowhere_are_refused_at_once() {
    let verbs = [
        "insert F five",
        "clear F",
        "info F",
        "doctor F",
        "verify F",
        "check F five",
        "compare F F",
        "copy F N",
        "merge N F F",
        "count show F",
        "count query F 1",
        "dedup --state F five",
    ];
    for verb in verbs {
        let told = shell(&format!("seq 5 > five; mkfifo F; timeout 200 $T {verb}; echo \"exit $?\""));
        assert!(told.ends_with("exit 2\n") && told.contains("not a regular file"), "{verb}: {told}");
    }
    for verb in ["dedup -n 9 -p 1% --state F five", "create -n 9 -p 1% --force F five", "count --force -o F five"] {
        let told = shell(&format!("seq 5 > five; ln -s nowhere F; t {verb}; echo \"exit $?\"; readlink F"));
        assert!(
            told.ends_with("exit 2\nnowhere\n") && told.contains("F is a symbolic link to a file that does not exist"),
            "{verb}: {told}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_of_another_process_is_told_with_its_number() {
    let told = shell(
        "seq 9 | t dedup -n 100 -p 1% --state s > /dev/null; flock s sh -c 'echo $$ > held; exec sleep 300' > /dev/null 2>&1 & until [ -s held ]; do sleep .01; done
        flock -n s true || seq 3 | t dedup --state s; echo \"exit $?\"; pid=$(cat /proc/locks | awk '/FLOCK/ { print $5 }' | tr '\\n' ' '); kill $(cat held); echo \"pids $pid\"",
    );
    let process = told.split("(process ").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default().to_owned();
    assert_told(
        &told,
        &["s: another process keeps its state in this file; wait until it has finished, then try again (process ", "exit 2"],
    );
    let pids = told.lines().find_map(|line| line.strip_prefix("pids ")).expect("the locks");
    assert!(pids.split(' ').any(|pid| pid == process), "{told}");
}

/// The commands that `doctor` suggests work in a shell and have no other effect, even with unusual
/// file names. They never write to a file that exists, such as the file that they read.
#[test]
fn the_shell_takes_remedies_as_they_are_meant() {
    let told = shell(
        r#"export PATH="$(dirname "$T"):$PATH"
        follow() { sh -c "$(t doctor -- "./$name" | sed -n 's/^do *//p')" > /dev/null 2>&1; }
        damage() { printf X | dd "of=./$name" bs=1 seek=24 conv=notrunc status=none; }
        for name in 'x;touch pwned;.tbl' "it's.tbl" '-rf' '$(touch pwned).tbl' 'plain.tbl' $'e\e%s\\.tbl' $'n\xff.tbl' $'l\nine.tbl' healed.tbl; do
            t create --empty -n 100 -p 1% --seed 1 -- "./$name" > /dev/null; cp -- "./$name" whole
            damage; follow; cmp -- "./$name" whole && echo byte
            echo junk >> "./$name"; follow; for healed in healed*.tbl; do cmp -s "$healed" whole && echo end; done
            rm -f healed-2.tbl; [ "$name" = healed.tbl ] || rm healed.tbl
            damage; follow; follow; for healed in healed*.tbl; do cmp -s "$healed" whole && echo both; done
            head -c 260 whole > "./$name"; damage; sh -n -c "$(t doctor -- "./$name" | sed -n 's/^do *//p')" && echo cut
            rm -f healed*.tbl
        done; [ -e pwned ] && echo pwned; ls"#,
    );
    let names = "$(touch pwned).tbl\n-rf\ne\u{1b}%s\\.tbl\nit's.tbl\nl\nine.tbl\nn\u{fffd}.tbl\nplain.tbl\nwhole\nx;touch pwned;.tbl\n";
    assert_eq!(told, "byte\nend\nboth\ncut\n".repeat(9) + names);
}

/// The command that `doctor` prints for a damaged filter makes the same file from the same data,
/// whatever options made the damaged one.
#[test]
fn a_damaged_filter_can_be_rebuilt_as_doctor_says() {
    let told = shell(
        r#"export PATH="$(dirname "$T"):$PATH"; printf "a,it's\n" > DATA; seq 1000 | sed 's/$/,x&/' >> DATA
        for options in '-n 2k -p 1%' '-n 2k -p 1e-4 --layout blocked' '-n 2k -m 40k' '-n 2k -p 1/3 --scheme double --mean' '-p 0.1% --grow' '-p 1% --grow=64' '-n 2k -p 1% --untrusted' '-n 2k -p 1% -k 5' '-n 2k -m 40k -k 3' '-n 2k -p 1% -m 64k' '-n 2k -p 1% --confidence 50%' '-n 2k -p 1% -m 40k -k 9 --mean'; do
            for keys in '--lines' "--column it's" '-f 2 -d ,' '-f 2 -d , --crlf' '-f 1 -d -'; do
                rm -f f.tbl; t create $options $keys f.tbl DATA > /dev/null; cp f.tbl whole; head -c 300 whole > f.tbl
                command=$(t doctor f.tbl | sed -n 's/^ *or build the filter again from its data: //p'); t info f.tbl > /dev/null 2>&1 && echo intact
                sh -c "$command" > /dev/null || echo "failed: $command"
                t check -c f.tbl DATA
                # The seed of a filter for untrusted keys is secret, so the command does not give it.
                [[ $options = *untrusted* ]] || cmp f.tbl whole
            done
        done | sort | uniq -c"#,
    );
    assert_eq!(told.split_whitespace().collect::<Vec<_>>(), ["12", "1000", "48", "1001"], "{told}");
}

/// A memory limit causes an error, and not the end of the process by a signal. The limits range
/// from slightly less than the program needs to start to the amount with which a subcommand
/// succeeds. These limits depend on the build and the system, so the test determines them.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_exit_code_2() {
    let told = shell(
        r#"seq 20000 > in; seq 20000 | t create -n 20k -p 1% --seed 1 F > /dev/null
        # With backtraces the runtime would want memory just where there is none, and wait for ever.
        run() { (ulimit -v $1; shift; RUST_BACKTRACE=1 exec timeout 100 $T "$@") > /dev/null 2> said; }
        least() { # the least limit, to 20 KiB, from $1 to $2 with which the rest ends with one of these codes
            local low=$1 high=$2 codes=$3 middle; shift 3
            until [ $((high - low)) -le 20 ]; do middle=$(((low + high) / 2)); run $middle "$@"; case " $codes " in *" $? "*) high=$middle;; *) low=$middle;; esac; done
            echo $high
        }
        # Below it the system may say in its own words that it cannot.
        begins=$(least 1000 100000 '0 2' --version 2> /dev/null) tried=0
        for verb in 'check -c F in' 'dedup --memory 1MiB in' 'count in' 'info F'; do
            enough=$(least $begins 400000 0 $verb)
            closely=$((enough - 300 < begins ? begins : enough - 300))
            for limit in $(seq $begins $(((enough - begins) / 16 + 1)) $enough) $(seq $closely 20 $enough); do
                run $limit $verb; code=$?; tried=$((tried + (code == 2)))
                # The runtime's own words have no name before them.
                if grep -q '^memory allocation' said; then grep -q '^truebloom: there is not enough memory' said || echo "$limit $verb: unexplained"; fi
                [ $code = 0 ] || [ $code = 2 ] || echo "$limit $verb: exit $code"
            done
        done
        [ $tried -gt 30 ] || echo "no power: $tried errors"
        (ulimit -v $((begins + 45000)); seq 5000000 | t create -p 1e-13 --grow=500k x.tbl; echo "exit $?"); ls x.tbl 2> /dev/null"#,
    );
    assert!(told.starts_with("truebloom: the filter cannot grow beyond ") && told.ends_with("; nothing was written\nexit 2\n"), "{told}");
    assert_eq!(told.lines().count(), 2, "{told}");
}

/// Every query gets one answer, in order, whatever it requests; and no query takes more memory than
/// it may.
#[cfg(target_os = "linux")]
#[test]
fn a_query_that_asks_too_much_ends_no_other() {
    let told = shell(
        r#"q='{"fn":"fpr","variant":"standard","bits":1000,"items":10,"probes":3}'
        { echo "$q"; head -c 20000000 /dev/zero | tr '\0' '['; echo; echo "$q"; echo '{"fn":"occupancy","law":"union","bits":100000000,"committees":[[50000000,2]],"pmf":true}'; echo "$q"
          head -c 5000000 /dev/zero; } | (ulimit -v 400000; exec "$T" eval 2> /dev/null) > out; echo "exit $?"; cut -c1-40 out"#,
    );
    let expected = [
        "exit 2",
        r#"{"value":"#,
        r#"{"error":"the query is longer than 4 MiB"#,
        r#"{"value":"#,
        r#"{"error":"field `pmf` needs an answer of"#,
        r#"{"value":"#,
        r#"{"error":"the query is longer than 4 MiB"#,
    ];
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines.len() == expected.len() && lines.iter().zip(expected).all(|(line, expected)| line.starts_with(expected)), "{told}");
}

/// A certificate overwrites a file only with --force, and then only another certificate.
#[test]
fn a_certificate_overwrites_no_file() {
    let told = shell(
        "echo precious > F; t plan -n 100 -p 1% --prove F > told; echo \"exit $?\"; t plan -n 100 -p 1% --prove F --force > told; echo \"exit $?\"; cat F
        t plan -n 99 -p 1% --prove N > told; t plan -n 100 -p 1% --prove N --force > /dev/null; echo \"exit $?\"; t plan -n 100 -p 1% --prove M > /dev/null; cmp N M && ls -A",
    );
    assert_eq!(
        told,
        "truebloom: F: the file exists already, but is not a certificate, and only certificates are replaced; choose another name, or remove the file if it is not needed\nexit 2\n\
         truebloom: F: this is not a certificate, and only certificates are replaced; choose another name, or remove the file if it is not needed\nexit 2\nprecious\nexit 0\nF\nM\nN\ntold\n"
    );
}

/// Only reports are recognized as reports: JSON Lines with a member `verb` may be other data, and
/// so may saved answers of this or another subcommand.
#[test]
fn a_report_replaces_nothing_but_a_report() {
    let told = shell(
        r#"printf '{"verb":"x","a":1}\n{"verb":"x","a":2}\n' > lines.jsonl; printf '{"verb":"dedup"}\n' > other.json; cp other.json input.json
        t create -n 10 -p 1% F lines.jsonl > /dev/null; t info --json F > info.json; t check --json F lines.jsonl > answers.json
        for report in lines.jsonl other.json info.json answers.json F; do cp $report before
          t dedup -c --report=$report input.json > said 2>&1; echo "$? $(grep -c 'this is not a report, and only reports are replaced' said)"; cmp $report before
        done
        : > empty.json; t check -c --report=empty.json F input.json; t dedup -c --report=empty.json input.json; t check -c --report=empty.json F input.json"#,
    );
    assert_eq!(told, format!("{}0\n1\n0\n", "2 1\n".repeat(5)));
}

/// A report must not replace an input, the state, a filter, an output, or a file that was created
/// in the meantime.
#[test]
fn a_report_is_no_other_file_of_its_run() {
    let told = shell(
        r#"seq 500 > w; t dedup -c --report=r.json w; t create -n 500 -p 1% F w > /dev/null; ln r.json hard; ln -s r.json soft; mkdir d
        for name in r.json hard soft d/../r.json; do t dedup -c --report=$name r.json; done
        for name in s ./s d/../s $PWD/s; do t dedup -q --state s --report=$name w; done; ls s
        t dedup --report=o w > o; t check --report=o F w > o; t check -c --report=e F w 2> e; cat e
        mkfifo lines; t dedup --report=late lines > printed & exec 3> lines; echo precious > late; echo A >&3; exec 3>&-; wait %1; echo "exit $?"; cat late printed"#,
    );
    let refused = |name: &str, why: &str| format!("truebloom: {name}: cannot write the report to this file: {why}; name another file\n");
    for name in ["r.json", "hard", "soft", "d/../r.json"] {
        assert!(told.contains(&refused(name, "it is read as an input (r.json)")), "{name}: {told}");
    }
    for name in ["s", "./s", "d/../s"] {
        assert!(told.contains(&refused(name, "this run also uses it under the name s")), "{name}: {told}");
    }
    assert_eq!(told.matches("this run also uses it under the name s;").count(), 4, "{told}");
    assert!(told.contains("'s': No such file") || told.contains("s: No such file"), "no state was begun: {told}");
    assert_eq!(told.matches(&refused("o", "the output is written to it")).count(), 2, "{told}");
    assert!(told.contains(&refused("e", "standard error is written to it")), "{told}");
    assert!(told.ends_with("late: another program created this file during this run, so it is not replaced, and the report is lost; name another file\nexit 2\nprecious\nA\n"), "{told}");
}

#[test]
fn a_report_that_is_lost_is_an_error() {
    let told = shell(
        "seq 5 > w; t create -n 5 -p 1% F w > /dev/null; for verb in 'dedup --report' 'dedup --json' 'check --report F'; do t $verb w 2> /dev/full > /dev/null; echo $?; done; t dedup -c w 2> /dev/full",
    );
    assert_eq!(told, "2\n2\n2\n5\n");
}

/// If the output were also an input, the program would read its own lines without end. Counts are
/// allowed, because they are printed after everything was read, and so is an output before the
/// position that is read next.
#[test]
fn an_output_that_is_read_is_refused() {
    let told = shell(
        r#"seq 500 > w; t create -n 500 -p 1% F w > /dev/null; cp w a; t() { timeout 20 "$T" "$@"; }
        t check F a >> a; t check F < a >> a; t check F w a >> a; t dedup -d a >> a; t dedup w /dev/stdin < a >> a; t count --every 10 a >> a; cmp w a
        t check -c F a >> a; t check -q F a >> a; tail -n +501 a
        cp w a; (read -r first; read -r second; t check -v F) < a 1<> a; cmp w a; t check F w > b; cmp w b"#,
    );
    let refused = |name: &str| {
        let why = "this input is also the output, so the command would endlessly read its own output; write to another file, and move it afterwards";
        format!("truebloom: {name}: {why}\n")
    };
    let expected = ["a", "standard input", "a", "a", "/dev/stdin", "a"].map(refused).concat();
    assert_eq!(told, expected + "500\n");
}

/// A batch of keys may add several layers to a small filter, and these layers may be much larger
/// than the filter was.
#[test]
fn a_small_filter_grows_by_many_layers_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = shell_in(
        folder.path(),
        "seq 5000 > w; t create -p 1% --grow=64 --seed 1 g w > /dev/null; t check -c g w
        printf 'x\\n' | t create -p 1% --grow=64 e - > /dev/null; t insert e w > /dev/null; t check -c e w",
    );
    assert_eq!(told, "5000\n5000\n");
}

/// A filter that grows keeps the memory limit. Without a limit, a new layer takes at most 64 times
/// the memory of all earlier layers, because the file may be forged.
#[test]
fn a_filter_grows_within_its_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let growth = truebloom_math::Growth::with_ratio("1%".parse().expect("a rate"), 64, 1e5).expect("a steep growth");
    let hasher = truebloom::PortableHasher::xxh3(truebloom::Seed::from(1));
    truebloom::ScalableFilter::with_growth(growth, hasher).expect("memory").save(folder.path().join("steep")).expect("saved");
    let told = shell_in(
        folder.path(),
        "cp steep before; seq 500 | t insert steep; cmp steep before; seq 500 | t insert --max-memory 1MiB steep; cmp steep before; seq 500 | t insert --max-memory 64MiB steep > /dev/null; seq 500 | t check -c steep
        seq 10000 | t create -p 1% --max-memory 20KiB g; ls g; seq 10000 | t create -p 1% --max-memory 64KiB g > /dev/null; cp g before; seq 99999 | t insert --max-memory 64KiB g; cmp g before; seq 10000 | t check -c g",
    );
    let lines: Vec<&str> = told.lines().collect();
    let [first, second, found, third, none, fourth, all] = lines[..] else { panic!("{told}") };
    assert!(
        first.contains("its next layer takes ")
            && first
                .contains(", more than 64 times all earlier layers together; if this is intended, give --max-memory; nothing was written"),
        "{told}"
    );
    assert!(second.contains("but --max-memory allows 1 MiB for all layers together; nothing was written"), "{told}");
    assert!(
        third.contains("but --max-memory allows 20 KiB for all layers together; nothing was written") && none.contains("No such file"),
        "{told}"
    );
    assert!(fourth.contains("but --max-memory allows 64 KiB for all layers together; nothing was written"), "{told}");
    assert_eq!((found, all), ("500", "10000"));
}

/// The program writes neither to the file of standard output nor to that of standard error, under
/// whatever name.
#[test]
fn a_file_that_a_stream_goes_to_is_not_replaced() {
    let told = shell(
        r#"seq 9 > w; t create -n 100 -p 1% a w > /dev/null; t create -n 100 -p 1% o w > /dev/null; cp o before
        refused() { "$@" 2> told >> o; echo "$? $(tail -n 1 told)"; cmp o before; }
        refused t create --force -n 50 -p 1% o w; refused t create --force -n 50 -p 1% /dev/stdout w; refused t copy --force a o
        refused t merge --force o a a; refused t insert o w; refused t clear o; refused t count --force -o o w; refused t dedup --state o w
        refused t plan -n 9 -p 1% --prove o --force
        : > e; t create --force -n 50 -p 1% e w 2>> e; echo $?; cat e; t plan -n 100 -p 1% --plot c.svg > c.svg; echo $?; ls -s c.svg"#,
    );
    assert_eq!(told.matches("the output goes to this file, so it cannot be replaced; name another file").count(), 10, "{told}");
    assert_eq!(told.matches("2 truebloom: ").count(), 9, "{told}");
    assert!(told.contains("2\ntruebloom: e: standard error goes to this file, so it cannot be replaced;"), "{told}");
    assert!(told.ends_with("2\n0 c.svg\n") && !told.contains("differ"), "{told}");
}

#[test]
fn a_state_that_was_written_is_named_if_the_output_fails() {
    let told = shell("seq 9 > w; t dedup --state s --memory 64KiB w > /dev/full; echo $?; ls s; t dedup --state s w | wc -l");
    assert!(told.contains("; s lacks the lines since its last save\n2\ns\n"), "{told}");
    assert!(told.ends_with("\n9\n"), "{told}");
}

#[test]
fn names_of_folders_are_refused_before_anything_is_read() {
    let told = shell("mkfifo lines; t create -n 9 -p 1% x/ lines; t dedup --state y/ lines; t plan -n 9 -p 1% --prove z/");
    assert_eq!(told.matches("/: this name ends with a slash, so it can only be the name of a folder; name a file\n").count(), 3, "{told}");
}

/// Only root can become another user. For other users, this test does nothing.
#[test]
fn files_of_other_users_are_theirs() {
    let told = shell(
        r#"[ "$(id -u)" = 0 ] && command -v setpriv > /dev/null || { echo skipped; exit; }
        cp "$T" program; seq 9 > w; t create -n 100 -p 1% F w > /dev/null; chmod 777 .; chmod 644 F w
        nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
        nobody ./program insert F w; echo $?; chown 65533 F; nobody ./program create --force -n 9 -p 1% F w; echo $?"#,
    );
    let refused =
        |owner| format!("truebloom: F belongs to {owner}, and this user may not write it; ask its owner, or choose another name\n2\n");
    assert!(told == "skipped\n" || told == refused("root") + &refused("user 65533"), "{told}");
}
