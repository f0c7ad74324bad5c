//! Answers questions natively: one a line on standard input, with `\n` for the end of a line in it;
//! one answer a line.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", truebloom_site::answer(&line?.replace("\\n", "\n")))?;
    }
    out.flush()
}
