//! `truebloom table`: Lehr's design table, with exact numbers next to those of the textbook.

use crate::args::{self, count, rate};
use crate::failure::{Failure, Shown};
use crate::plots::{self, PlotArgs};
use crate::report::{plural, rate as shown, significant};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use truebloom_math::{Approximation, Plan, Rate, Target, Variant};
use truebloom_plot::{Axis, Chart};

const EXAMPLES: &str = "\
Examples:
  truebloom table                                rates by probes and bits per item
  truebloom table -n 100 --bits-per-item 8,16,24 --plot table.svg
  truebloom table -p 1%,0.1%,1e-6                bits per item for each rate

In each column, * marks the best number of probes.";

/// Tabulate exact rates by probes and bits per item, and compare them with the textbook formula
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Distinct items in the filter
    #[arg(short = 'n', long, value_name = "N", value_parser = count, default_value = "1000", allow_hyphen_values = true)]
    items: u64,

    /// Columns: bits per item
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count, default_value = "4,6,8,10,12,16,20,24")]
    bits_per_item: Vec<u64>,

    /// Columns: rates. Each cell is then the number of bits per item that the rate needs
    #[arg(short = 'p', long = "fpr", value_name = "LIST", value_delimiter = ',', value_parser = rate, conflicts_with = "bits_per_item")]
    rates: Vec<Rate>,

    /// Rows: probes from 1 to this number
    #[arg(short = 'k', long, value_name = "K", default_value = "16", value_parser = args::probes)]
    probes: u32,

    #[command(flatten)]
    plot: PlotArgs,

    /// Print comma-separated values, with one line for each cell of the table
    #[arg(long)]
    csv: bool,

    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
}

/// A cell of the table: the exact number, the textbook's number, and whether the cell is the best
/// of its column.
struct Cell {
    probes: u32,
    column: String,
    exact: f64,
    textbook: f64,
    best: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    args.plot.check()?;
    let families = !args.rates.is_empty();
    if args.items == 0 {
        return Err(Failure::new("-n is 0, but must be at least 1"));
    }
    // All cells together take about a second at most.
    let columns: Vec<Vec<Cell>> = truebloom_math::as_one_call(|| {
        if families {
            args.rates.iter().map(|rate| sizes(args, *rate)).collect::<Result<_, _>>()
        } else {
            args.bits_per_item.iter().map(|bits| rates(args, *bits)).collect::<Result<_, _>>()
        }
    })?;
    let drawn = args.plot.write(|| Ok(chart(args, &columns, families)));
    let mut out = io::BufWriter::new(crate::output::stdout());
    let unit = if families { "bits_per_item" } else { "fpr" };
    match (args.json, args.csv) {
        (true, _) => print_json(&mut out, args, &columns, unit)?,
        (_, true) => print_csv(&mut out, args, &columns, unit)?,
        _ => {
            print_text(&mut out, args, &columns, families)?;
            if let Ok(Some(path)) = &drawn {
                writeln!(out, "\nwritten: {}", path.shown())?;
            }
        }
    }
    out.flush()?;
    drawn.map(|_| ExitCode::SUCCESS)
}

fn chart(args: &Args, columns: &[Vec<Cell>], families: bool) -> Chart {
    let curve = |cells: &Vec<Cell>| {
        let name = cells
            .first()
            .map_or(String::new(), |cell| if families { format!("rate {}", cell.column) } else { format!("{} bits", cell.column) });
        (name, cells.iter().map(|cell| (f64::from(cell.probes), cell.exact)).collect())
    };
    let columns: Vec<(String, Vec<(f64, f64)>)> = columns.iter().map(curve).collect();
    let note = plural(args.items, "item");
    match families {
        true => plots::table("Bits per item by probes and rate", note, Axis::log("bits per item"), &columns),
        false => plots::table("Rate by probes and bits per item", note, Axis::log("false-positive rate"), &columns),
    }
}

/// The rates for one size, by number of probes.
fn rates(args: &Args, bits_per_item: u64) -> Result<Vec<Cell>, Failure> {
    if bits_per_item == 0 {
        return Err(Failure::new("--bits-per-item is 0, but must be at least 1"));
    }
    let Some(bits) = bits_per_item.checked_mul(args.items) else {
        return Err(Failure::new(format_args!("{bits_per_item} bits per item for {} items are more than 2^64", args.items)));
    };
    let cell = |probes| {
        let exact = Variant::Standard.fpr(bits, args.items, probes)?.value;
        let textbook = Approximation::Knuth.value(bits, args.items, probes)?;
        Ok(Cell { probes, column: bits_per_item.to_string(), exact, textbook, best: false })
    };
    column(args, cell)
}

