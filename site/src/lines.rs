//! Lines to copy, as the crate, the command, Python and Redis have them in this version.

use crate::json::Json;
use crate::words::line;
use truebloom_math::recycling::Design;
use truebloom_math::{Plan, Promise, Rate, Target};

/// A whole number as Rust and Python write it: `10_000_000`.
fn whole(number: u64) -> String {
    truebloom_report::show::count(number).replace(',', "_")
}

/// A rate for Rust: a number where that is the same, and else the text.
fn in_rust(rate: Rate) -> String {
    let text = rate.to_string();
    let same = text.parse::<f64>().ok().and_then(|number| Rate::try_from(number).ok()) == Some(rate);
    if same { text } else { format!("\"{text}\"") }
}

/// A rate for Python, which takes a number or the text of a fraction.
fn in_python(rate: Rate) -> String {
    in_rust(rate)
}

/// A whole number for the command: `10M`.
pub(crate) fn short(number: u64) -> String {
    let units = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    let found = units.into_iter().find(|(unit, _)| number >= *unit && number % unit == 0);
    found.map_or_else(|| number.to_string(), |(unit, name)| format!("{}{name}", number / unit))
}

/// Bits for the command: `64MiB` where it is whole.
fn size(bits: u64) -> String {
    let units = [(1u64 << 33, "GiB"), (1 << 23, "MiB"), (1 << 13, "KiB")];
    let found = units.into_iter().find(|(unit, _)| bits >= *unit && bits % unit == 0);
    found.map_or_else(|| bits.to_string(), |(unit, name)| format!("{}{name}", bits / unit))
}

/// Whole bytes for the command: `64MiB`.
pub(crate) fn memory(bits: u64) -> String {
    let text = size(bits);
    if text.ends_with('B') { text } else { format!("{}B", bits / 8) }
}

/// The options of the command and the arguments of Python that say the same as the fields.
struct Asked {
    command: Vec<String>,
    python: Vec<String>,
    rust: Vec<String>,
}

impl Asked {
    fn of(target: &Target) -> Asked {
        let mut asked = Asked { command: Vec::new(), python: Vec::new(), rust: Vec::new() };
        if let Some(items) = target.items {
            asked.all(format!("-n {}", short(items)), whole(items), format!("items({})", whole(items)));
        }
        if let Some(rate) = target.rate {
            let python = if target.items.is_some() { in_python(rate) } else { format!("fpr={}", in_python(rate)) };
            asked.all(format!("-p {rate}"), python, format!("rate({})", in_rust(rate)));
        }
        if let Some(bits) = target.bits {
            asked.all(format!("-m {}", size(bits)), format!("bits={}", whole(bits)), format!("bits({})", whole(bits)));
        }
        if let Some(probes) = target.probes {
            asked.all(format!("-k {probes}"), format!("probes={probes}"), format!("probes({probes})"));
        }
        match target.promise {
            Promise::Mean => asked.all("--mean".to_owned(), "mean=True".to_owned(), "mean()".to_owned()),
            Promise::OneFilter { confidence } if confidence != Promise::DEFAULT_CONFIDENCE => {
                asked.all(format!("--confidence {confidence}"), format!("confidence={confidence}"), format!("confidence({confidence:?})"));
            }
            _ => {}
        }
        asked
    }

    fn all(&mut self, command: String, python: String, rust: String) {
        self.command.push(command);
        self.python.push(python);
        self.rust.push(rust);
    }
}

