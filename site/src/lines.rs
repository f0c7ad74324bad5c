//! Code to copy, for this version of the crate, the command, the Python package and the Redis
//! module.

use crate::json::Json;
use crate::words::line;
use truebloom_math::recycling::Design;
use truebloom_math::{Plan, Promise, Rate, Target};

/// A whole number as Rust and Python write it: `10_000_000`.
fn whole(number: u64) -> String {
    truebloom_report::show::count(number).replace(',', "_")
}

/// A rate for Rust: a number if that is exactly the same rate, and otherwise the text.
fn in_rust(rate: Rate) -> String {
    let text = rate.to_string();
    let same = text.parse::<f64>().ok().and_then(|number| Rate::try_from(number).ok()) == Some(rate);
    if same { text } else { format!("\"{text}\"") }
}

/// A rate for Python, which takes a number or the text of a fraction.
fn in_python(rate: Rate) -> String {
    in_rust(rate)
}

/// A program with these `use` paths and these lines, in a function that allows `?`. `truebloom` is
/// a checkout, because nothing is on a registry yet.
fn program(features: &str, uses: &str, lines: &str) -> String {
    let lines = lines.replace('\n', "\n    ");
    format!(
        "// cargo add --path ../truebloom/crates/filter{features}\nuse {uses};\n\nfn main() -> Result<(), Box<dyn std::error::Error>> {{\n    {lines}\n    Ok(())\n}}"
    )
}

/// The note beside code for Rust.
const IN_CARGO: &str = "The first line adds the library from truebloom\u{2019}s sources.";
/// The note beside code for the command.
const INSTALLED: &str = "To install it from the sources: cargo install --path crates/cli.";
/// The note beside code for Redis.
const MODULE: &str = "For a Redis or Valkey that has loaded truebloom\u{2019}s module (crates/redis in the sources).";
/// The note below all code.
pub(crate) const SOURCES: &str = "truebloom is the library that this page uses, free under the MIT or Apache-2.0 licence. It is on no registry yet, so you need its sources.";

/// A whole number for the command: `10M`, `1.8M`.
pub(crate) fn short(number: u64) -> String {
    // Each unit has the smallest fraction of it that is written.
    let units = [(1_000_000_000, 10_000_000, "G"), (1_000_000, 10_000, "M"), (1_000, 1_000, "k")];
    let found = units.into_iter().find(|(unit, least, _)| number >= *unit && number.is_multiple_of(*least));
    found.map_or_else(|| number.to_string(), |(unit, _, name)| format!("{}{name}", number as f64 / unit as f64))
}

/// A number of bits for the command: `64MiB` if it is a whole number of MiB.
fn size(bits: u64) -> String {
    let units = [(1u64 << 33, "GiB"), (1 << 23, "MiB"), (1 << 13, "KiB")];
    let found = units.into_iter().find(|(unit, _)| bits >= *unit && bits.is_multiple_of(*unit));
    found.map_or_else(|| bits.to_string(), |(unit, name)| format!("{}{name}", bits / unit))
}

/// A number of whole bytes for the command: `64MiB`.
pub(crate) fn memory(bits: u64) -> String {
    let text = size(bits);
    if text.ends_with('B') { text } else { format!("{}B", bits / 8) }
}

/// The options of the command, and the arguments in Python and Rust, with the same meaning as the
/// fields.
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

/// The code that makes the filter of a plan.
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
        line(
            "Rust",
            program("", "truebloom::BloomFilter", &format!("{rust}\nseen.insert(\"an item\");\nassert!(seen.contains(\"an item\"));")),
            IN_CARGO,
        ),
        line(
            "Shell",
            format!("truebloom create {} seen.tbl items.txt\ntruebloom check seen.tbl candidates.txt", asked.command.join(" ")),
            &format!("One item per line; the second command prints the lines that are, perhaps, in the filter. {INSTALLED}"),
        ),
        line(
            "Python",
            format!("import truebloom\n\n{python}\nseen.add(\"an item\")\n\"an item\" in seen"),
            "In the sources, python/test.sh quick makes the wheel to install.",
        ),
    ];
    // The server makes its own plans, from items and a rate, and always with this promise.
    let is_its_own = target.bits.is_none() && target.probes.is_none() && target.promise == Promise::default();
    if let Some(rate) = plan.rate.filter(|_| is_its_own) {
        let (rate, items) = (decimal(rate), plan.items);
        let code = format!("BF.RESERVE seen {rate} {items} NONSCALING\nBF.ADD seen \"an item\"\nBF.EXISTS seen \"an item\"");
        let note = format!("{MODULE} RedisBloom takes the same lines and gives another rate: see \u{201c}Audit a library\u{201d}.");
        lines.push(line("Redis", code, &note));
    }
    Json::List(lines)
}

/// The reason why there is no code for Redis; empty if there is code.
pub(crate) fn why_no_redis(target: &Target) -> &'static str {
    match (target.bits, target.probes) {
        (Some(_), _) => "No lines for Redis: there the server computes the size from items and rate. Clear the size to see them.",
        (_, Some(_)) => "No lines for Redis: there the server chooses the probes. Clear them to see the lines.",
        _ if target.promise != Promise::default() => {
            "No lines for Redis: there the promise is for the one filter, with a confidence of 99.9%. Choose that to see them."
        }
        _ => "",
    }
}

