#![doc = include_str!("../README.md")]

mod axis;
mod chart;
mod colour;
mod draw;
mod legend;
mod series;
mod words;

pub use axis::{Axis, Scale};
pub use chart::Chart;
pub use series::{Mark, Series, Shape};

use std::fmt;

/// The reason why a chart cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No point of any curve can be shown on both axes. Either there are no points, or no point is
    /// finite, or no point is above 0 on a logarithmic axis.
    NothingToDraw,
    /// The drawing library failed. The text is the message of the drawing library.
    Backend(String),
}

/// A text near the beginning of every chart. Programs use it to tell charts from other drawings
/// before they overwrite a file.
pub const MARK: &str = "data-by=\"truebloom-plot\"";

/// Returns a style sheet for a page that embeds charts. The style sheet sets the colours of the
/// charts on a dark page. Remove the charts' own style sheets with [`without_style`].
#[must_use]
pub fn page_style() -> String {
    colour::dark_rules(&colour::all())
}

/// Returns the SVG document of a chart without its own style sheet. Use the result on a page that
/// contains [`page_style`].
#[must_use]
pub fn without_style(svg: &str) -> String {
    match (svg.split_once("<style>"), svg.split_once("</style>")) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => svg.to_owned(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NothingToDraw => f.write_str("nothing can be drawn: no point is finite, and above 0 where the axis is logarithmic"),
            Error::Backend(message) => write!(f, "cannot draw: {message}"),
        }
    }
}

impl std::error::Error for Error {}
