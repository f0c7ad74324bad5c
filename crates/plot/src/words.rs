//! The positions of the marks' texts. Each text is placed next to its line. If there is enough
//! space, the text covers neither another text nor a curve.

use crate::axis::Coordinate;
use crate::draw::{clipped, inside, pieces};
use crate::legend::text_width;
use crate::{Chart, Mark, Shape};

/// The size of the texts, in pixels.
pub(crate) const SIZE: f64 = 11.5;
/// The height of a line of text.
const HEIGHT: i32 = 14;
/// The distance from one line of text to the next, at upright marks.
const ROW: i32 = HEIGHT + 1;

/// A box between the axes, in pixels from their upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    left: i32,
    top: i32,
    width: i32,
}

impl Place {
    fn meets(&self, other: &Place) -> bool {
        self.left < other.left + other.width && other.left < self.left + self.width && (self.top - other.top).abs() < HEIGHT
    }

    /// Whether a straight segment of a curve crosses the box.
    fn is_crossed(&self, piece: &[[f64; 2]; 2]) -> bool {
        let share = |[x, y]: [f64; 2]| [(x - f64::from(self.left)) / f64::from(self.width), (y - f64::from(self.top)) / f64::from(HEIGHT)];
        inside(share(piece[0]), share(piece[1])).is_some()
    }
}

/// The marks that have texts. Each mark has the position of the upper left corner of its text, in
/// pixels from the corner of the area between the axes. `size` is the width and height of that
/// area.
pub(crate) fn placed<'a>(chart: &'a Chart, axes: [&Coordinate; 2], size: (i32, i32)) -> Vec<(&'a Mark, (i32, i32))> {
    let [x, y] = axes;
    let at = |mark: &Mark| if mark.upright { x.share(mark.at) } else { 1.0 - y.share(mark.at) };
    let shown = |upright: bool| {
        let axis = if upright { x } else { y };
        chart.marks.iter().filter(move |mark| mark.upright == upright && !mark.words.is_empty() && axis.holds(mark.at))
    };
    let mut level: Vec<&Mark> = shown(false).collect();
    level.sort_by(|one, other| at(one).total_cmp(&at(other)));
    let (curves, lines) = (curves(chart, axes, size), lines(chart, axes, size));
    let mut taken: Vec<Place> = Vec::new();
    let mut found = Vec::new();
    for mark in shown(true).chain(level) {
        let width = text_width(&mark.words, SIZE);
        let line = (at(mark) * f64::from(if mark.upright { size.0 } else { size.1 })).round() as i32;
        let places = if mark.upright { beside(line, width, size) } else { along(line, width, size) };
        // The faults of a position, from the worst to the mildest: over another text, over a curve,
        // over another mark's line, far from the text's own line.
        let cost = |(far, place): &(usize, &Place)| {
            let crossed = |lines: &[[[f64; 2]; 2]]| lines.iter().any(|line| place.is_crossed(line));
            (taken.iter().any(|other| place.meets(other)), crossed(&curves), crossed(&lines), *far)
        };
        let Some((_, best)) = places.iter().enumerate().min_by_key(cost) else { continue };
        taken.push(*best);
        found.push((mark, (best.left, best.top)));
    }
    found
}

/// Candidate positions of the label of a vertical line, from top to bottom. At each height, the
/// position to the right of the line comes first, or the one to the left if the line is in the
/// right 30% of the area.
fn beside(line: i32, width: i32, (wide, high): (i32, i32)) -> Vec<Place> {
    let (left, right) = (line - 5 - width, line + 5);
    let sides = if 10 * line > 7 * wide { [left, right] } else { [right, left] };
    let rows = || 0..((high - 4) / ROW).max(1);
    let beside = rows().flat_map(|row| sides.map(|left| Place { left, top: 4 + ROW * row, width }));
    // If there is room on neither side, the text is over the line, at the right edge.
    let over = rows().map(|row| Place { left: (wide - width).max(0), top: 4 + ROW * row, width });
    let all = beside.chain(over).collect();
    within(all, wide, high)
}

/// Candidate positions of the label of a horizontal line, from its right end to the left. In each
/// column, the label is just above the line, just below it, or one or two lines of text farther
/// away.
fn along(line: i32, width: i32, (wide, high): (i32, i32)) -> Vec<Place> {
    let right = wide - 4 - width;
    let columns = [right, right * 3 / 4, right / 2, right / 4, 4];
    let rows = [line - HEIGHT - 2, line + 3, line - 2 * HEIGHT - 2, line + HEIGHT + 3, line - 3 * HEIGHT - 2, line + 2 * HEIGHT + 3];
    let all = columns.iter().flat_map(|&left| rows.map(|top| Place { left, top, width })).collect();
    within(all, wide, high)
}

/// Keeps the positions that are between the axes. If no position is between the axes (as for a text
/// wider than the chart), keeps only the first position.
fn within(all: Vec<Place>, wide: i32, high: i32) -> Vec<Place> {
    let fits = |place: &Place| place.left >= 0 && place.left + place.width <= wide && place.top >= 0 && place.top + HEIGHT <= high;
    let inside: Vec<Place> = all.iter().copied().filter(fits).collect();
    if inside.is_empty() { all.into_iter().take(1).collect() } else { inside }
}

/// The straight segments of all curves and of the edges of bands. Points are represented by the
/// diagonals of squares.
fn curves(chart: &Chart, [x, y]: [&Coordinate; 2], (wide, high): (i32, i32)) -> Vec<[[f64; 2]; 2]> {
    let pixel = |at: (f64, f64)| [x.share(at.0) * f64::from(wide), (1.0 - y.share(at.1)) * f64::from(high)];
    let mut all = Vec::new();
    for series in &chart.series {
        for piece in pieces(chart, series) {
            match series.shape {
                Shape::Line | Shape::Dashed => {
                    let paths = clipped(piece, [x, y]);
                    all.extend(paths.iter().flat_map(|path| path.windows(2)).map(|pair| [pixel(pair[0]), pixel(pair[1])]));
                }
                Shape::Points => all.extend(piece.iter().filter(|point| x.holds(point.0) && y.holds(point.1)).map(|point| {
                    let [column, row] = pixel((point.0, point.1));
                    [[column - 4.0, row - 4.0], [column + 4.0, row + 4.0]]
                })),
                Shape::Band => {
                    let at = |x_value, y_value| pixel((x.clamped(x_value), y.clamped(y_value)));
                    for pair in piece.windows(2) {
                        let (from, to) = (pair[0], pair[1]);
                        all.extend([[at(from.0, from.1), at(to.0, to.1)], [at(from.0, from.2), at(to.0, to.2)]]);
                    }
                }
                Shape::Bars => {}
            }
        }
    }
    all
}

/// The line segments of all marks.
fn lines(chart: &Chart, [x, y]: [&Coordinate; 2], (wide, high): (i32, i32)) -> Vec<[[f64; 2]; 2]> {
    let (wide, high) = (f64::from(wide), f64::from(high));
    let line = |mark: &Mark| {
        let (column, row) = (x.share(mark.at) * wide, (1.0 - y.share(mark.at)) * high);
        if mark.upright { [[column, 0.0], [column, high]] } else { [[0.0, row], [wide, row]] }
    };
    chart.marks.iter().map(line).collect()
}
