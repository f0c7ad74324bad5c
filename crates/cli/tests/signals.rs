//! Sends a signal while a file is being replaced. The file must be the complete old or the complete
//! new one, as the exit code says, and no temporary file may be left.
#![cfg(unix)]
#![allow(missing_docs, reason = "a test has no public interface")]

use std::process::Command;

/// Subcommands that write their file at once get a signal at every moment of their run.
#[test]
fn nothing_half_written_and_nothing_left_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = r#"
        "$TRUEBLOOM" create -m 16MiB -n 1M --seed 1 --empty old.tbl > /dev/null && echo key | "$TRUEBLOOM" insert old.tbl > /dev/null || exit
        for run in $(seq 30); do
            cp old.tbl seen.tbl
            "$TRUEBLOOM" clear seen.tbl > /dev/null 2>&1 &
            sleep "0.$(printf %03d $((run * 3)))"; kill -TERM $! 2> /dev/null; wait $!; code=$?
            for left in .truebloom-*; do [ -e "$left" ] && echo "run $run left $left, exit $code"; rm -f "$left"; done
            if [ $code = 0 ]; then [ "$(echo key | "$TRUEBLOOM" check -c seen.tbl)" = 0 ]; else cmp old.tbl seen.tbl; fi || echo "run $run: exit $code is not what happened"
        done"#;
    let output =
        Command::new("bash").arg("-c").arg(script).current_dir(folder.path()).env("TRUEBLOOM", env!("CARGO_BIN_EXE_truebloom")).output();
    let output = output.expect("bash runs");
    let told = String::from_utf8_lossy(&output.stdout);
    // Messages of bash about jobs that a signal ended are also on standard error.
    assert!(output.status.success() && told.is_empty(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}
