//! Texts above the chart: the entries of the legend, and wrapped notes.

use crate::Series;

/// An entry of the legend with its position, in pixels from the left edge and the top.
pub(crate) struct Entry<'a> {
    pub(crate) series: &'a Series,
    pub(crate) number: usize,
    pub(crate) x: i32,
    pub(crate) y: i32,
}

pub(crate) const ROW: i32 = 19;
pub(crate) const SAMPLE: i32 = 26;
const GAP: i32 = 18;

/// A generous estimate of a text's width at the legend's size, because the font is not known here.
pub(crate) fn text_width(text: &str, size: f64) -> i32 {
    (text.chars().count() as f64 * size * 0.56).ceil() as i32
}

/// A text wrapped at spaces into lines of at most this many pixels.
pub(crate) fn wrapped(text: &str, size: f64, width: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(&format!(" {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(crate) fn layout(series: &[Series], width: i32) -> Vec<Entry<'_>> {
    let (mut x, mut y) = (0, 0);
    let mut entries = Vec::new();
    for (number, series) in series.iter().enumerate().filter(|(_, series)| series.in_legend && !series.name.is_empty()) {
        let wide = SAMPLE + 6 + text_width(&series.name, 12.0);
        if x > 0 && x + wide > width {
            (x, y) = (0, y + ROW);
        }
        entries.push(Entry { series, number, x, y });
        x += wide + GAP;
    }
    entries
}

pub(crate) fn height(entries: &[Entry<'_>]) -> i32 {
    entries.last().map_or(0, |last| last.y + ROW + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_wrap_at_spaces_and_lose_no_word() {
        let text = "points: simulated, with 99% intervals; lines: the laws, where they are exact; bands: brackets";
        let lines = wrapped(text, 12.0, 300);
        assert!(lines.len() > 1 && lines.iter().all(|line| text_width(line, 12.0) <= 300), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        // A word that is too wide for a line is alone in its line, and not broken.
        assert_eq!(wrapped("a verylongwordthatisnotcut b", 12.0, 60), ["a", "verylongwordthatisnotcut", "b"]);
        assert!(wrapped(" ", 12.0, 60).is_empty());
    }
}
