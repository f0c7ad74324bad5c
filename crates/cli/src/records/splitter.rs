//! How an input is split: the choice between the two ways.

use super::csv::Csv;
use super::found::Found;
use super::split::{Form, Split};

/// Splits inputs into records, block by block.
pub(super) enum Splitter {
    Plain(Split),
    Csv(Box<Csv>),
}

impl Splitter {
    /// Finds records in the next piece of an input; how much of it was used. An error gives the input up.
    pub(super) fn split(&mut self, text: &[u8], found: &mut Found) -> Result<usize, String> {
        match self {
            Splitter::Plain(split) => Ok(split.split(text, found)),
            Splitter::Csv(csv) => csv.split(text, found),
        }
    }

    /// The input is over; its last record may have no end of its own.
    pub(super) fn finish(&mut self, found: &mut Found) -> Result<(), String> {
        match self {
            Splitter::Plain(split) => {
                split.finish(found);
                Ok(())
            }
            Splitter::Csv(csv) => csv.finish(found),
        }
    }

    /// Forgets the present input, of which so many records were seen.
    pub(super) fn abandon(&mut self) -> u64 {
        match self {
            Splitter::Plain(split) => split.abandon(),
            Splitter::Csv(csv) => csv.abandon(),
        }
    }

    /// The record that began in an earlier block, if it was found.
    pub(super) fn carry(&self) -> &[u8] {
        match self {
            Splitter::Plain(split) => split.carry(),
            Splitter::Csv(csv) => csv.carry(),
        }
    }

    /// Whether keys are copies, not parts of the text.
    pub(super) fn copies_keys(&self) -> bool {
        match self {
            Splitter::Plain(split) => split.form().copies_keys(),
            Splitter::Csv(csv) => csv.copies_keys(),
        }
    }

    /// The form of records that can be found without knowing what comes before them. In CSV a quote may be open.
    pub(super) fn form(&self) -> Option<&Form> {
        match self {
            Splitter::Plain(split) => Some(split.form()),
            Splitter::Csv(_) => None,
        }
    }

    /// Takes over so many records that were found elsewhere by the [form](Self::form), numbered from 1; all before them were found here.
    pub(super) fn adopt(&mut self, records: u64, found: &mut Found) {
        if let Splitter::Plain(split) = self {
            split.adopt(records, found);
        }
    }

    /// The first record of a CSV input, once after it was read.
    pub(super) fn take_header(&mut self) -> Option<Vec<u8>> {
        match self {
            Splitter::Plain(_) => None,
            Splitter::Csv(csv) => csv.take_header(),
        }
    }
}
