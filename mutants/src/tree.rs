//! Makes a copy of the source tree with faults.

use crate::candidates::{self, Candidate};
use crate::plant::{Planted, plant};
use crate::sample::{Random, quotas};
use crate::{Failure, GROUPS, outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that get faults. Each crate gets a module `mutant`.
const CRATES: [&str; 2] = ["crates/math", "crates/filter"];
/// The number of candidates per wanted mutant. It is above 1, because some candidates do not
/// compile.
const SPARE: usize = 2;
const LEAST_OF_A_GROUP: usize = 25;

pub struct Mutant {
    pub number: u32,
    pub group: usize,
    pub file: String,
    pub fault: Candidate,
}

/// Copies every file that git tracks or would add, except `mutants/`. Files that are equal in the
/// copy are not written again.
pub fn copy(from: &Path, to: &Path) -> outcome::Result<()> {
    let listed = Command::new("git").arg("-C").arg(from).args(["ls-files", "-co", "--exclude-standard", "-z"]).output()?;
    let mut copied = BTreeSet::new();
    for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        if from.join(name).is_file() && !name.starts_with("mutants/") {
            write(&to.join(name), &std::fs::read(from.join(name))?)?;
            copied.insert(to.join(name));
        }
    }
    std::fs::create_dir_all(to)?;
    remove_others(to, &copied)?;
    for name in CRATES {
        let library = to.join(name).join("src/lib.rs");
        let text = std::fs::read_to_string(&library)?;
        write(&library, format!("{text}\nmod mutant;\n").as_bytes())?;
        write(&to.join(name).join("src/mutant.rs"), include_bytes!("../mutant.rs"))?;
    }
    // A fault can cause a warning, which must not stop the build.
    let manifest = to.join("Cargo.toml");
    let lints = ["arithmetic_overflow", "unconditional_panic", "overflowing_literals", "unused_parens", "unused_braces", "unused_must_use"];
    let lints: String = lints.iter().map(|lint| format!("{lint} = \"allow\"\n")).collect();
    let text = std::fs::read_to_string(&manifest)?.replace("[workspace.lints.rust]\n", &format!("[workspace.lints.rust]\n{lints}"));
    write(&manifest, text.as_bytes())
}

/// Copies the files to another folder. Equal files keep their modification times, so that cargo
/// builds only what has changed.
pub fn mirror(from: &Path, to: &Path) -> outcome::Result<()> {
    let mut copied = BTreeSet::new();
    let mut folders = vec![from.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let copy = to.join(path.strip_prefix(from)?);
                write(&copy, &std::fs::read(&path)?)?;
                copied.insert(copy);
            }
        }
    }
    remove_others(to, &copied)
}

/// Removes files of an earlier copy that the tree no longer has.
fn remove_others(folder: &Path, copied: &BTreeSet<PathBuf>) -> outcome::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, copied)?;
        } else if !copied.contains(&path) && !path.ends_with("src/mutant.rs") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Writes a file, unless it already has these contents. Cargo decides by the modification time
/// whether to build again.
fn write(path: &Path, bytes: &[u8]) -> outcome::Result<()> {
    if std::fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    std::fs::create_dir_all(path.parent().ok_or_else(|| Failure::new("a file at the root"))?)?;
    Ok(std::fs::write(path, bytes)?)
}

/// The candidates of each group, in random order.
pub fn candidates(tree: &Path, seed: u64) -> outcome::Result<Vec<Vec<(String, Candidate)>>> {
    let mut random = Random(seed);
    let mut groups = Vec::new();
    for (name, places) in GROUPS {
        let mut files = Vec::new();
        for place in places {
            rust_files(tree, &tree.join(place), &mut files)?;
        }
        files.sort();
        let mut found = Vec::new();
        for file in files {
            let source = std::fs::read_to_string(tree.join(&file))?;
            let candidates = candidates::find(&source).map_err(|error| Failure::new(&format!("{file}: {error}")))?;
            found.extend(candidates.into_iter().map(|candidate| (file.clone(), candidate)));
        }
        if found.is_empty() {
            return Err(Failure::new(&format!("no place for a fault in {name}: has a file moved?")));
        }
        random.shuffle(&mut found);
        groups.push(found);
    }
    Ok(groups)
}

fn rust_files(tree: &Path, path: &Path, files: &mut Vec<String>) -> outcome::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            rust_files(tree, &entry?.path(), files)?;
        }
    } else if path.is_file() {
        let name = path.strip_prefix(tree)?.to_string_lossy().into_owned();
        if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            files.push(name);
        }
    } else {
        return Err(Failure::new(&format!("{} is not there", path.display())));
    }
    Ok(())
}

/// Chooses this many mutants that compile, numbered from 1.
pub fn choose(tree: &Path, build: &Path, groups: Vec<Vec<(String, Candidate)>>, count: usize) -> outcome::Result<Vec<Mutant>> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let wanted = quotas(&sizes, count, LEAST_OF_A_GROUP);
    for ((name, _), (size, wanted)) in GROUPS.iter().zip(sizes.iter().zip(&wanted)) {
        eprintln!("{name}: {wanted} of {size} candidates");
    }
    let mut mutants = Vec::new();
    for (group, (candidates, wanted)) in groups.into_iter().zip(&wanted).enumerate() {
        for (file, fault) in candidates.into_iter().take(wanted * SPARE + 5) {
            mutants.push(Mutant { number: mutants.len() as u32 + 1, group, file, fault });
        }
    }
    let originals = originals(tree, &mutants)?;
    loop {
        let planted = plant_all(tree, &originals, &mutants)?;
        let refused = crate::cargo::refused(tree, build, &planted)?;
        if refused.is_empty() {
            break;
        }
        eprintln!("{} faults do not compile: {refused:?}", refused.len());
        mutants.retain(|mutant| !refused.contains(&mutant.number));
    }
    let mut left = wanted;
    mutants.retain(|mutant| {
        let taken = left[mutant.group] > 0;
        left[mutant.group] -= usize::from(taken);
        taken
    });
    mutants.sort_by(|a, b| (a.group, &a.file, a.fault.place.start).cmp(&(b.group, &b.file, b.fault.place.start)));
    for (i, mutant) in mutants.iter_mut().enumerate() {
        mutant.number = i as u32 + 1;
    }
    plant_all(tree, &originals, &mutants)?;
    Ok(mutants)
}

fn originals(tree: &Path, mutants: &[Mutant]) -> outcome::Result<BTreeMap<String, String>> {
    let mut originals = BTreeMap::new();
    for mutant in mutants {
        if !originals.contains_key(&mutant.file) {
            originals.insert(mutant.file.clone(), std::fs::read_to_string(tree.join(&mutant.file))?);
        }
    }
    Ok(originals)
}

/// The place of each fault in its file.
pub type Places = BTreeMap<String, Vec<Planted>>;

fn plant_all(tree: &Path, originals: &BTreeMap<String, String>, mutants: &[Mutant]) -> outcome::Result<Places> {
    let mut places = Places::new();
    for (file, source) in originals {
        let faults: Vec<_> = mutants.iter().filter(|mutant| mutant.file == *file).map(|mutant| (mutant.number, &mutant.fault)).collect();
        let (text, planted) = plant(source, &faults);
        write(&tree.join(file), text.as_bytes())?;
        places.insert(file.clone(), planted);
    }
    Ok(places)
}
