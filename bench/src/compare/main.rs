//! Compares filters by time, bits and *measured* rate in one table. Each time is also given as a
//! fraction of the limit of the machine.
//!
//! `cargo run --release -p truebloom-bench --bin compare -- --help`
//!
//! Rounds of all filters are interleaved, so that other work on the machine affects all filters
//! equally. Times are processor times of the thread. Only ratios within one run are meaningful.

mod arch;
mod clock;
mod keys;
mod limit;
mod report;
mod run;
mod subjects;

use keys::Kind;
use run::Setting;

const HELP: &str = "\
Usage: compare [--sizes 64KiB,8MiB,128MiB] [--rates 0.01,0.001] [--keys u64,bytes] [--rounds 61] [--only NAME,NAME] [--cold] [--json FILE]

Sizes are those of a standard filter at the rate; every filter gets the items that such a one holds. Names match by any part.
Filters up to 16 MiB are brought into cache before their turn, unless --cold is given: then their turn begins with what the turns of the others leave of them.
Prints a Markdown table a setting, and writes all numbers to FILE.";

struct Options {
    sizes: Vec<u64>,
    rates: Vec<f64>,
    kinds: Vec<Kind>,
    rounds: usize,
    only: Vec<String>,
    cold: bool,
    json: Option<String>,
}

fn main() {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{HELP}");
            std::process::exit(2);
        }
    };
    let mut tables = Vec::new();
    for kind in &options.kinds {
        for rate in &options.rates {
            for size in &options.sizes {
                let setting = Setting { size: *size, rate: *rate, kind: *kind, rounds: options.rounds, cold: options.cold };
                let table = run::run(&setting, &options.only);
                report::print(&setting, &table);
                tables.push(report::json(&setting, &table));
            }
        }
    }
    if let Some(path) = options.json {
        let text = serde_json::to_string_pretty(&report::record(tables)).unwrap_or_default();
        if let Err(error) = std::fs::write(&path, text + "\n") {
            eprintln!("cannot write {path}: {error}");
            std::process::exit(2);
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        sizes: vec![64 << 10, 8 << 20, 128 << 20],
        rates: vec![0.01, 0.001],
        kinds: vec![Kind::Numbers, Kind::Texts],
        rounds: 61,
        only: Vec::new(),
        cold: false,
        json: None,
    };
    while let Some(name) = arguments.next() {
        if name == "--help" {
            return Err("What it takes:".to_owned());
        }
        if name == "--cold" {
            options.cold = true;
            continue;
        }
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let parts = || value.split(',').map(str::trim);
        let wrong = |part: &str| format!("{name} does not know `{part}`");
        match name.as_str() {
            "--sizes" => options.sizes = parts().map(|part| size(part).ok_or_else(|| wrong(part))).collect::<Result<_, _>>()?,
            "--rates" => {
                let rate = |part: &str| part.parse().ok().filter(|rate| 0.0 < *rate && *rate < 1.0).ok_or_else(|| wrong(part));
                options.rates = parts().map(rate).collect::<Result<_, _>>()?;
            }
            "--keys" => {
                let kind = |part: &str| match part {
                    "u64" => Ok(Kind::Numbers),
                    "bytes" => Ok(Kind::Texts),
                    _ => Err(wrong(part)),
                };
                options.kinds = parts().map(kind).collect::<Result<_, _>>()?;
            }
            "--rounds" => options.rounds = value.parse().ok().filter(|rounds| *rounds > 0).ok_or_else(|| wrong(&value))?,
            "--only" => options.only = parts().map(str::to_owned).collect(),
            "--json" => options.json = Some(value),
            _ => return Err(format!("there is no option {name}")),
        }
    }
    Ok(options)
}

fn size(text: &str) -> Option<u64> {
    let (number, factor) = match text.strip_suffix("KiB") {
        Some(number) => (number, 1 << 10),
        None => (text.strip_suffix("MiB")?, 1 << 20),
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| (1024..=1 << 36).contains(bytes))
}
