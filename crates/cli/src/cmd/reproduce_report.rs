//! `truebloom reproduce --out`: every figure as a picture and as numbers, and all claims in one
//! page. Long experiments are kept as they end, so that a run that was stopped goes on.

use super::reproduce::real_filter;
use crate::failure::Failure;
use crate::plots::is_older;
use crate::progress::Progress;
use crate::report::plural;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::file::Expected;
use truebloom_reproduce::{Chapter, Effort, Known, MARK, Paper, report};

pub(super) struct Report<'a> {
    pub(super) papers: Vec<Paper>,
    pub(super) effort: Effort,
    pub(super) full: bool,
    pub(super) folder: &'a Path,
    pub(super) no_progress: bool,
    pub(super) threads: Option<u64>,
    /// How it was made, in words.
    pub(super) how: String,
}

impl Report<'_> {
    pub(super) fn write(&self) -> Result<ExitCode, Failure> {
        fs::create_dir_all(self.folder).map_err(|error| Failure::at(self.folder, error))?;
        self.check_folder()?;
        let mut store = Store::open(self.folder, self.full)?;
        let mut chapters = Vec::new();
        let mut files = 0;
        for &paper in &self.papers {
            self.experiments(paper, &mut store)?;
            let claims = paper.claims_of(&real_filter)?;
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
        writeln!(out, "written: {} ({}) and {} with its figures", page.display(), plural(claims as u64, "claim"), plural(files, "file"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Figures are written under plain names: a folder with files of others is left alone.
    fn check_folder(&self) -> Result<(), Failure> {
        let others = "it has files that `reproduce` did not write; give --out a new folder, or an empty one";
        if self.folder.join(EXPERIMENTS).exists() {
            return Ok(());
        }
        let mut entries = fs::read_dir(self.folder).map_err(|error| Failure::at(self.folder, error))?;
        let is_empty = entries.next().is_none();
        let page = self.folder.join("report.html");
        if is_empty || (page.exists() && is_older(&page, MARK, "").is_ok()) { Ok(()) } else { Err(Failure::at(self.folder, others)) }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        crate::output::write_whole(&path, Expected::Anything, bytes)?;
        Ok(path)
    }

    /// What is not known yet, kept as it ends.
    fn experiments(&self, paper: Paper, store: &mut Store) -> Result<(), Failure> {
        const PARTS: f64 = 1e4;
        let threads = match self.threads {
            Some(threads) => threads as usize,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let mut progress = if self.no_progress { Progress::none() } else { Progress::of_parts(paper.name(), PARTS as u64) };
        let (mut shown, mut failure) = (0, None);
        let Store { known, log, .. } = store;
        paper.experiments(&self.effort, &real_filter, known, threads, |done| {
            let now = (done.share * PARTS) as u64;
            progress.add(now.saturating_sub(shown));
            shown = shown.max(now);
            failure = log.as_mut().and_then(|log| keep(log, done.name, done.values).err());
            failure.is_none()
        })?;
        match failure {
            Some(error) => Err(Failure::at(&store.path, error)),
            None => Ok(()),
        }
    }
}

fn keep(log: &mut File, name: &str, values: &[f64]) -> io::Result<()> {
    // One write, so that a stop in between leaves at most one broken line, the last.
    log.write_all(format!("{}\n", json!({ "experiment": name, "values": values })).as_bytes())
}

const EXPERIMENTS: &str = "experiments.jsonl";

/// The experiments of a full run that have ended.
struct Store {
    path: PathBuf,
    known: Known,
    /// None for a quick run, which ends soon anyway.
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
        // What was cut off by a stop counts as not done.
        let known: Known = text.lines().skip(1).filter_map(entry).collect();
        // Other versions may have experiments of the same names that are others.
        if text.lines().next().is_some_and(|first| first != version()) {
            return Err(Failure::at(
                &path,
                "these experiments are of another version of this program, or damaged; remove the file, or give --out another folder",
            ));
        }
        let mut log = File::options().create(true).append(true).open(&path).map_err(|error| Failure::at(&path, error))?;
        let start = if text.is_empty() { format!("{}\n", version()) } else { String::new() };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        log.write_all(format!("{end}{start}").as_bytes()).map_err(|error| Failure::at(&path, error))?;
        Ok(Store { path, known, log: Some(log) })
    }
}

fn version() -> String {
    json!({ "truebloom": env!("CARGO_PKG_VERSION"), "experiments": 1 }).to_string()
}

fn entry(line: &str) -> Option<(String, Vec<f64>)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let values = value.get("values")?.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
    Some((value.get("experiment")?.as_str()?.to_owned(), values))
}
