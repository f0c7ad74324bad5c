//! The answers of the planner page as JSON: the library's numbers, with the texts of the command.
//!
//! A question is text (see `question.rs`), and so is its answer. Both are passed through buffers
//! whose addresses WebAssembly exports, so no glue code is generated. [`reserve`] makes room for a
//! question, the page writes the question there, [`ask`] answers it, and [`answer_at`] returns the
//! address of the answer.

mod audit;
mod counts;
mod json;
mod lines;
mod question;
mod schemes;
mod size;
mod spread;
mod streams;
mod words;

use json::object;
use question::Question;
use std::sync::Mutex;
use truebloom_plot::Chart;

/// The answer to a question. Equal questions have equal answers, in WebAssembly and outside.
#[must_use]
pub fn answer(text: &str) -> String {
    let mut question = Question::new(text);
    let answer = match question.section {
        // Each exact sum for some thousand items takes a second, which exceeds the budget of a
        // call.
        "streams" => streams::answer(&mut question),
        "streams/blocked" => streams::blocked(&mut question),
        "streams/charts" => streams::charts(&mut question),
        // All other answers together share the budget of one call, about a second.
        _ => truebloom_math::as_one_call(|| in_one_call(&mut question)),
    };
    answer.to_string()
}

fn in_one_call(question: &mut Question<'_>) -> json::Json {
    match question.section {
        "size" => size::answer(question),
        "size/chart" => size::chart(question),
        "size/spread" => spread::answer(question),
        "size/scheme" => schemes::answer(question),
        "counts" => counts::answer(question),
        "audit" => audit::answer(question),
        "audit/row" => audit::row(question),
        "audit/chart" => audit::chart(question),
        "about" => about(),
        other => object! { "problem": format!("there is no section `{other}`") },
    }
}

/// The information about the page itself.
fn about() -> json::Json {
    let libraries = |profile: &truebloom_audit::Profile| object! { "name": profile.name, "title": profile.title };
    object! {
        "version": env!("CARGO_PKG_VERSION"),
        "sources": lines::SOURCES,
        "schemes": schemes::NAMES.to_vec(),
        "libraries": truebloom_audit::PROFILES.iter().map(libraries).collect::<Vec<_>>(),
    }
}

/// A chart for the page, which has its own texts around the chart; or a chart with a title, to be
/// saved as a file.
fn drawn(chart: Result<Chart, truebloom_math::Error>, question: &Question<'_>) -> json::Json {
    drawn_at(chart, question, (question.width() * 3 / 5).clamp(300, 420))
}

/// Like [`drawn`], with a height in pixels.
fn drawn_at(chart: Result<Chart, truebloom_math::Error>, question: &Question<'_>, height: u32) -> json::Json {
    let chart = match chart {
        Ok(chart) => chart,
        Err(error) => return object! { "problem": question::sentence(&error.to_string()) },
    };
    let chart = if question.has("file") { chart } else { chart.titled("").note("") };
    match chart.sized(question.width(), height).svg() {
        Ok(svg) => object! { "svg": svg },
        Err(error) => object! { "problem": question::sentence(&error.to_string()) },
    }
}

static QUESTION: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The maximum length of a question; fields are short.
const MOST: usize = 64 << 10;

/// Makes room for a question of this many bytes of UTF-8, and returns the address to write it to,
/// or null if the question is too long.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    match QUESTION.lock() {
        Ok(mut question) if length <= MOST => {
            question.clear();
            question.resize(length, 0);
            question.as_mut_ptr()
        }
        _ => std::ptr::null_mut(),
    }
}

/// Answers the question that was written, and returns the number of bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let (Ok(question), Ok(mut place)) = (QUESTION.lock(), ANSWER.lock()) else { return 0 };
    *place = answer(&String::from_utf8_lossy(&question)).into_bytes();
    place.len()
}

/// The address of the answer, which is valid until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    ANSWER.lock().map_or(std::ptr::null(), |answer| answer.as_ptr())
}
