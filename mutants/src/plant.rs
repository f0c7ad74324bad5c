//! Plants faults in the text of a file. A condition that is evaluated at run time activates each
//! fault.

use crate::candidates::{Candidate, Form};
use std::ops::Range;

/// The number of a fault, and its place in the new text.
pub struct Planted {
    pub number: u32,
    pub place: Range<usize>,
}

/// Returns the source text with these faults. Places are whole expressions, so any two places are
/// disjoint or equal, or one of them contains the other.
pub fn plant(source: &str, faults: &[(u32, &Candidate)]) -> (String, Vec<Planted>) {
    let mut faults = faults.to_vec();
    faults.sort_by_key(|(number, fault)| (fault.place.start, usize::MAX - fault.place.end, *number));
    let mut planter = Planter { source, text: String::new(), planted: Vec::new() };
    planter.copy(0..source.len(), &faults);
    (planter.text, planter.planted)
}

struct Planter<'a> {
    source: &'a str,
    text: String,
    planted: Vec<Planted>,
}

impl Planter<'_> {
    fn copy(&mut self, range: Range<usize>, mut faults: &[(u32, &Candidate)]) {
        let mut at = range.start;
        while let [(number, fault), rest @ ..] = faults {
            let within = rest.iter().take_while(|(_, other)| other.place.start < fault.place.end).count();
            self.text.push_str(&self.source[at..fault.place.start]);
            let start = self.text.len();
            let (before, after) = around(*number, &fault.form);
            self.text.push_str(&before);
            self.copy(fault.place.clone(), &rest[..within]);
            self.text.push_str(&after);
            self.planted.push(Planted { number: *number, place: start..self.text.len() });
            at = fault.place.end;
            faults = &rest[within..];
        }
        self.text.push_str(&self.source[at..range.end]);
    }
}

/// The texts to insert before and after the original text.
fn around(number: u32, form: &Form) -> (String, String) {
    match form {
        Form::Replace(by) => (format!("(if crate::mutant::is({number}) {{ {by} }} else {{ "), " })".to_owned()),
        Form::Never { has_let: false } => ("(".to_owned(), format!(") && !crate::mutant::is({number})")),
        Form::Never { has_let: true } => (String::new(), format!(" && !crate::mutant::is({number})")),
        Form::Skip => (format!("if !crate::mutant::is({number}) {{ "), "; }".to_owned()),
    }
}
