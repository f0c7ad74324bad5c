//! How an input is split: the choice between the two ways.

use super::csv::{Columns, Csv};
use super::found::Found;
use super::split::{Ends, Split};

/// Splits inputs into records, block by block.
pub(super) enum Splitter {
    Plain(Split),
    Csv(Box<Csv>),
}

impl Splitter {
    /// Finds records in the next piece of an input; how much of it was used. An error gives the
    /// input up.
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

    /// Forgets the present input, of which this many records were seen.
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
            Splitter::Plain(split) => split.copies_keys(),
            Splitter::Csv(csv) => csv.copies_keys(),
        }
    }

    /// Where records end, unless a quote is open.
    pub(super) fn ends(&self) -> Ends {
        match self {
            Splitter::Plain(split) => split.ends(),
            Splitter::Csv(_) => Ends::Byte { byte: b'\n', crlf: false },
        }
    }

    /// What is known of the columns; `None` until the first record was seen. Lines have none, which
    /// is always known.
    pub(super) fn columns(&self) -> Option<Columns> {
        match self {
            Splitter::Plain(_) => Some(Columns::default()),
            Splitter::Csv(csv) => csv.columns(),
        }
    }

    /// Goes on in the middle of an input with such columns, where a record begins.
    pub(super) fn resume(&mut self, columns: Columns) {
        if let Splitter::Csv(csv) = self {
            csv.resume(columns);
        }
    }

    /// Whether what comes next begins a record.
    pub(super) fn is_between_records(&self) -> bool {
        match self {
            Splitter::Plain(split) => split.is_between_records(),
            Splitter::Csv(csv) => csv.is_between_records(),
        }
    }

    /// Takes over this many records that another splitter has found, numbered from 1; all before
    /// them were found here.
    pub(super) fn adopt(&mut self, records: u64, found: &mut Found) {
        let before = match self {
            Splitter::Plain(split) => split.pass_over(records),
            Splitter::Csv(csv) => csv.pass_over(records),
        };
        found.troubles.iter_mut().for_each(|trouble| trouble.record += before);
        found.numbers.iter_mut().for_each(|(_, number)| *number += before);
    }

    /// The first record of a CSV input, once after it was read.
    pub(super) fn take_header(&mut self) -> Option<Vec<u8>> {
        match self {
            Splitter::Plain(_) => None,
            Splitter::Csv(csv) => csv.take_header(),
        }
    }
}
