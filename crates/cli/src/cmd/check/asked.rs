//! The filters and states that are queried, and how their answers are combined.

use super::Args;
use super::queried::{Queried, RateNow};
use crate::failure::Failure;
use crate::filters;
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
    pub(super) filters: Vec<(PathBuf, Queried)>,
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
        let first = filters::open_for(&args.filter, &args.inputs, Queried::open)?;
        let (more, inputs) = args.inputs.split_at(if together.is_some() { more } else { 0 });
        if let Some(filter) = inputs.iter().find(|input| is_filter(input)) {
            return Err(Failure::at(
                filter,
                if together.is_some() {
                    "this is a filter, but it comes after an input; name the filters first"
                } else {
                    "this is a filter, but lines are expected here; to query several filters, add --any, --all or --each"
                },
            ));
        }
        let mut asked = Asked { filters: Vec::new(), families: Vec::new(), together, invert: args.invert_match };
        asked.add(&args.filter, first);
        for path in more {
            asked.add(path, Queried::open(path)?);
        }
        Ok((asked, inputs))
    }

    fn add(&mut self, path: &Path, filter: Queried) {
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
        self.filters.iter().map(|(path, filter)| (path.as_path(), filter.extraction())).collect()
    }

    /// Looks keys up and determines which of them are selected; with [`Together::Each`], also by
    /// which filter.
    pub(super) fn answer(&self, batch: Batch<'_>, answers: &mut Answers) {
        if let [(_, only)] = self.filters.as_slice() {
            answers.look_up(batch, *only.hasher(), only);
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

    /// Determines which filters contain each record, inverted if requested, and selects the records
    /// that have at least one such filter.
    fn tell_each(&self, batch: Batch<'_>, answers: &mut Answers) {
        if self.filters.len() == 1 {
            answers.each = vec![answers.contained.clone()];
        }
        if self.invert {
            answers.each.iter_mut().for_each(|words| invert_first(words, batch.len()));
        }
        self.combine(answers);
    }

    /// Returns an upper bound on the rate at which lines that were never inserted are found, given
    /// the bits currently set, and whether this bound is the exact rate. The function reads all
    /// bits of the filters once.
    pub(super) fn rate(&self) -> Result<(f64, bool), Failure> {
        let rates = self.filters.iter().map(|(path, filter)| filter.rate(path)).collect::<Result<Vec<RateNow>, _>>()?;
        let most = rates.iter().map(|rate| rate.upper);
        Ok(match rates.as_slice() {
            [RateNow { value, is_exact: true, .. }] => (*value, true),
            // A key that one filter holds may be found in the other filters by chance.
            _ if self.together == Some(Together::All) => (most.fold(0.0, f64::max), false),
            _ => (most.sum::<f64>().min(1.0), false),
        })
    }
}

/// Inverts the first `bits` bits and clears the others, which belong to no record.
fn invert_first(words: &mut [u64], bits: usize) {
    words.iter_mut().for_each(|word| *word = !*word);
    if let (Some(last), rest @ 1..) = (words.last_mut(), bits % 64) {
        *last &= (1 << rest) - 1;
    }
}
