//! `--plot FILE.svg`: draws the curves behind a report.

use crate::failure::{Failure, Shown};
use crate::report::{Format, Report, count, plural, significant};
use crate::subject::Real;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::file::{Expected, open_regular};
use truebloom::recycling::Policy;
use truebloom::scheme::FillScheme;
use truebloom_math::recycling::{Design, Subject};
use truebloom_plot::{Axis, Chart, Mark, Series};
pub(crate) use truebloom_report::charts::*;

#[derive(clap::Args)]
pub(crate) struct PlotArgs {
    /// Also draw the numbers as a chart into this SVG file; an existing chart is overwritten
    #[arg(long = "plot", value_name = "FILE.svg")]
    file: Option<PathBuf>,
}

impl PlotArgs {
    /// Checks, before any work, whether the chart can be written.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.file.as_deref().map_or(Ok(()), check_older)
    }

    /// Draws the chart, if one was requested.
    pub(crate) fn write(&self, chart: impl FnOnce() -> Result<Chart, Failure>) -> Result<Option<&Path>, Failure> {
        let Some(path) = &self.file else { return Ok(None) };
        check_older(path)?;
        let svg = chart()?.svg().map_err(|error| Failure::at(path, error))?;
        crate::output::write_whole(path, Expected::Anything, svg.as_bytes())?;
        Ok(Some(path))
    }

    /// Draws the chart, and prints the report with a line about it. If the chart cannot be drawn,
    /// the report is still printed, followed by the reason.
    pub(crate) fn finish(
        &self,
        mut report: Report,
        format: Format,
        chart: impl FnOnce() -> Result<Chart, Failure>,
    ) -> Result<ExitCode, Failure> {
        let drawn = self.write(chart);
        if let Ok(Some(path)) = &drawn {
            report.field("plot", path.display().to_string()).line("chart", format!("written: {}", path.shown()));
        }
        report.print_as(format)?;
        drawn.map(|_| ExitCode::SUCCESS)
    }

    pub(crate) fn asked(&self) -> bool {
        self.file.is_some()
    }
}

/// Checks that an existing file is a chart of this program. Only charts are overwritten, so that a
/// typing error does not destroy another file. The name must end in `.svg`, because other programs
/// recognize the format by it.
fn check_older(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::new(
            "--plot cannot write to standard output (`-`), because the report goes there; name a file, such as plan.svg",
        ));
    }
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        let better = path.with_extension("svg");
        return Err(Failure::at(path, format_args!("--plot writes SVG, so the name must end in .svg; name it {}", better.shown())));
    }
    crate::lock::check_no_stream(path)?;
    is_older(
        path,
        truebloom_plot::MARK,
        "the file exists, but was not drawn by truebloom; give --plot another name, or remove the file first",
    )
}

/// Returns an error if a file with this name exists, is not empty, and does not have this mark near
/// its beginning.
pub(crate) fn is_older(path: &Path, mark: &str, otherwise: &str) -> Result<(), Failure> {
    let file = match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|error| Failure::at(path, error))?,
    };
    let mut start = Vec::new();
    file.take(4_096).read_to_end(&mut start).map_err(|error| Failure::at(path, error))?;
    let is_ours = start.is_empty() || start.windows(mark.len()).any(|found| found == mark.as_bytes());
    if is_ours { Ok(()) } else { Err(Failure::at(path, otherwise)) }
}

/// The number of cycles that are shown.
const CYCLES: u64 = 5;

/// Draws a recycling filter over new items: its rate rises and falls.
pub(crate) fn saw_tooth<S: FillScheme>(design: &Design, seed: u64, seen: Option<[f64; 3]>) -> Result<Chart, Failure> {
    let run = match design.long_run() {
        Err(truebloom_math::Error::TooLong { .. }) => design.long_run_nearly(),
        found => found,
    }?;
    let length = run.items_per_cycle.value;
    if length * CYCLES as f64 > MOST_SHOWN {
        return Err(Failure::new(format!(
            "a cycle has about {} items; charts are drawn only for filters with up to {} per cycle",
            count(length as u64),
            count((MOST_SHOWN as u64) / CYCLES)
        )));
    }
    let mut filter = Real::<S>::new(design.bits(), design.probes(), Policy::from(design), seed)?;
    let step = ((length * CYCLES as f64 / 1_500.0) as u64).max(1);
    // The chart ends after this many items, even if a cycle is by chance endless.
    let most = (length * (CYCLES + 5) as f64) as u64;
    let (mut points, mut item, mut before) = (Vec::new(), 0u64, filter.cycles());
    while filter.cycles() < CYCLES && item < most {
        filter.offer(item);
        item += 1;
        // The curve has a point before and after each fall of the rate.
        if item.is_multiple_of(step) || filter.cycles() > before {
            before = filter.cycles();
            points.push((item as f64, filter.0.fpr()));
        }
    }
    let two = design.mode().filters() == 2;
    let each = if two { " in each of two filters" } else { "" };
    let note = format!(
        "{}{each}, {}, full when more than {} are set",
        plural(design.bits(), "bit"),
        plural(design.probes().into(), "probe"),
        plural(design.sigma(), "bit")
    );
    let mean = run.fpr.value;
    // With few hits, the interval reaches far above any filter's rate; drawn as a band, it would
    // hide the curve.
    let hidden = seen.filter(|[_, _, upper]| *upper > 1.5 * run.worst.value);
    let note = match hidden {
        Some([_, _, upper]) => format!("{note}; simulated average at most {} (99% interval)", significant(upper, 3)),
        None => note,
    };
    // Space is left for the label above the worst rate.
    let top = seen.filter(|_| hidden.is_none()).map_or(0.0, |[_, _, upper]| upper).max(run.worst.value);
    let ordinate = Axis::linear(RATE).between(0.0, 1.1 * top);
    let mut chart = Chart::new("The rate of a recycling filter over its cycles", Axis::linear("new items"), ordinate).note(note);
    if let (Some([value, lower, upper]), None, Some(last)) = (seen, hidden, points.last().map(|last| last.0)) {
        let name = format!("simulated average {}, 99% interval", significant(value, 4));
        chart = chart.with(Series::band(name, vec![(0.0, lower, upper), (last, lower, upper)]).coloured(2));
    }
    Ok(chart
        .with(Series::line("rate of the filter now", points).coloured(0))
        .marked(Mark::level(mean, format!("long-run average {}", significant(mean, 4))))
        .marked(Mark::level(run.worst.value, format!("worst {}", significant(run.worst.value, 4)))))
}

/// The largest number of items that is simulated for a chart of a recycling filter. Such a
/// simulation takes about a second.
const MOST_SHOWN: f64 = 2e7;