/// A rate as a decimal, because Redis reads no fractions.
fn decimal(rate: Rate) -> String {
    let text = rate.to_string();
    if text.contains('/') { format!("{:?}", rate.to_f64()) } else { text }
}

/// The data of a filter that forgets, for its code.
pub(crate) struct Stream<'a> {
    pub(crate) design: &'a Design,
    pub(crate) rate: Rate,
    /// The options of `dedup` for this filter, and a note on how its answer differs.
    pub(crate) command: (String, &'static str),
    /// The new items of a phase and the average rate with which Python and Redis make the same
    /// filter. If this is `None`, their promise is different.
    pub(crate) same: Option<(u64, Rate)>,
    /// The number of items and of seconds, if the filter must remember for a time.
    pub(crate) every: Option<(u64, f64)>,
}

/// The code for a filter that forgets.
pub(crate) fn of_streams(stream: &Stream<'_>) -> Json {
    let Stream { design, rate, .. } = *stream;
    let two = design.mode().filters() == 2;
    let policy = if two { "two_phases" } else { "one_phase" };
    let rust = format!(
        "let mut seen = RecyclingFilter::new({}, {}, Policy::{policy}({}))?;\nif seen.check_and_insert(\"an item\").is_new() {{\n    // first seen\n}}",
        whole(design.bits()),
        design.probes(),
        whole(design.sigma())
    );
    let rust_note = match two {
        true => "Its numbers: the bits of each of the two filters, the probes, and the set bits above which the older one is emptied.",
        false => "Its numbers: the bits, the probes, and the set bits above which it is emptied.",
    };
    let (options, differs) = &stream.command;
    let mut lines = vec![
        line("Rust", program("", "truebloom::recycling::{Policy, RecyclingFilter}", &rust), &format!("{rust_note} {IN_CARGO}")),
        line(
            "Shell",
            format!("truebloom dedup {options} -p {rate} < lines.txt > first-lines.txt"),
            &format!("Prints each line when it comes for the first time, in fixed memory.{differs} {INSTALLED}"),
        ),
    ];
    let held = stream.same.filter(|_| two).map_or(String::new(), |(_, average)| {
        format!(" Its numbers are the new items that each of the two filters takes, and the average rate: at {average} on average, the rate is never above {rate}.")
    });
    if let Some((items, average)) = stream.same {
        let phases = if two { ", phases=2" } else { "" };
        let code = format!(
            "import truebloom\n\nseen = truebloom.RecyclingFilter({}, {}{phases})\nnew = seen.add(\"an item\")",
            whole(items),
            in_python(average)
        );
        lines.push(line("Python", code, held.trim_start()));
    }
    let redis = match (stream.every, stream.same) {
        (Some((items, seconds)), _) if two => Some((
            format!("{} {items} EVERY {seconds}", decimal(rate)),
            " It forgets by the clock: an item is remembered for at least this many seconds.".to_owned(),
        )),
        (_, Some((items, average))) => {
            Some((format!("{} {items} RECYCLE{}", decimal(average), if two { " PHASES 2" } else { "" }), held.to_owned()))
        }
        _ => None,
    };
    if let Some((options, note)) = redis {
        let code = format!("BF.RESERVE seen {options}\nBF.ADD seen \"an item\"");
        lines.push(line("Redis", code, &format!("BF.ADD answers 1 when the item is new.{note} {MODULE}")));
    }
    Json::List(lines)
}

/// The code for a sketch.
pub(crate) fn of_counts(epsilon: Rate, delta: Rate) -> Json {
    let (e, d) = (in_python(epsilon), in_python(delta));
    Json::List(vec![
        line(
            "Rust",
            program(
                " --features sketches",
                "truebloom::count_min::CountMin",
                &format!(
                    "let mut counts = CountMin::<u64>::new(\"{epsilon}\".parse()?, \"{delta}\".parse()?)?;\ncounts.add(\"an item\", 1);\nprintln!(\"about {{}}\", counts.estimate(\"an item\").value);"
                ),
            ),
            IN_CARGO,
        ),
        line(
            "Shell",
            format!("truebloom count --epsilon {epsilon} --delta {delta} < lines.txt"),
            &format!("Prints the most frequent lines, each with bounds that are certain. {INSTALLED}"),
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
            &format!("{MODULE} RedisBloom understands the same lines, and chooses its size by other formulas."),
        ),
    ])
}

/// The command line that audits a library.
pub(crate) fn of_audit(library: &str, items: u64, rate: Option<Rate>, size_and_probes: Option<(u64, u32)>, more: Option<&str>) -> Json {
    let mut code = format!("truebloom audit {library} -n {}", short(items));
    if let Some((bits, probes)) = size_and_probes {
        code += &format!(" -m {} -k {probes}", size(bits));
    }
    if let Some(rate) = rate {
        code += &format!(" -p {rate}");
    }
    let longer = match more {
        Some(queries) => {
            code += &format!(" --simulate {queries}");
            "It simulates longer than this page does. "
        }
        None => "",
    };
    Json::List(vec![line("Shell", code, &format!("{longer}{INSTALLED}"))])
}
