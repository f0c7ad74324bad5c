//! Tables and records.

use crate::run::{Row, Setting, Table, Time};
use crate::subjects::BASELINE;
use serde_json::{Value, json};
use truebloom_math::binomial;

/// Times of two filters are compared only if their measured rates differ by at most this factor,
/// because any filter can be faster at a higher rate.
const MARGIN: f64 = 1.15;

/// The confidence of the interval of the measured rate.
const CONFIDENCE: f64 = 0.99;

/// The error probability of the test of one of our filters. For up to a hundred filters together,
/// it is at most 1e-6.
const ALPHA: f64 = 1e-8;

fn measured(row: &Row, table: &Table) -> f64 {
    row.passed as f64 / table.strangers as f64
}

/// The speed relative to the baseline, if the measured rates allow a comparison.
fn speedup(row: &Row, table: &Table, time: fn(&Row) -> Time) -> Option<f64> {
    let base = table.rows.iter().find(|row| row.name == BASELINE)?;
    let ratio = measured(row, table) / measured(base, table);
    (1.0 / MARGIN..=MARGIN).contains(&ratio).then(|| time(base).median / time(row).median)
}

/// The probability of this number of hits, or of a less likely number, at the rate that follows
/// from the filter's set bits.
fn p_value(row: &Row, table: &Table) -> Option<f64> {
    row.own_rate.map(|rate| binomial::two_sided(row.passed, table.strangers, rate))
}

pub(crate) fn print(setting: &Setting, table: &Table) {
    println!(
        "\n### {}{} at {}, {} keys, {} items; nanoseconds per key, median (best) of {} rounds\n",
        bytes(setting.size),
        if setting.cold { ", cold" } else { "" },
        setting.rate,
        setting.kind.name(),
        table.items,
        setting.rounds
    );
    println!(
        "Reading a random cache line takes {:.1} ({:.1}) ns on small pages and {:.1} ({:.1}) ns on huge pages. `x` is the speed relative to {BASELINE}, if the \
         measured rates differ by at most {:.0}%. `limit` is the time of a random line on huge pages, divided by the time of a miss. `p` is the p-value of the \
         hits, given the set bits; the test detects a filter with {:.2} times its own rate with probability 0.99.\n",
        table.limit.median,
        table.limit.best,
        table.limit_huge.median,
        table.limit_huge.best,
        100.0 * (MARGIN - 1.0),
        binomial::noticed_factor(table.strangers, setting.rate, ALPHA)
    );
    println!("| filter | bits per key | measured rate ({:.0}%) | insert | x | hit | x | miss | x | limit |", 100.0 * CONFIDENCE);
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for row in &table.rows {
        let (low, high) = binomial::interval(row.passed, table.strangers, CONFIDENCE);
        let cell = |time: fn(&Row) -> Time| {
            let speedup = speedup(row, table, time).map_or("rates differ".to_owned(), |factor| format!("{factor:.2}"));
            format!("{:.1} ({:.1}) | {speedup}", time(row).median, time(row).best)
        };
        println!(
            "| {} | {:.2} | {:.3e} ({low:.2e} to {high:.2e}){}{} | {} | {} | {} | {:.0}% |",
            row.name,
            row.bits as f64 / table.items as f64,
            measured(row, table),
            p_value(row, table).map_or(String::new(), |p| if p < ALPHA {
                " **contradicts its law**".to_owned()
            } else {
                format!(", p {p:.2}")
            }),
            if row.lost > 0 { " **loses members**" } else { "" },
            cell(|row| row.insert),
            cell(|row| row.hit),
            cell(|row| row.miss),
            100.0 * table.limit_huge.median / row.miss.median,
        );
    }
}

fn bytes(size: u64) -> String {
    if size < 1 << 20 { format!("{} KiB", size >> 10) } else { format!("{} MiB", size >> 20) }
}

fn time(time: Time) -> Value {
    json!({ "median_ns": time.median, "best_ns": time.best })
}

pub(crate) fn json(setting: &Setting, table: &Table) -> Value {
    let row = |row: &Row| {
        let (low, high) = binomial::interval(row.passed, table.strangers, CONFIDENCE);
        json!({
            "filter": row.name, "bits_per_key": row.bits as f64 / table.items as f64,
            "insert": time(row.insert), "hit": time(row.hit), "miss": time(row.miss),
            "passed": row.passed, "measured": measured(row, table), "interval": [low, high], "lost": row.lost,
            "own_rate": row.own_rate, "proven": row.proven, "p_value": p_value(row, table),
            "speedup": {
                "insert": speedup(row, table, |row| row.insert), "hit": speedup(row, table, |row| row.hit), "miss": speedup(row, table, |row| row.miss),
            },
        })
    };
    json!({
        "bytes": setting.size, "cold": setting.cold, "rate": setting.rate, "keys": setting.kind.name(), "items": table.items, "rounds": setting.rounds,
        "strangers": table.strangers, "random_line": time(table.limit), "random_line_huge_pages": time(table.limit_huge),
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// All tables, and the machine on which they were measured.
pub(crate) fn record(tables: Vec<Value>) -> Value {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find_map(|line| line.strip_prefix("model name")).map(|line| line.trim_start_matches([' ', '\t', ':']).to_owned());
    let load = std::fs::read_to_string("/proc/loadavg").ok().map(|load| load.trim().to_owned());
    json!({ "processor": model, "load_at_end": load, "margin": MARGIN, "confidence": CONFIDENCE, "baseline": BASELINE, "tables": tables })
}
