//! The filters that are queried, and how their answers are combined.

use super::Args;
use crate::failure::Failure;
use crate::filters;
use crate::held::{self, Looked, Viewed};
use crate::records::{Answers, Batch, Extraction, is_filter};
use std::path::{Path, PathBuf};
use truebloom::PortableHasher;

/// How the answers of several filters are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
    /// Selects records that are in at least one filter.
    Any,
    /// Selects records that are in all filters.
    All,
    /// Selects records that are in at least one filter, and prints the names of these filters.
    Each,
}

/// The filters with their names.
pub(super) struct Asked {
    pub(super) filters: Vec<(PathBuf, Viewed)>,
    /// Filters with the same hasher, so that keys are hashed once for all of them.
    families: Vec<(PortableHasher, Vec<usize>)>,
    pub(super) together: Option<Together>,
    invert: bool,
}

impl Asked {
    /// Opens the filters; the remaining arguments are the inputs.
    pub(super) fn open(args: &Args) -> Result<(Asked, &[PathBuf]), Failure> {
        let together = [(args.any, Together::Any), (args.all, Together::All), (args.each, Together::Each)];
        let together = together.into_iter().find(|(asked, _)| *asked).map(|(_, together)| together);
        let more = args.inputs.iter().take_while(|input| is_filter(input)).count();
        let first = filters::open_for(&args.filter, &args.inputs, held::view)?;
        let (more, inputs) = args.inputs.split_at(if together.is_some() { more } else { 0 });
        if let Some(filter) = inputs.iter().find(|input| is_filter(input)) {
            return Err(Failure::at(
                filter,
                if together.is_some() {
                    "is a filter, but comes after an input; name the filters first"
                } else {
                    "is a filter, but lines are expected here; to query several filters, add --any, --all or --each"
                },
            ));
        }
        let mut asked = Asked { filters: Vec::new(), families: Vec::new(), together, invert: args.invert_match };
        asked.add(&args.filter, first);
        for path in more {
            asked.add(path, held::view(path)?);
        }
        Ok((asked, inputs))
    }

    fn add(&mut self, path: &Path, filter: Viewed) {
        let (hasher, index) = (*filter.hasher(), self.filters.len());
        match self.families.iter_mut().find(|(other, _)| *other == hasher) {
            Some((_, family)) => family.push(index),
            None => self.families.push((hasher, vec![index])),
        }
        self.filters.push((path.to_owned(), filter));
    }

    /// The file names of the filters.
    pub(super) fn names(&self) -> Vec<&Path> {
        self.filters.iter().map(|(path, _)| path.as_path()).collect()
    }

    /// How each filter's keys were extracted.
    pub(super) fn extractions(&self) -> Vec<(&Path, Option<Extraction>)> {
        self.filters.iter().map(|(path, filter)| (path.as_path(), Extraction::of(filter.label()))).collect()
    }

    /// Looks keys up and determines which of them are selected; with [`Together::Each`], also by
    /// which filter.
    pub(super) fn answer(&self, batch: Batch<'_>, answers: &mut Answers) {
        if let [(_, only)] = self.filters.as_slice() {
            answers.look_up(batch, only);
        } else {
            answers.each.resize_with(self.filters.len(), Vec::new);
            answers.each.iter_mut().for_each(Vec::clear);
            for (hasher, family) in &self.families {
                answers.look_up_all(batch, *hasher, family.iter().map(|index| (*index, &self.filters[*index].1)));
            }
            self.combine(answers);
        }
        if self.together == Some(Together::Each) {
            self.tell_each(batch, answers);
        } else if self.invert {
            invert_first(&mut answers.contained, batch.len());
        }
    }

    fn combine(&self, answers: &mut Answers) {
        let Answers { contained, each, .. } = answers;
        contained.clear();
        let words = each.first().map_or(0, Vec::len);
        contained.extend((0..words).map(|i| {
            let words = each.iter().map(|words| words[i]);
            if self.together == Some(Together::All) {
                words.fold(u64::MAX, |all, word| all & word)
            } else {
                words.fold(0, |any, word| any | word)
            }
        }));
    }

    /// Determines the answers of all filters, inverted if requested; a record is selected if any
    /// filter selects it.
    fn tell_each(&self, batch: Batch<'_>, answers: &mut Answers) {
        if self.filters.len() == 1 {
            answers.each = vec![answers.contained.clone()];
        }
        if self.invert {
            answers.each.iter_mut().for_each(|words| invert_first(words, batch.len()));
        }
        self.combine(answers);
    }

    /// An upper bound on the present rate at which keys that were not inserted are found, and
    /// whether the bound is exact. This reads all bits of the filters once.
    pub(super) fn rate(&self) -> Result<(f64, bool), Failure> {
        let filters = self.filters.iter().map(|(path, filter)| held::look_closer(path, filter)).collect::<Result<Vec<Looked>, _>>()?;
        let rates = filters.iter().map(Looked::fpr);
        Ok(match filters.as_slice() {
            [only] if only.fill_tells_rate() => (only.fpr().value, true),
            // A key that one filter holds may be found in the other filters by chance.
            _ if self.together == Some(Together::All) => (rates.fold(0.0, |most, rate| rate.upper.max(most)), false),
            _ => (rates.map(|rate| rate.upper).sum::<f64>().min(1.0), false),
        })
    }
}

/// Inverts the first `bits` bits and leaves the others unset, because there are no records for
/// them.
fn invert_first(words: &mut [u64], bits: usize) {
    words.iter_mut().for_each(|word| *word = !*word);
    if let (Some(last), rest @ 1..) = (words.last_mut(), bits % 64) {
        *last &= (1 << rest) - 1;
    }
}
