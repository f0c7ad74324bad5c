//! The two ways to split an input into records: at a byte or a fixed length, and as CSV.

use super::csv::{Columns, Csv};
use super::found::Found;
use super::split::{Ends, Split};

/// Splits inputs into records, block by block.
pub(super) enum Splitter {
    Plain(Split),
    Csv(Box<Csv>),
}

impl Splitter {
    /// Finds records in the next piece of an input; returns how much of it was used. An error ends
    /// the input.
    pub(super) fn split(&mut self, text: &[u8], found: &mut Found) -> Result<usize, String> {
        match self {
            Splitter::Plain(split) => Ok(split.split(text, found)),
            Splitter::Csv(csv) => csv.split(text, found),
        }
    }

    /// Ends the input; its last record may lack a terminator. If this call sets [`Found::again`],
    /// the caller must split that text and then call `finish` again.
    pub(super) fn finish(&mut self, found: &mut Found) {
        match self {
            Splitter::Plain(split) => split.finish(found),
            Splitter::Csv(csv) => csv.finish(found),
        }
    }

    /// Discards the current input, and returns how many of its records were found.
    pub(super) fn abandon(&mut self) -> u64 {
        match self {
            Splitter::Plain(split) => split.abandon(),
            Splitter::Csv(csv) => csv.abandon(),
        }
    }

    /// Returns the text of the record that began in an earlier block, to which [`Found::carried`]
    /// refers.
    pub(super) fn carry(&self) -> &[u8] {
        match self {
            Splitter::Plain(split) => split.carry(),
            Splitter::Csv(csv) => csv.carry(),
        }
    }

    /// Returns where records can end; for CSV, this does not consider line ends within quotes.
    pub(super) fn ends(&self) -> Ends {
        match self {
            Splitter::Plain(split) => split.ends(),
            Splitter::Csv(_) => Ends::Byte { byte: b'\n', crlf: false },
        }
    }

    /// The facts about the columns; `None` until the first record was found. Input without columns
    /// always has a result.
    pub(super) fn columns(&self) -> Option<Columns> {
        match self {
            Splitter::Plain(_) => Some(Columns::default()),
            Splitter::Csv(csv) => csv.columns(),
        }
    }

    /// Continues in the middle of an input with these columns, at the beginning of a record.
    pub(super) fn resume(&mut self, columns: Columns) {
        if let Splitter::Csv(csv) = self {
            csv.resume(columns);
        }
    }

    /// Whether the next bytes begin a record.
    pub(super) fn is_between_records(&self) -> bool {
        match self {
            Splitter::Plain(split) => split.is_between_records(),
            Splitter::Csv(csv) => csv.is_between_records(),
        }
    }

    /// Whether the first record of an input names its columns.
    pub(super) fn has_header(&self) -> bool {
        matches!(self, Splitter::Csv(csv) if csv.has_header())
    }

    /// Takes over this many records that another splitter has found and numbered from 1. This
    /// splitter has found all records before them, so their numbers are increased accordingly.
    pub(super) fn adopt(&mut self, records: u64, found: &mut Found) {
        let before = match self {
            Splitter::Plain(split) => split.pass_over(records),
            Splitter::Csv(csv) => csv.pass_over(records),
        };
        found.troubles.iter_mut().for_each(|trouble| trouble.record += before);
        found.numbers.iter_mut().for_each(|(_, number)| *number += before);
    }

    /// The first record of a CSV input, if it has just been read; afterwards `None`.
    pub(super) fn take_header(&mut self) -> Option<Vec<u8>> {
        match self {
            Splitter::Plain(_) => None,
            Splitter::Csv(csv) => csv.take_header(),
        }
    }
}
