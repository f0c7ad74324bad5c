//! What is known survives: saved at intervals, whole or not at all, by one process at a time.

use super::Args;
use super::design::{Chosen, Designed};
use super::filter::Filter;
use super::remember::time_text;
use crate::failure::Failure;
use crate::lock::is_at;
use fs4::{FileExt, TryLockError};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use truebloom::HasherId;

/// A state file, locked. The lock is on the file itself: the next one is locked before it takes the name, so that there is no moment without.
pub(super) struct StateFile {
    path: PathBuf,
    /// As it was given.
    name: PathBuf,
    /// Where the next one is written. Always the same name, so that processes that are killed leave no more than one.
    next: PathBuf,
    /// The file at `path`; before there is one, that at `next`.
    locked: File,
    is_new: bool,
}

impl StateFile {
    /// Locks the file and reads it, if there is one. Whoever else holds it is an error.
    pub(super) fn open(path: &Path) -> Result<(StateFile, Option<Filter>), Failure> {
        let name = path;
        // A link is followed, so that it and what it leads to are one state.
        let path = std::fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        let last = path.file_name().ok_or_else(|| Failure::at(name, "is not the name of a file"))?;
        let mut next = std::ffi::OsString::from(".truebloom-");
        next.push(last);
        let next = path.with_file_name(next);
        loop {
            match OpenOptions::new().read(true).write(true).open(&path) {
                Ok(locked) => {
                    try_lock(&locked, name)?;
                    if !is_at(&locked, &path).map_err(|error| cannot_write(name, error))? {
                        continue;
                    }
                    let filter = Filter::open(name).map_err(Failure::new)?;
                    return Ok((StateFile { path, name: name.to_owned(), next, locked, is_new: false }, Some(filter)));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let locked = open_next(&next).map_err(|error| cannot_write(name, error))?;
                    try_lock(&locked, name)?;
                    let is_ours = is_at(&locked, &next).unwrap_or(false) && !path.exists();
                    if is_ours {
                        return Ok((StateFile { path, name: name.to_owned(), next, locked, is_new: true }, None));
                    }
                }
                Err(error) => return Err(cannot_write(name, error)),
            }
        }
    }

    /// Replaces the file, whole or not at all, also if the power fails.
    pub(super) fn save(&mut self, filter: &Filter) -> Result<(), Failure> {
        self.replace(filter).map_err(|error| {
            // Half a state is worth nothing; ours is still there.
            let _ = std::fs::remove_file(&self.next);
            cannot_write(&self.name, error)
        })
    }

    fn replace(&mut self, filter: &Filter) -> io::Result<()> {
        let mut file = if self.is_new { self.locked.try_clone()? } else { self.lock_next()? };
        file.set_len(0)?;
        file.rewind()?;
        filter.write_to(&file)?;
        if let Ok(old) = std::fs::metadata(&self.path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        std::fs::rename(&self.next, &self.path)?;
        (self.locked, self.is_new) = (file, false);
        sync_folder(&self.path)
    }

    /// The next file, locked. A process that is just starting may hold it for a moment, until it sees ours.
    fn lock_next(&self) -> io::Result<File> {
        loop {
            let file = open_next(&self.next)?;
            // Some network file systems know no locks.
            let _ = FileExt::lock(&file);
            if is_at(&file, &self.next).unwrap_or(false) {
                return Ok(file);
            }
        }
    }
}

fn open_next(next: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(next)
}

fn try_lock(file: &File, path: &Path) -> Result<(), Failure> {
    match FileExt::try_lock(file) {
        Err(TryLockError::WouldBlock) => {
            Err(Failure::at(path, "another process keeps its state there; wait until it has finished, or give another file"))
        }
        // Some network file systems know no locks; nobody would be served by not working there.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn cannot_write(path: &Path, error: io::Error) -> Failure {
    Failure::new(format_args!("cannot keep the state in {}: {error}; make room, or give another file", path.display()))
}

/// The new name is on the disk only once its folder is.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Saves a state when it is due and has changed.
pub(super) struct Saver {
    file: Option<StateFile>,
    interval: Duration,
    last: Instant,
    /// What had been offered when it was saved.
    offered: u64,
}

impl Saver {
    /// Nothing to save to.
    pub(super) fn none() -> Saver {
        Saver { file: None, interval: Duration::ZERO, last: Instant::now(), offered: 0 }
    }

    /// The filter is in the file already.
    pub(super) fn every(interval: Duration, file: StateFile, filter: &Filter) -> Saver {
        Saver { file: Some(file), interval, last: Instant::now(), offered: filter.stats().offered }
    }

    /// When to save next.
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

    /// Saves for the last time.
    pub(super) fn finish(mut self, filter: &Filter) -> Result<(), Failure> {
        self.save(filter)
    }
}

/// Refuses a state that was made with other parameters than those asked for.
pub(super) fn check_same(path: &Path, filter: &Filter, chosen: &Chosen, args: &Args) -> Result<(), Failure> {
    let (there, asked) = (&Chosen::of(filter)?, chosen);
    let layout = args.sizing.layout().unwrap_or(asked.design.layout());
    let hasher = filter.hasher().hasher_id();
    let asked_hasher = if args.untrusted { HasherId::Sip13 } else { hasher };
    let both = |what: &dyn Fn(&Chosen) -> String| (what(there), what(asked));
    let age = |age: Option<Duration>| age.map_or("none".to_owned(), time_text);
    let mut parameters = vec![
        ("layout", (there.design.layout().name().to_owned(), layout.name().to_owned())),
        ("phases", both(&|chosen| chosen.design.phases().to_string())),
        ("bits a phase", both(&|chosen| chosen.design.bits().to_string())),
        ("probes", both(&|chosen| chosen.design.probes().to_string())),
    ];
    // Each has its own measure of what is full.
    match (&there.design, &asked.design) {
        (Designed::Standard(there), Designed::Standard(asked)) => {
            parameters.push(("set bits at most", (there.sigma().to_string(), asked.sigma().to_string())));
        }
        (Designed::Blocked(there), Designed::Blocked(asked)) => {
            parameters.push(("rate at most", (there.limit().to_string(), asked.limit().to_string())));
        }
        _ => {}
    }
    parameters.extend([
        ("age", both(&|chosen| age(chosen.age))),
        ("hasher", (hasher.to_string(), asked_hasher.to_string())),
        ("seed", (filter.seed().to_string(), args.seed.unwrap_or(filter.seed()).to_string())),
    ]);
    let differences: Vec<String> = parameters
        .into_iter()
        .filter(|(_, (there, asked))| there != asked)
        .map(|(name, (there, asked))| format!("{name} {there}, asked {asked}"))
        .collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::at(
        path,
        format_args!(
            "was made with other parameters: {}; leave these options out to go on with it, or give another file",
            differences.join("; ")
        ),
    ))
}