/// Lines that make the filter of a plan.
pub(crate) fn of_plan(target: &Target, plan: &Plan) -> Json {
    let asked = Asked::of(target);
    let simple = match (target.items, target.rate, target.bits, target.probes) {
        (Some(items), Some(rate), None, None) if target.promise == Promise::default() => Some((items, rate)),
        _ => None,
    };
    let rust = match simple {
        Some((items, rate)) => format!("let mut seen = BloomFilter::new({}, {})?;", whole(items), in_rust(rate)),
        None => format!("let mut seen = BloomFilter::builder()\n    .{}\n    .build()?;", asked.rust.join("\n    .")),
    };
    let python = match simple {
        Some((items, rate)) => format!("seen = truebloom.BloomFilter({}, {})", whole(items), in_python(rate)),
        None => format!("seen = truebloom.BloomFilter.from_plan(truebloom.plan({}))", asked.python.join(", ")),
    };
    let mut lines = vec![
        line("Rust", format!("use truebloom::BloomFilter;\n\n{rust}\nseen.insert(\"an item\");\nassert!(seen.contains(\"an item\"));"), ""),
        line(
            "Command",
            format!("truebloom create {} seen.tbl items.txt\ntruebloom check seen.tbl candidates.txt", asked.command.join(" ")),
            "One item per line; the second command prints the lines that are, perhaps, in the filter.",
        ),
        line("Python", format!("import truebloom\n\n{python}\nseen.add(\"an item\")\n\"an item\" in seen"), ""),
    ];
    // The server plans by itself, of items and a rate, and always with this promise.
    if target.bits.is_none() && target.probes.is_none() && target.promise == Promise::default() {
        if let Some(rate) = plan.rate {
            let code =
                format!("BF.RESERVE seen {} {} NONSCALING\nBF.ADD seen \"an item\"\nBF.EXISTS seen \"an item\"", decimal(rate), plan.items);
            lines.push(line(
                "Redis",
                code,
                "With truebloom's module for Redis and Valkey. Other modules understand the same line; the tab \u{201c}Audit a library\u{201d} says what rate they give.",
            ));
        }
    }
    Json::List(lines)
}

/// A rate as a decimal: Redis reads no fraction.
fn decimal(rate: Rate) -> String {
    let text = rate.to_string();
    if text.contains('/') { format!("{:?}", rate.to_f64()) } else { text }
}

/// Lines for a filter that forgets: this design, which is asked for by `option` of the command, and takes so many items between two resets.
pub(crate) fn of_streams(design: &Design, rate: Rate, option: &str, items: u64) -> Json {
    let two = design.mode().filters() == 2;
    let policy = if two { "two_phases" } else { "one_phase" };
    let rust = format!(
        "use truebloom::recycling::{{Policy, RecyclingFilter}};\n\nlet mut seen = RecyclingFilter::new({}, {}, Policy::{policy}({}))?;\nif seen.check_and_insert(\"an item\").is_new() {{\n    // first seen\n}}",
        whole(design.bits()),
        design.probes(),
        whole(design.sigma())
    );
    let phases = if two { ", phases=2" } else { "" };
    let python = format!(
        "import truebloom\n\nseen = truebloom.RecyclingFilter({}, {}{phases})\nnew = seen.add(\"an item\")",
        whole(items),
        in_python(rate)
    );
    let [rust_note, python_note] = match two {
        true => [
            "Bits of each phase, probes, and the set bits above which the older phase is emptied.",
            "A phase of so many items, held to the rate on average.",
        ],
        false => ["Bits, probes, and the set bits above which it is emptied.", ""],
    };
    Json::List(vec![
        line("Rust", rust, rust_note),
        line(
            "Command",
            format!("truebloom dedup {option} -p {rate} < lines.txt > first-lines.txt"),
            "Prints each line when it comes for the first time, in fixed memory.",
        ),
        line("Python", python, python_note),
        line(
            "Redis",
            format!("BF.RESERVE seen {} {items} RECYCLE{}\nBF.ADD seen \"an item\"", decimal(rate), if two { " PHASES 2" } else { "" }),
            "With truebloom's module for Redis and Valkey. BF.ADD answers 1 when the item is new.",
        ),
    ])
}

/// Lines for a sketch.
pub(crate) fn of_counts(epsilon: Rate, delta: Rate) -> Json {
    let (e, d) = (in_python(epsilon), in_python(delta));
    Json::List(vec![
        line(
            "Rust",
            format!(
                "use truebloom::count_min::CountMin;\n\nlet mut counts = CountMin::<u64>::new(\"{epsilon}\".parse()?, \"{delta}\".parse()?)?;\ncounts.add(\"an item\", 1);\nlet about = counts.estimate(\"an item\");"
            ),
            "Needs the crate's feature `sketches`.",
        ),
        line(
            "Command",
            format!("truebloom count --epsilon {epsilon} --delta {delta} < lines.txt"),
            "Prints the most frequent lines, each with bounds that are certain.",
        ),
        line(
            "Python",
            format!("import truebloom\n\ncounts = truebloom.CountMin({e}, {d})\ncounts.add(\"an item\")\ncounts.estimate(\"an item\")"),
            "",
        ),
        line(
            "Redis",
            format!(
                "CMS.INITBYPROB counts {} {}\nCMS.INCRBY counts \"an item\" 1\nCMS.QUERY counts \"an item\"",
                decimal(epsilon),
                decimal(delta)
            ),
            "With truebloom's module for Redis and Valkey, or with RedisBloom, which chooses its size by other formulas.",
        ),
    ])
}
