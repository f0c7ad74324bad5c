//! A question of the page: the first line has the section, and each further line has a field as it
//! was typed.

use crate::json::Json;

/// A question, and the errors found in its fields so far.
pub(crate) struct Question<'a> {
    pub(crate) section: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    errors: Vec<(String, String)>,
}

impl<'a> Question<'a> {
    pub(crate) fn new(text: &'a str) -> Question<'a> {
        let mut lines = text.lines();
        let section = lines.next().unwrap_or_default();
        Question { section, fields: lines.filter_map(|line| line.split_once('=')).collect(), errors: Vec::new() }
    }

    /// The text of a field without surrounding spaces; empty if nothing was typed.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.fields.iter().find(|(field, _)| *field == name).map_or("", |(_, value)| value.trim())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// The number in a field, if there is one. An error is stored for the answer.
    pub(crate) fn read<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(name);
        if text.is_empty() {
            return None;
        }
        parse(text).map_err(|error| self.wrong(name, error)).ok()
    }

    /// Adds an error message beside a field.
    pub(crate) fn wrong(&mut self, name: &str, error: impl Into<String>) {
        self.errors.push((name.to_owned(), sentence(&error.into())));
    }

    pub(crate) fn is_wrong(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The answer to a question with errors: the messages and their fields.
    pub(crate) fn refusal(&self) -> Json {
        let error = |(field, text): &(String, String)| crate::json::object! { "field": field.as_str(), "text": text.as_str() };
        crate::json::object! { "errors": self.errors.iter().map(error).collect::<Vec<_>>() }
    }

    /// The width of a chart in pixels.
    pub(crate) fn width(&self) -> u32 {
        self.text("width").parse().unwrap_or(720).clamp(300, 1200)
    }
}

/// A message of the command as a sentence for the page, in which options are replaced by fields.
pub(crate) fn sentence(text: &str) -> String {
    let text = text
        .replace("give it with -p", "write it in the field for the rate")
        .replace("give it with -n", "write it in the field for the items");
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}{}", letters.as_str(), if text.ends_with('?') { "" } else { "." })
}
