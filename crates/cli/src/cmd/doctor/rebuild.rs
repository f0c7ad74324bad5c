//! Advice on how to replace a damaged file.

use crate::cmd::create::looks_like_value;
use crate::failure::{Shown, for_shell};
use crate::records::Extraction;
use std::path::Path;
use truebloom::{FIRST_ITEMS, FileHeader, FileKind, HasherId, MAX_PROBES};
use truebloom_math::{Growth, Layout, Plan, SchemeId, Target};

/// What `rebuild` says if the header does not say how the filter was made.
const CREATE: &str = "or build the filter again from its data with `truebloom create`; give the options with which it was made, and those for reading its keys";

/// What to do with a file that may have been a filter.
pub(super) const FILTER_AGAIN: &str = "or, if the file was a filter: build it again from its data with `truebloom create`";

pub(super) fn replace(path: &Path) -> String {
    format!("replace {} with an intact copy", path.shown())
}

/// Returns advice on how to replace the file. `header` is its header, if that is undamaged.
pub(super) fn rebuild(path: &Path, header: Option<&FileHeader>) -> Vec<String> {
    let plain = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let otherwise: Vec<String> = match header.map(FileHeader::kind) {
        Some(FileKind::Bloom | FileKind::Blocked | FileKind::Scalable) => vec![create(path, header)],
        Some(FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked) => {
            plain(&["or remove the file: the next run of `truebloom dedup --state` then begins with an empty state"])
        }
        Some(FileKind::CountMin | FileKind::TwoHashCountMin) => plain(&["or count the data again with `truebloom count`"]),
        Some(FileKind::Pack) => plain(&["or make the file again with the program that made it"]),
        _ => plain(&[
            FILTER_AGAIN,
            "or, if the file was a state of `truebloom dedup`: remove it; the next run then begins with an empty state",
        ]),
    };
    std::iter::once(replace(path)).chain(otherwise).collect()
}

fn create(path: &Path, header: Option<&FileHeader>) -> String {
    match header.map(|header| (header, options(header))) {
        Some((header, _)) if header.is_intersection() => {
            "or make the intersection again from its filters with `truebloom merge --intersect`".to_owned()
        }
        Some((_, Some(options))) => {
            format!("or build the filter again from its data: truebloom create {options} --force {} DATA", as_filter(path))
        }
        _ => CREATE.to_owned(),
    }
}

/// The name of the filter as a word of the command. `create` can refuse a name that looks like the
/// value of an option, unless the folder is given, too.
fn as_filter(path: &Path) -> String {
    if looks_like_value(&path.to_string_lossy()) { for_shell(&Path::new(".").join(path)) } else { for_shell(path) }
}

/// The options of `create` that make the same filter from the same data. Returns `None` if the
/// header does not determine them: a filter of another program may have no plan, or a label with
/// another meaning, and without a label it is not known how keys were read.
fn options(header: &FileHeader) -> Option<String> {
    let (scheme, layout, positions) = match header.scheme_id()? {
        SchemeId::Standard => (SchemeId::Standard, Layout::Spread, String::new()),
        _ if header.kind() == FileKind::Blocked => (SchemeId::Standard, Layout::Lines, " --layout blocked".to_owned()),
        scheme => (scheme, Layout::Spread, format!(" --scheme {}", scheme.name())),
    };
    let keys = Extraction::of(Some(&header.label()?)).filter(Extraction::can_be_given)?;
    let size = match header.kind() {
        FileKind::Scalable => grow(&header.growth()?)?,
        _ => size(header, &Target::new().scheme(scheme).layout(layout))?,
    };
    let hash = match header.hasher_id()? {
        // The seed is secret, and would be in the shell's history and in the list of processes.
        HasherId::Sip13 => "--untrusted".to_owned(),
        _ => format!("--seed {}", header.seed()),
    };
    Some(format!("{size}{positions}{} {hash}", keys.options_if_any()))
}

/// The options for a filter that grows. Returns `None` if `create` never makes such layers.
fn grow(growth: &Growth) -> Option<String> {
    let (first, rate) = (growth.first(), growth.rate());
    let first_text = if first == FIRST_ITEMS { String::new() } else { format!("={first}") };
    (Growth::new(rate, first).ok()? == *growth).then(|| format!("--grow{first_text} -p {rate}"))
}

/// The shortest options with which `create` makes a filter of the same size.
fn size(header: &FileHeader, target: &Target) -> Option<String> {
    let (items, bits, probes) = (header.capacity()?, header.bits(), header.probes());
    if probes > MAX_PROBES {
        return None;
    }
    let target = target.clone().items(items);
    let (target, plan) = match header.rate() {
        Some(rate) => (target.rate(rate), format!("-n {items} -p {rate}")),
        None => (target, format!("-n {items}")),
    };
    let sized = target.clone().bits(bits);
    let exact = sized.clone().probes(probes);
    let searched = [(target, String::new()), (sized, format!(" -m {bits}"))];
    // For other schemes, the search for a size or for a number of probes takes too long.
    let is_fast = matches!(header.scheme_id(), Some(SchemeId::Standard | SchemeId::Blocked));
    let choices = searched.into_iter().filter(|_| is_fast).chain([(exact, format!(" -m {bits} -k {probes}"))]);
    // Some schemes have no guarantee for a single filter.
    let both = choices.flat_map(|(target, text)| [(target.clone(), text.clone()), (target.mean(), format!("{text} --mean"))]);
    let is_same = |target: &Target| Plan::new(target).is_ok_and(|plan| (plan.bits, plan.probes) == (bits, probes));
    both.into_iter().find(|(target, _)| is_same(target)).map(|(_, text)| format!("{plan}{text}"))
}
