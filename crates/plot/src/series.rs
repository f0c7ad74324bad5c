//! Series and marks, which are drawn between the axes.

/// The appearance of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// A line through the points.
    Line,
    /// A dashed line, for an approximation, a bound, or a requested value.
    Dashed,
    /// Points without a line, for measurements.
    Points,
    /// A bar at each point, from 0 or the bottom of the axis.
    Bars,
    /// The area between two curves, for a bracket or an interval.
    Band,
}

/// The data of a chart that are drawn together: a curve, a set of points, a row of bars, or a band.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// The points of the series: the horizontal value, the vertical value, and the upper vertical
    /// value of a band. For other series, both vertical values are equal.
    pub(crate) points: Vec<(f64, f64, f64)>,
    pub(crate) colour: Option<usize>,
    pub(crate) ramp: Option<f64>,
    pub(crate) in_legend: bool,
}

impl Series {
    fn new(name: impl Into<String>, shape: Shape, points: Vec<(f64, f64, f64)>) -> Series {
        Series { name: name.into(), shape, points, colour: None, ramp: None, in_legend: true }
    }

    fn of_pairs(name: impl Into<String>, shape: Shape, points: Vec<(f64, f64)>) -> Series {
        Series::new(name, shape, points.into_iter().map(|(x, y)| (x, y, y)).collect())
    }

    /// Creates a line through the points, in the given order.
    #[must_use]
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Line, points)
    }

    /// Creates a dashed line.
    #[must_use]
    pub fn dashed(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Dashed, points)
    }

    /// Creates a series of points.
    #[must_use]
    pub fn points(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Points, points)
    }

    /// Creates a row of bars.
    #[must_use]
    pub fn bars(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Bars, points)
    }

    /// Creates a band. Each point has a horizontal value, and a lower and an upper vertical value.
    #[must_use]
    pub fn band(name: impl Into<String>, points: Vec<(f64, f64, f64)>) -> Series {
        Series::new(name, Shape::Band, points)
    }

    /// Sets the colour of the series by a number. Series with the same number have the same colour.
    /// By default, the number is the position of the series in the chart.
    #[must_use]
    pub fn coloured(self, number: usize) -> Series {
        Series { colour: Some(number), ..self }
    }

    /// Sets the colour for a curve of a family of curves. The colour comes from a continuous range
    /// of colours. A `share` of 0 selects one end of this range, and a `share` of 1 the other end.
    #[must_use]
    pub fn graded(self, share: f64) -> Series {
        Series { ramp: Some(share.clamp(0.0, 1.0)), ..self }
    }

    /// Removes the series from the legend.
    #[must_use]
    pub fn unnamed(self) -> Series {
        Series { in_legend: false, ..self }
    }
}

/// A line across the chart at one value, with a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub(crate) upright: bool,
    pub(crate) at: f64,
    pub(crate) words: String,
}

impl Mark {
    /// Creates a vertical line at this value of the horizontal axis.
    #[must_use]
    pub fn upright(at: f64, words: impl Into<String>) -> Mark {
        Mark { upright: true, at, words: words.into() }
    }

    /// Creates a horizontal line at this value of the vertical axis.
    #[must_use]
    pub fn level(at: f64, words: impl Into<String>) -> Mark {
        Mark { upright: false, at, words: words.into() }
    }
}
