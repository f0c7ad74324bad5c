//! Colours: they are used on a terminal, unless `NO_COLOR` or `--color` says otherwise.

use clap::{ColorChoice, ValueEnum};
use std::sync::atomic::{AtomicU8, Ordering};

const AUTO: u8 = 0;
const ALWAYS: u8 = 1;
const NEVER: u8 = 2;

static CHOICE: AtomicU8 = AtomicU8::new(AUTO);

/// Reads `--color` before the other arguments are parsed, because the parser's messages have
/// colours, too.
pub(crate) fn choose(arguments: impl Iterator<Item = String>) -> ColorChoice {
    let mut chosen = ColorChoice::Auto;
    let mut arguments = arguments.take_while(|argument| argument != "--").peekable();
    while let Some(argument) = arguments.next() {
        let value =
            argument.strip_prefix("--color=").or_else(|| (argument == "--color").then(|| arguments.peek().map_or("", String::as_str)));
        chosen = value.and_then(|value| ColorChoice::from_str(value, false).ok()).unwrap_or(chosen);
    }
    let choice = match chosen {
        ColorChoice::Always => ALWAYS,
        ColorChoice::Never => NEVER,
        ColorChoice::Auto => AUTO,
    };
    CHOICE.store(choice, Ordering::Relaxed);
    chosen
}

/// Returns `text`, in bold if this stream supports it.
pub(crate) fn bold(text: &str, is_terminal: bool) -> String {
    paint(text, "1", is_terminal)
}

/// Returns `text`, in red if this stream supports it.
pub(crate) fn red(text: &str, is_terminal: bool) -> String {
    paint(text, "1;31", is_terminal)
}

fn paint(text: &str, code: &str, is_terminal: bool) -> String {
    let shown = match CHOICE.load(Ordering::Relaxed) {
        ALWAYS => true,
        NEVER => false,
        // An empty NO_COLOR is ignored: https://no-color.org
        _ => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !is_dumb && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    if shown { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}
