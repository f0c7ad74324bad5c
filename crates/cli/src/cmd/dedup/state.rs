//! The state file: it is saved at intervals, completely or not at all, by one process at a time.

use super::Args;
use super::design::{Chosen, DEFAULT_RATE};
use super::filter::Filter;
use super::remember::time_text;
use crate::failure::Failure;
use crate::filters::Layout;
use crate::held::{Held, format_error};
use crate::lock::{check_name, check_no_stream, locked, replace, tell_unkept};
use crate::report::{bytes, plural, rate, rate_up};
use crate::stop;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use truebloom::file::check_target;
use truebloom::{FileError, FormatError, HasherId, Seed};

/// A locked state file. The lock is on the file itself. A new file is locked before it takes the
/// name of the old one, so that there is no moment without a lock.
pub(super) struct StateFile {
    path: PathBuf,
    /// The existing file; `None` for a new state until it is saved.
    locked: Option<File>,
}

impl StateFile {
    /// Locks the file and reads it, if it exists. Returns an error if another process holds the
    /// lock.
    pub(super) fn open(path: &Path) -> Result<(StateFile, Option<Filter>), Failure> {
        // From here on, a signal leaves no temporary file behind.
        stop::watch();
        check_name(path)?;
        check_no_stream(path)?;
        check_target(path).map_err(Failure::from)?;
        if !path.exists() {
            return Ok((StateFile { path: path.to_owned(), locked: None }, None));
        }
        let file = locked(path, "keeps its state in this file")?;
        if file.metadata().is_ok_and(|data| data.len() == 0) {
            return Err(Failure::at(path, "the file is empty, so it holds no state; remove it to begin a new one, or give another file"));
        }
        let filter = Filter::from_bytes(Held::open(path)?.as_ref()).map_err(|cause| match cause {
            FormatError::NotAFilter { .. } => {
                Failure::at(path, "this is not a truebloom file; to begin a new state, give the name of a file that does not exist yet")
            }
            cause => format_error(path, cause).into(),
        })?;
        Ok((StateFile { path: path.to_owned(), locked: Some(file) }, Some(filter)))
    }

    /// Replaces the file completely or not at all, even if the power fails.
    pub(super) fn save(&mut self, filter: &Filter) -> Result<(), Failure> {
        let _shield = stop::shield();
        let (file, unkept) = replace(&self.path, self.locked.as_ref(), |file| filter.write_to(file)).map_err(|error| match error {
            FileError::Exists { .. } => {
                Failure::at(&self.path, "another process has just created this file for its own state; give another file")
            }
            error => Failure::new(format_args!("cannot save the state: {}", Failure::from(error).message())),
        })?;
        crate::output::now_saved(&self.path);
        // This is reported only once, because later files take over the properties of this one.
        tell_unkept(&self.path, &unkept);
        self.locked = Some(file);
        Ok(())
    }
}

/// Saves a state when it is due and has changed.
pub(super) struct Saver {
    file: Option<StateFile>,
    interval: Duration,
    last: Instant,
    /// The number of offered lines when the state was last saved.
    offered: u64,
}

impl Saver {
    /// A saver for runs without a state file.
    pub(super) fn none() -> Saver {
        Saver { file: None, interval: Duration::ZERO, last: Instant::now(), offered: 0 }
    }

    /// Makes a saver that saves at this interval. The saver assumes that the file already contains
    /// `filter` as it is.
    pub(super) fn every(interval: Duration, file: StateFile, filter: &Filter) -> Saver {
        Saver { file: Some(file), interval, last: Instant::now(), offered: filter.stats().offered }
    }

    /// The time of the next save.
    pub(super) fn due(&self) -> Option<Instant> {
        self.file.as_ref().and_then(|_| self.last.checked_add(self.interval))
    }

    pub(super) fn save(&mut self, filter: &Filter) -> Result<(), Failure> {
        let offered = filter.stats().offered;
        if let Some(file) = &mut self.file
            && offered != self.offered
        {
            file.save(filter)?;
        }
        (self.last, self.offered) = (Instant::now(), offered);
        Ok(())
    }

    /// Saves the state at the end of the run.
    pub(super) fn finish(mut self, filter: &Filter) -> Result<(), Failure> {
        self.save(filter)
    }
}