/// The sizes for one rate, by number of probes.
fn sizes(args: &Args, rate: Rate) -> Result<Vec<Cell>, Failure> {
    let items = args.items;
    let cell = |probes| {
        let plan = Plan::new(&Target::new().items(items).rate(rate).probes(probes).mean())?;
        let each = |bits: u64| bits as f64 / items as f64;
        Ok(Cell { probes, column: rate.to_string(), exact: each(plan.bits), textbook: each(plan.textbook()?.bits), best: false })
    };
    column(args, cell)
}

fn column(args: &Args, cell: impl Fn(u32) -> Result<Cell, truebloom_math::Error>) -> Result<Vec<Cell>, Failure> {
    let mut cells = (1..=args.probes).map(cell).collect::<Result<Vec<Cell>, _>>().map_err(|error| match error {
        truebloom_math::Error::TooLong { .. } => Failure::new(format_args!(
            "this table would take longer than about a second to compute; give a -k below {}, or fewer columns",
            args.probes
        )),
        error => error.into(),
    })?;
    let least = cells.iter().map(|cell| cell.exact).fold(f64::INFINITY, f64::min);
    cells.iter_mut().for_each(|cell| cell.best = cell.exact == least);
    Ok(cells)
}

fn print_text(out: &mut impl Write, args: &Args, columns: &[Vec<Cell>], families: bool) -> io::Result<()> {
    let what = if families { "bits per item, by rate and number of probes" } else { "exact rate, by bits per item and number of probes" };
    writeln!(out, "{} items, standard filter: {what}", crate::report::count(args.items))?;
    let width = 11;
    write!(out, "{:>6}", "probes")?;
    for cells in columns {
        write!(out, "{:>width$}", cells[0].column)?;
    }
    writeln!(out)?;
    for row in 0..args.probes as usize {
        let cells = columns.iter().map(|cells| {
            let cell = &cells[row];
            let number = if families { significant(cell.exact, 5) } else { shown(cell.exact, 4) };
            format!("{:>width$}", format!("{number}{}", if cell.best { "*" } else { " " }))
        });
        let line = format!("{:>6}{}", row + 1, cells.collect::<String>());
        writeln!(out, "{}", line.trim_end())?;
    }
    let misses = columns
        .iter()
        .map(|cells| format!("{:>width$}", off(cells).map_or(String::new(), |off| format!("{}% ", significant(100.0 * off, 2)))));
    let line = format!("{:>6}{}", "off by", misses.collect::<String>());
    writeln!(out, "{}", line.trim_end())?;
    writeln!(out, "\noff by: the relative error of the textbook formula at the best number of probes")
}

/// Returns the relative error of the textbook's number in the best cell.
fn off(cells: &[Cell]) -> Option<f64> {
    cells.iter().find(|cell| cell.best).map(|cell| cell.textbook / cell.exact - 1.0)
}

fn print_csv(out: &mut impl Write, args: &Args, columns: &[Vec<Cell>], unit: &str) -> io::Result<()> {
    let column = if unit == "fpr" { "bits_per_item" } else { "fpr" };
    writeln!(out, "items,probes,{column},{unit},textbook_{unit},best")?;
    for cell in columns.iter().flatten() {
        writeln!(out, "{},{},{},{},{},{}", args.items, cell.probes, cell.column, cell.exact, cell.textbook, cell.best)?;
    }
    Ok(())
}

fn print_json(out: &mut impl Write, args: &Args, columns: &[Vec<Cell>], unit: &str) -> io::Result<()> {
    let cell = |cell: &Cell| json!({ "probes": cell.probes, "exact": cell.exact, "textbook": cell.textbook, "best": cell.best });
    let column = |cells: &Vec<Cell>| json!({ "column": cells[0].column, "cells": cells.iter().map(cell).collect::<Vec<Value>>() });
    let columns: Vec<Value> = columns.iter().map(column).collect();
    writeln!(out, "{}", json!({ "verb": "table", "items": args.items, "unit": unit, "columns": columns }))
}
