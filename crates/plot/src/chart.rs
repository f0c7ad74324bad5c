//! Charts, which combine axes, series and marks.

use crate::{Axis, Error, Mark, Series};

/// A chart with two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) size: (u32, u32),
}

impl Chart {
    /// Creates a chart without curves. The title states what the chart shows.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart { title: title.into(), note: String::new(), x, y, series: Vec::new(), marks: Vec::new(), size: (720, 440) }
    }

    /// Replaces the title of the chart. An empty text removes the title.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Chart {
        Chart { title: title.into(), ..self }
    }

    /// Sets a note below the title, for example about sizes, seeds, or the source of the data. The
    /// note is wrapped to the width of the chart.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Chart {
        Chart { note: note.into(), ..self }
    }

    /// Adds a series. Bands and bars are drawn behind all other series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Chart {
        self.series.push(series);
        self
    }

    /// Adds several series.
    #[must_use]
    pub fn with_all(mut self, series: impl IntoIterator<Item = Series>) -> Chart {
        self.series.extend(series);
        self
    }

    /// Adds a reference line with a text. The line crosses the whole chart.
    #[must_use]
    pub fn marked(mut self, mark: Mark) -> Chart {
        self.marks.push(mark);
        self
    }

    /// Sets the width and the height of the chart in pixels. The smallest size is 240 by 160, and
    /// the default is 720 by 440.
    #[must_use]
    pub fn sized(self, width: u32, height: u32) -> Chart {
        Chart { size: (width.clamp(240, 10_000), height.clamp(160, 10_000)), ..self }
    }

    /// Returns the chart as a complete SVG document, which can also be embedded in a page. The same
    /// chart gives the same bytes everywhere.
    ///
    /// A point that cannot be shown on its axis (not finite, beyond 1e300, or not above 0 on a
    /// logarithmic axis) leaves a gap in its line. The description of the chart counts such points.
    ///
    /// # Errors
    /// Fails if no point of any series can be shown.
    pub fn svg(&self) -> Result<String, Error> {
        crate::draw::svg(self)
    }

    /// The number of points that cannot be shown.
    pub(crate) fn left_out(&self) -> usize {
        self.series.iter().flat_map(|series| &series.points).filter(|point| !self.places(point)).count()
    }

    pub(crate) fn places(&self, &(x, low, high): &(f64, f64, f64)) -> bool {
        self.x.places(x) && self.y.places(low) && self.y.places(high)
    }

    /// The range of the data on both axes, including marks.
    pub(crate) fn extent(&self) -> Option<[(f64, f64); 2]> {
        let mut points = self.series.iter().flat_map(|series| &series.points).filter(|point| self.places(point));
        let &(x, low, high) = points.next()?;
        let mut ends = [(x, x), (low, high)];
        let mut widen = |axis: usize, value: f64| {
            let (low, high) = ends[axis];
            ends[axis] = (low.min(value), high.max(value));
        };
        for &(x, low, high) in points {
            widen(0, x);
            widen(1, low);
            widen(1, high);
        }
        for mark in &self.marks {
            let (axis, number) = if mark.upright { (&self.x, 0) } else { (&self.y, 1) };
            if axis.places(mark.at) {
                widen(number, mark.at);
            }
        }
        if self.y.scale == crate::Scale::Linear && self.series.iter().any(|series| series.shape == crate::Shape::Bars) {
            widen(1, 0.0);
        }
        Some(ends)
    }
}
