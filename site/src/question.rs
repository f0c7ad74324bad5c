//! What the page asks: a section on the first line, and the fields as they were typed, one a line.

use crate::json::Json;

/// A question, and what was found wrong with its fields so far.
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

    /// The text of a field without the spaces around it; empty where nothing was typed.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.fields.iter().find(|(field, _)| *field == name).map_or("", |(_, value)| value.trim())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// The number in a field, if there is one. What is wrong with it is kept for the answer.
    pub(crate) fn read<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(name);
        if text.is_empty() {
            return None;
        }
        parse(text).map_err(|error| self.wrong(name, error)).ok()
    }

    /// Says beside a field what is wrong.
    pub(crate) fn wrong(&mut self, name: &str, error: impl Into<String>) {
        self.errors.push((name.to_owned(), sentence(&error.into())));
    }

    pub(crate) fn is_wrong(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The answer to a question that cannot be answered: what is wrong with which field.
    pub(crate) fn refusal(&self) -> Json {
        let error = |(field, text): &(String, String)| crate::json::object! { "field": field.as_str(), "text": text.as_str() };
        crate::json::object! { "errors": self.errors.iter().map(error).collect::<Vec<_>>() }
    }

    /// The width of a chart in pixels.
    pub(crate) fn width(&self) -> u32 {
        self.text("width").parse().unwrap_or(720).clamp(300, 1200)
    }
}

/// The command's messages, where flags are fields: a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let text = text
        .replace("give it with -p", "write it in the field for the rate")
        .replace("give it with -n", "write it in the field for the items");
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}{}", letters.as_str(), if text.ends_with('?') { "" } else { "." })
}