/// If only a rate is given, returns an error for a state that does not meet this rate.
fn check_rate(path: &Path, there: &Chosen, asked: &Chosen) -> Result<(), Failure> {
    let (run, phases) = (there.design.long_run()?, there.design.phases());
    let kept = if phases > 1 { run.worst } else { run.fpr };
    // The rate per line, which has as many look-ups as entries.
    let kept = kept.upper * there.entries as f64;
    match asked.rate.filter(|asked| kept > asked.to_f64()) {
        Some(asked) => Err(Failure::at(
            path,
            format_args!(
                "this state was made for a rate of {}, above the {asked} given with -p; omit -p to continue with this file, or give another file",
                rate_up(kept, 4)
            ),
        )),
        None => Ok(()),
    }
}

/// The parts as a list: `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, others @ [_, ..])) => format!("{} and {last}", others.join(", ")),
        _ => parts.concat(),
    }
}

/// Returns an error for a state that was made with other parameters than those given.
pub(super) fn check_same(path: &Path, filter: &Filter, there: &Chosen, asked: &Chosen, args: &Args) -> Result<(), Failure> {
    let (sized, phased) = (args.sizing.asks_size(), args.sizing.asks_phases());
    if args.sizing.asks_rate() && !sized {
        check_rate(path, there, asked)?;
    }
    let layout = args.sizing.layout().unwrap_or(asked.design.layout());
    let hasher = filter.hasher().hasher_id();
    let asked_hasher = if args.untrusted { HasherId::Sip13 } else { hasher };
    let both = |what: &dyn Fn(&Chosen) -> String| (what(there), what(asked));
    let layout_text = |layout: Layout| format!("the {} layout", layout.name());
    let age = |age: Option<Duration>| age.map_or("no time for --remember".to_owned(), |age| format!("--remember {}", time_text(age)));
    let hasher_text = |hasher: HasherId| {
        let option = if hasher == HasherId::Sip13 { "--untrusted" } else { "no --untrusted" };
        format!("the hash function {hasher} ({option})")
    };
    let seed_text = |seed: Seed| format!("the seed {seed}");
    let has_other_seed = args.seed.is_some_and(|seed| seed != filter.seed());
    // Who knows the seed of an untrusted state can choose keys that pass.
    let own_seed = if hasher == HasherId::Sip13 && has_other_seed { "a secret seed".to_owned() } else { seed_text(filter.seed()) };
    // The recycle threshold is shown as the rate that follows from it.
    let worst = |chosen: &Chosen| chosen.design.long_run().map(|run| format!("a rate of {} when full", rate(run.worst.value, 4)));
    let rates = (worst(there)?, worst(asked)?);
    let has_assumed_rate = sized && !args.sizing.asks_rate() && rates.0 != rates.1;
    // If no size was requested, sizes are not compared.
    let parameters = [
        (sized || phased || args.sizing.layout().is_some(), (layout_text(there.design.layout()), layout_text(layout))),
        (sized || phased, both(&|chosen| plural(chosen.design.phases(), "phase"))),
        (sized, both(&|chosen| format!("{} of memory", bytes(chosen.bytes())))),
        (sized, both(&|chosen| plural(chosen.design.probes().into(), "probe"))),
        (sized, rates),
        (sized || phased, both(&|chosen| age(chosen.age))),
        (true, (hasher_text(hasher), hasher_text(asked_hasher))),
        (has_other_seed, (own_seed, seed_text(args.seed.unwrap_or(filter.seed())))),
    ];
    let (in_state, in_options): (Vec<String>, Vec<String>) =
        parameters.into_iter().filter(|(is_asked, (there, asked))| *is_asked && there != asked).map(|(_, both)| both).unzip();
    let same_limits = !sized
        || (there.design.bits(), there.design.sigma(), there.design.limit().map(f64::to_bits))
            == (asked.design.bits(), asked.design.sigma(), asked.design.limit().map(f64::to_bits));
    if in_state.is_empty() && same_limits {
        return Ok(());
    }
    if in_state.is_empty() {
        return Err(Failure::at(
            path,
            "the size of this state differs slightly from the requested size (too little to show in the printed digits); omit the size options to continue with this file, or give another file",
        ));
    }
    let assumed = if has_assumed_rate { format!(" (-p is not given, so it is {DEFAULT_RATE})") } else { String::new() };
    Err(Failure::at(
        path,
        format_args!(
            "the options of this run do not fit this state: it was made with {}, but the options give {}{assumed}; omit these options to continue with this state, or give another file",
            listed(&in_state),
            listed(&in_options)
        ),
    ))
}
