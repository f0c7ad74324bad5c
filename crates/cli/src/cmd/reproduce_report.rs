//! `truebloom reproduce --out`: every figure as a picture and as numbers, and all claims on one
//! page. Results of long experiments are saved when they end, so that a run that was stopped can
//! continue.

use super::reproduce::{new_folder, real_filter};
use crate::failure::{Failure, Shown};
use crate::plots::is_older;
use crate::progress::Progress;
use crate::report::plural;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::file::Expected;
use truebloom_reproduce::{Chapter, Done, Effort, Known, MARK, Paper, report};

pub(super) struct Report<'a> {
    pub(super) papers: Vec<Paper>,
    pub(super) effort: Effort,
    pub(super) full: bool,
    pub(super) folder: &'a Path,
    pub(super) workers: Workers,
    /// A text that says how the report was made.
    pub(super) how: String,
}

impl Report<'_> {
    pub(super) fn write(&self) -> Result<ExitCode, Failure> {
        new_folder(self.folder)?;
        self.check_folder()?;
        let mut store = Store::open(self.folder, self.full)?;
        let mut chapters = Vec::new();
        let mut files = 0;
        for &paper in &self.papers {
            let Store { known, log, path } = &mut store;
            self.workers.run(paper, &self.effort, known, |done| match log {
                Some(log) if done.is_experiment => keep(log, done.name, done.values).map_err(|error| Failure::at(path, error)),
                _ => Ok(()),
            })?;
            let claims = paper.claims_of(&real_filter, &store.known)?;
            let mut charts = Vec::new();
            for figure in paper.figures_of(&self.effort, &real_filter, &store.known)? {
                self.put(&format!("{}.csv", figure.name), figure.csv().as_bytes())?;
                let drawn = figure.charts().map_err(|error| Failure::new(format!("{}: {error}", figure.name)))?;
                for (name, svg) in &drawn {
                    self.put(&format!("{name}.svg"), svg.as_bytes())?;
                }
                files += 1 + drawn.len() as u64;
                charts.extend(drawn);
            }
            chapters.push(Chapter { paper, claims, charts });
        }
        let page = self.put("report.html", report(&chapters, &self.how).as_bytes())?;
        let claims: usize = chapters.iter().map(|chapter| chapter.claims.len()).sum();
        let mut out = crate::output::stdout();
        writeln!(out, "written: {} ({}) and {} with its figures", page.shown(), plural(claims as u64, "claim"), plural(files, "file"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns an error if the folder has files that `reproduce` did not write, because figures
    /// have plain names that might be those of such files.
    fn check_folder(&self) -> Result<(), Failure> {
        let others = "this folder has files that `reproduce` did not write; give --out a new folder, or an empty one";
        let mut entries = fs::read_dir(self.folder).map_err(|error| Failure::at(self.folder, error))?;
        let is_empty = entries.next().is_none();
        let has = |name: &str, mark: &str| {
            let path = self.folder.join(name);
            path.exists() && is_older(&path, mark, "").is_ok()
        };
        if is_empty || has("report.html", MARK) || has(EXPERIMENTS, LOG_MARK) { Ok(()) } else { Err(Failure::at(self.folder, others)) }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        crate::output::write_whole(&path, Expected::Anything, bytes)?;
        Ok(path)
    }
}

/// The threads that run experiments.
pub(super) struct Workers {
    threads: usize,
    no_progress: bool,
}

impl Workers {
    /// Uses this many threads, or as many as there are cores.
    pub(super) fn new(threads: Option<u64>, no_progress: bool) -> Workers {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Workers { threads: threads.map_or_else(cores, |threads| threads as usize), no_progress }
    }

    /// Runs the experiments whose results are not known yet, and calls `done` with each when it
    /// ends.
    pub(super) fn run(
        &self,
        paper: Paper,
        effort: &Effort,
        known: &mut Known,
        mut done: impl FnMut(&Done<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        const PARTS: f64 = 1e4;
        let mut progress = if self.no_progress { Progress::none() } else { Progress::of_parts(paper.name(), PARTS as u64) };
        let (mut shown, mut failure) = (0, None);
        paper.experiments(effort, &real_filter, known, self.threads, |ended| {
            let now = (ended.share * PARTS) as u64;
            progress.add(now.saturating_sub(shown));
            shown = shown.max(now);
            failure = failure.take().or(done(ended).err());
            failure.is_none()
        })?;
        failure.map_or(Ok(()), Err)
    }
}

fn keep(log: &mut File, name: &str, values: &[f64]) -> io::Result<()> {
    // This is a single write, so a stop during it leaves at most one incomplete line, at the end.
    log.write_all(format!("{}\n", json!({ "experiment": name, "values": values })).as_bytes())
}

const EXPERIMENTS: &str = "experiments.jsonl";

/// The finished experiments of a full run.
struct Store {
    path: PathBuf,
    known: Known,
    /// The log of a full run; `None` for a quick run, which ends soon.
    log: Option<File>,
}

impl Store {
    fn open(folder: &Path, keeps: bool) -> Result<Store, Failure> {
        let path = folder.join(EXPERIMENTS);
        if !keeps {
            return Ok(Store { path, known: Known::new(), log: None });
        }
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| Failure::at(&path, error))?,
        };
        // A line that was cut off by a stop is ignored, so its experiment runs again.
        let known: Known = text.lines().skip(1).filter_map(entry).collect();
        // Other versions may have different experiments with the same names.
        if text.lines().next().is_some_and(|first| first != version()) {
            return Err(Failure::at(
                &path,
                "these experiments were written by another version of this program, or are damaged; remove the file, or give --out another folder",
            ));
        }
        let mut log = File::options().create(true).append(true).open(&path).map_err(|error| Failure::at(&path, error))?;
        let start = if text.is_empty() { format!("{}\n", version()) } else { String::new() };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        log.write_all(format!("{end}{start}").as_bytes()).map_err(|error| Failure::at(&path, error))?;
        Ok(Store { path, known, log: Some(log) })
    }
}

/// The beginning of every log file.
const LOG_MARK: &str = "{\"truebloom\":";

/// The version of the log; its number is raised with every change to an experiment. The code that
/// uses the numbers in the log checks them.
fn version() -> String {
    json!({ "truebloom": env!("CARGO_PKG_VERSION"), "experiments": 2 }).to_string()
}

fn entry(line: &str) -> Option<(String, Vec<f64>)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let values = value.get("values")?.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
    Some((value.get("experiment")?.as_str()?.to_owned(), values))
}
