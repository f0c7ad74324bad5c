//! Runs cargo, and reads its messages.

use crate::Failure;
use crate::outcome;
use crate::tree::Places;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An executable of tests.
pub struct Binary {
    pub path: PathBuf,
    /// The name in reports: package and target.
    pub name: String,
    pub folder: PathBuf,
}

impl Binary {
    fn package(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

fn messages(tree: &Path, build: &Path, arguments: &[&str]) -> outcome::Result<(bool, Vec<Value>)> {
    let output = Command::new("cargo")
        .args(arguments)
        .args(["--message-format", "json", "--quiet"])
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", build)
        .env("CARGO_PROFILE_TEST_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .stderr(Stdio::inherit())
        .output()?;
    let lines = String::from_utf8(output.stdout)?;
    let messages = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok((output.status.success(), messages))
}

/// The faults for which the compiler reports an error.
pub fn refused(tree: &Path, build: &Path, places: &Places) -> outcome::Result<BTreeSet<u32>> {
    let (passed, messages) = messages(tree, build, &["check", "-p", "truebloom-math", "-p", "truebloom"])?;
    let mut refused = BTreeSet::new();
    if passed {
        return Ok(refused);
    }
    let mut unexplained = String::new();
    for message in messages.iter().filter(|message| message["message"]["level"] == "error") {
        let spans = message["message"]["spans"].as_array().cloned().unwrap_or_default();
        if spans.is_empty() {
            continue;
        }
        let (primary, others): (Vec<_>, Vec<_>) = spans.iter().partition(|span| span["is_primary"] == true);
        let hit = [primary, others].iter().find_map(|spans| spans.iter().find_map(|span| innermost(span, places)));
        match hit.or_else(|| spans.iter().find_map(|span| nearest(span, places))) {
            Some(number) => drop(refused.insert(number)),
            None => unexplained.push_str(message["message"]["rendered"].as_str().unwrap_or("an error without a text\n")),
        }
    }
    if refused.is_empty() {
        return Err(Failure::new(&format!("the tree does not compile, and no fault is to blame:\n{unexplained}")));
    }
    Ok(refused)
}

fn span(span: &Value) -> Option<(&str, usize, usize)> {
    Some((span["file_name"].as_str()?, span["byte_start"].as_u64()? as usize, span["byte_end"].as_u64()? as usize))
}

fn innermost(at: &Value, places: &Places) -> Option<u32> {
    let (file, start, end) = span(at)?;
    let over = places.get(file)?.iter().filter(|fault| fault.place.start < end && start < fault.place.end);
    over.min_by_key(|fault| fault.place.len()).map(|fault| fault.number)
}

fn nearest(at: &Value, places: &Places) -> Option<u32> {
    let (file, start, _) = span(at)?;
    places.get(file)?.iter().min_by_key(|fault| fault.place.start.abs_diff(start)).map(|fault| fault.number)
}

/// Builds the tests of these packages.
pub fn tests(tree: &Path, build: &Path, packages: &[&str]) -> outcome::Result<Vec<Binary>> {
    let mut arguments = vec!["test", "--no-run"];
    for package in packages {
        arguments.extend(["-p", package]);
    }
    let (passed, messages) = messages(tree, build, &arguments)?;
    if !passed {
        let errors: String = messages.iter().filter_map(|message| message["message"]["rendered"].as_str()).collect();
        return Err(Failure::new(&format!("the tests do not compile:\n{errors}")));
    }
    let mut binaries = Vec::new();
    for message in messages.iter().filter(|message| message["profile"]["test"] == true) {
        if let (Some(path), Some(manifest)) = (message["executable"].as_str(), message["manifest_path"].as_str()) {
            let folder = Path::new(manifest).parent().unwrap_or(tree).to_owned();
            let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let target = message["target"]["name"].as_str().unwrap_or_default();
            binaries.push(Binary { path: path.into(), name: format!("{package}/{target}"), folder });
        }
    }
    // The tests of the first packages come first, because these packages have most of the faults.
    binaries.sort_by_key(|binary| {
        (packages.iter().position(|package| package.ends_with(binary.package())).unwrap_or(packages.len()), binary.name.clone())
    });
    Ok(binaries)
}
