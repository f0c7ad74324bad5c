//! What is drawn between the axes.

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// A line through the points.
    Line,
    /// A dashed line: an approximation, a bound, what was asked for.
    Dashed,
    /// The points alone: what was measured.
    Points,
    /// A bar at each point, from 0 or the foot of the axis.
    Bars,
    /// An area between two values at each point: a bracket or an interval.
    Band,
}

/// One curve, set of points, row of bars or band.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// Abscissa, ordinate, and the upper ordinate of a band (the same otherwise).
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

    /// A line through points, in their order.
    #[must_use]
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Line, points)
    }

    /// A dashed line.
    #[must_use]
    pub fn dashed(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Dashed, points)
    }

    /// Points.
    #[must_use]
    pub fn points(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Points, points)
    }

    /// Bars.
    #[must_use]
    pub fn bars(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series::of_pairs(name, Shape::Bars, points)
    }

    /// A band: abscissa, lower and upper ordinate.
    #[must_use]
    pub fn band(name: impl Into<String>, points: Vec<(f64, f64, f64)>) -> Series {
        Series::new(name, Shape::Band, points)
    }

    /// The colour of a number, so that what belongs together looks so; otherwise series are coloured in their order.
    #[must_use]
    pub fn coloured(self, number: usize) -> Series {
        Series { colour: Some(number), ..self }
    }

    /// A colour between two ends, for a family of curves: 0 to 1.
    #[must_use]
    pub fn graded(self, share: f64) -> Series {
        Series { ramp: Some(share.clamp(0.0, 1.0)), ..self }
    }

    /// Without a line in the legend.
    #[must_use]
    pub fn unnamed(self) -> Series {
        Series { in_legend: false, ..self }
    }
}

/// A line across the chart at one value, with its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub(crate) upright: bool,
    pub(crate) at: f64,
    pub(crate) words: String,
}

impl Mark {
    /// Upright, at an abscissa.
    #[must_use]
    pub fn upright(at: f64, words: impl Into<String>) -> Mark {
        Mark { upright: true, at, words: words.into() }
    }

    /// Level, at an ordinate.
    #[must_use]
    pub fn level(at: f64, words: impl Into<String>) -> Mark {
        Mark { upright: false, at, words: words.into() }
    }
}
