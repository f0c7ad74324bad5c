//! Advice on how to replace a damaged file.

use crate::failure::{Shown, for_shell};
use crate::records::Extraction;
use std::path::Path;
use truebloom::{FileHeader, FileKind, HasherId};
use truebloom_math::{Layout, Plan, SchemeId, Target};

/// What `rebuild` says if the header does not say how the filter was made.
const CREATE: &str = "or build the filter again from its data with `truebloom create`";

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
    match header.and_then(options) {
        Some(options) => {
            format!("or build the filter again from its data: truebloom create {options} --force {} DATA", for_shell(path))
        }
        None => CREATE.to_owned(),
    }
}

/// The options of `create` that make the same filter from the same data. Returns `None` if the
/// header does not determine them: a filter of another program may have no plan, or a label with
/// another meaning.
fn options(header: &FileHeader) -> Option<String> {
    let (scheme, layout, positions) = match header.scheme_id()? {
        SchemeId::Standard => (SchemeId::Standard, Layout::Spread, String::new()),
        _ if header.kind() == FileKind::Blocked => (SchemeId::Standard, Layout::Lines, " --layout blocked".to_owned()),
        scheme => (scheme, Layout::Spread, format!(" --scheme {}", scheme.name())),
    };
    let size = match header.kind() {
        FileKind::Scalable => format!("--grow -p {}", header.rate()?),
        _ => size(header, &Target::new().scheme(scheme).layout(layout))?,
    };
    let hasher = if header.hasher_id()? == HasherId::Sip13 { " --untrusted" } else { "" };
    let keys = match header.label() {
        Some(label) => Extraction::of(Some(&label))?.options_if_any(),
        None => String::new(),
    };
    Some(format!("{size}{positions}{hasher}{keys} --seed {}", header.seed()))
}

/// The shortest options with which `create` makes a filter of the same size.
fn size(header: &FileHeader, target: &Target) -> Option<String> {
    let (items, bits, probes) = (header.capacity()?, header.bits(), header.probes());
    let target = target.clone().items(items);
    let (target, plan) = match header.rate() {
        Some(rate) => (target.rate(rate), format!("-n {items} -p {rate}")),
        None => (target, format!("-n {items}")),
    };
    let sized = target.clone().bits(bits);
    let exact = sized.clone().probes(probes);
    let choices = [(target, String::new()), (sized, format!(" -m {bits}")), (exact, format!(" -m {bits} -k {probes}"))];
    // Some schemes have no guarantee for a single filter.
    let both = choices.into_iter().flat_map(|(target, text)| [(target.clone(), text.clone()), (target.mean(), format!("{text} --mean"))]);
    let is_same = |target: &Target| Plan::new(target).is_ok_and(|plan| (plan.bits, plan.probes) == (bits, probes));
    both.into_iter().find(|(target, _)| is_same(target)).map(|(_, text)| format!("{plan}{text}"))
}
