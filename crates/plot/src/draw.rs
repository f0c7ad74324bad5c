//! Draws a chart as SVG.
//!
//! The drawing library places points at whole pixels, which turns flat curves into steps. So
//! everything is drawn ten times as large, and the view box of the document scales it back. The
//! library draws dashes as hundreds of short lines. Therefore, a dashed line is drawn solid, with a
//! special width that encodes its dashes. The dashes are added when the document is finished.

use crate::axis::Coordinate;
use crate::colour::{self, FAINT_GRID, GRID, INK, PAPER, Pair, SOFT_INK};
use crate::legend::{self, Entry, ROW, SAMPLE};
use crate::{Chart, Error, MARK, Mark, Series, Shape};
use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, ShapeStyle, TextStyle};

/// The number of units per pixel.
const FINE: i32 = 10;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plot<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<Coordinate, Coordinate>>;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Backend(error.to_string())
}

pub(crate) fn svg(chart: &Chart) -> Result<String, Error> {
    let [x, y] = chart.extent().ok_or(Error::NothingToDraw)?;
    let (width, height) = (chart.size.0 as i32, chart.size.1 as i32);
    let entries = legend::layout(&chart.series, width - 2 * SIDE);
    let (titles, notes) = (legend::wrapped(&chart.title, 15.0, width - 2 * SIDE), legend::wrapped(&chart.note, 12.0, width - 2 * SIDE));
    let head = below_title(&titles) + NOTE * notes.len() as i32;
    let top = head + legend::height(&entries) + 6;
    let y = chart.y.coordinate(y, |labels| LABEL * labels.len() as i32 <= height - top - FOOT);
    let left = 26 + 7 * y.longest_label() as i32;
    // Half of the last tick's label is beyond the edge.
    let right_of = |longest: usize| SIDE.max(7 * longest as i32 / 2);
    // Labels below the chart are side by side. On a linear axis, they are at equal distances.
    let fit_beside = |labels: &[String]| {
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let widest = labels.iter().map(|label| legend::text_width(label, 11.5)).max().unwrap_or(0);
        (widest + GAP) * (labels.len() as i32 - 1) <= width - left - MARGIN - right_of(longest)
    };
    let x = chart.x.coordinate(x, fit_beside);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (chart.size.0 * FINE as u32, chart.size.1 * FINE as u32)).into_drawing_area();
        root.fill(&colour::rgb(PAPER)).map_err(failed)?;
        headings(&root, &titles, &notes)?;
        entries.iter().try_for_each(|entry| sample(&root, entry, head))?;
        let right = right_of(x.longest_label());
        let mut plot = ChartBuilder::on(&root)
            .margin_top(top * FINE)
            .margin_right(right * FINE)
            .margin_bottom(6 * FINE)
            .margin_left(MARGIN * FINE)
            .x_label_area_size(FOOT * FINE)
            .y_label_area_size(left * FINE)
            .build_cartesian_2d(x.clone(), y.clone())
            .map_err(failed)?;
        mesh(&mut plot, chart)?;
        let ends = [&x, &y];
        let bands = chart.series.iter().enumerate().filter(|(_, series)| matches!(series.shape, Shape::Band | Shape::Bars));
        let others = chart.series.iter().enumerate().filter(|(_, series)| !matches!(series.shape, Shape::Band | Shape::Bars));
        bands.clone().try_for_each(|(number, series)| draw(&mut plot, chart, (series, number), ends))?;
        chart.marks.iter().try_for_each(|mark| across(&mut plot, mark, ends))?;
        // Texts are drawn before the curves, so that the curves are complete even if a text must
        // overlap them.
        words_of_marks(&mut plot, chart, ends)?;
        others.clone().try_for_each(|(number, series)| draw(&mut plot, chart, (series, number), ends))?;
        root.present().map_err(failed)?;
    }
    Ok(finished(&text, chart, (width, height)))
}

/// The margin on the left and on the right.
const SIDE: i32 = 18;
/// The space to the left of the title of the vertical axis.
const MARGIN: i32 = 6;
/// The smallest distance between labels.
const GAP: i32 = 8;
/// The space for the labels below the chart.
const FOOT: i32 = 46;
/// The smallest distance from one label of the vertical axis to the next.
const LABEL: i32 = 14;
const TITLE: i32 = 34;
const NO_TITLE: i32 = 8;
/// The distance between lines of the title, and between lines of the note.
const LINE: i32 = 20;
const NOTE: i32 = 18;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', sans-serif";

/// A text style with this size in pixels.
fn words(pixels: f64, pair: Pair, h: HPos, v: VPos) -> TextStyle<'static> {
    // plotters expects the height of a line, and divides it by this number.
    let font = (FONT, pixels * 1.24 * f64::from(FINE)).into_font();
    TextStyle { color: colour::rgb(pair).to_backend_color(), pos: Pos::new(h, v), ..TextStyle::from(font) }
}

fn stroke(pair: Pair, pixels: f64) -> ShapeStyle {
    colour::rgb(pair).stroke_width((pixels * f64::from(FINE)).round() as u32)
}

/// The position at which the note begins.
fn below_title(titles: &[String]) -> i32 {
    if titles.is_empty() { NO_TITLE } else { TITLE + LINE * (titles.len() as i32 - 1) }
}

fn headings(root: &Area<'_>, titles: &[String], notes: &[String]) -> Result<(), Error> {
    let bold = words(15.0, INK, HPos::Left, VPos::Top);
    let bold = TextStyle { font: bold.font.style(plotters::style::FontStyle::Bold), ..bold };
    for (number, title) in titles.iter().enumerate() {
        root.draw(&Text::new(title.clone(), (SIDE * FINE, (12 + LINE * number as i32) * FINE), bold.clone())).map_err(failed)?;
    }
    let top = below_title(titles);
    for (number, note) in notes.iter().enumerate() {
        let at = (SIDE * FINE, (top + NOTE * number as i32) * FINE);
        root.draw(&Text::new(note.clone(), at, words(12.0, SOFT_INK, HPos::Left, VPos::Top))).map_err(failed)?;
    }
    Ok(())
}

fn colour_of(series: &Series, number: usize) -> Pair {
    match (series.ramp, series.colour) {
        (Some(share), _) => colour::between(share),
        (_, colour) => colour::CURVES[colour.unwrap_or(number) % colour::CURVES.len()],
    }
}

/// Draws an entry of the legend: a short piece of the curve, and its name.
fn sample(root: &Area<'_>, entry: &Entry<'_>, head: i32) -> Result<(), Error> {
    let (x, y) = ((SIDE + entry.x) * FINE, (head + entry.y + ROW / 2) * FINE);
    let pair = colour_of(entry.series, entry.number);
    let (ends, width) = ([(x, y), (x + SAMPLE * FINE, y)], 2.0);
    match entry.series.shape {
        Shape::Line => root.draw(&PathElement::new(ends.to_vec(), stroke(pair, width))),
        Shape::Dashed => root.draw(&PathElement::new(ends.to_vec(), stroke(pair, width + DASHED))),
        Shape::Points => {
            put_point(root, (x + SAMPLE * FINE / 2, y), entry.series, entry.number)?;
            Ok(())
        }
        Shape::Bars | Shape::Band => {
            let share = if entry.series.shape == Shape::Band { BAND } else { BAR };
            root.draw(&Rectangle::new([(x, y - 5 * FINE), (x + SAMPLE * FINE, y + 5 * FINE)], colour::rgb(pair).mix(share).filled()))
        }
    }
    .map_err(failed)?;
    let at = (x + (SAMPLE + 6) * FINE, y);
    root.draw(&Text::new(entry.series.name.clone(), at, words(12.0, INK, HPos::Left, VPos::Center))).map_err(failed)
}

/// An amount in pixels that is added to a line's width to mark the line as dashed. No other line
/// has such a width.
const DASHED: f64 = 0.1;
/// An amount that is added to a line's width to mark the line as dotted.
const DOTTED: f64 = 0.3;
/// The dash patterns for these widths, in units.
const DASHES: [(u32, &str); 3] = [
    (21, " stroke-width=\"20\" stroke-dasharray=\"60 40\""),
    (14, " stroke-width=\"13\" stroke-dasharray=\"60 40\""),
    (15, " stroke-width=\"12\" stroke-dasharray=\"30 30\""),
];
const DOT: i32 = 3 * FINE;
const BAND: f64 = 0.28;
/// The width of a band's edges. Only the edges of a narrow band are visible.
const EDGE: f64 = 0.7;
const BAR: f64 = 0.55;

fn mesh(plot: &mut Plot<'_, '_>, chart: &Chart) -> Result<(), Error> {
    plot.configure_mesh()
        .x_desc(chart.x.label.clone())
        .y_desc(chart.y.label.clone())
        .bold_line_style(stroke(GRID, 0.8))
        .light_line_style(stroke(FAINT_GRID, 0.8))
        .axis_style(stroke(SOFT_INK, 1.0))
        .set_all_tick_mark_size(4 * FINE)
        .label_style(words(11.5, SOFT_INK, HPos::Left, VPos::Center))
        .axis_desc_style(words(12.5, INK, HPos::Left, VPos::Center))
        .draw()
        .map_err(failed)
}

/// Draws a mark: a dashed line across the chart.
fn across(plot: &mut Plot<'_, '_>, mark: &Mark, [x, y]: [&Coordinate; 2]) -> Result<(), Error> {
    let axis = if mark.upright { x } else { y };
    if !axis.holds(mark.at) {
        return Ok(());
    }
    let ((left, right), (bottom, top)) = (x.ends(), y.ends());
    let line = if mark.upright { [(mark.at, bottom), (mark.at, top)] } else { [(left, mark.at), (right, mark.at)] };
    plot.plotting_area().draw(&PathElement::new(line.to_vec(), stroke(SOFT_INK, 1.2 + DOTTED))).map_err(failed)
}

/// Draws the texts of the marks.
fn words_of_marks(plot: &mut Plot<'_, '_>, chart: &Chart, ends: [&Coordinate; 2]) -> Result<(), Error> {
    let root = plot.plotting_area().strip_coord_spec();
    let (columns, rows) = plot.plotting_area().get_pixel_range();
    let size = ((columns.end - columns.start) / FINE, (rows.end - rows.start) / FINE);
    crate::words::placed(chart, ends, size).into_iter().try_for_each(|(mark, (left, top))| {
        let style = words(crate::words::SIZE, SOFT_INK, HPos::Left, VPos::Top);
        root.draw(&Text::new(mark.words.clone(), (left * FINE, top * FINE), style)).map_err(failed)
    })
}

/// The pixel for a value, relative to the corner of the plot area.
fn pixel(plot: &Plot<'_, '_>, area: &Area<'_>, at: (f64, f64)) -> (i32, i32) {
    let ((x, y), (base_x, base_y)) = (plot.backend_coord(&at), area.get_base_pixel());
    (x - base_x, y - base_y)
}

/// The parts of a series between its gaps. A gap represents points that cannot be shown.
pub(crate) fn pieces<'a>(chart: &'a Chart, series: &'a Series) -> impl Iterator<Item = &'a [(f64, f64, f64)]> {
    series.points.split(|point| !chart.places(point)).filter(|piece| !piece.is_empty())
}

fn draw(plot: &mut Plot<'_, '_>, chart: &Chart, (series, number): (&Series, usize), [x, y]: [&Coordinate; 2]) -> Result<(), Error> {
    let pair = colour_of(series, number);
    let area = plot.plotting_area();
    let at = |x_value: f64, y_value: f64| (x.clamped(x_value), y.clamped(y_value));
    let width = if series.ramp.is_some() { 1.3 } else { 2.0 };
    let style = stroke(pair, if series.shape == Shape::Dashed { width + DASHED } else { width });
    let colour = colour::rgb(pair);
    for piece in pieces(chart, series) {
        let visible = |point: &&(f64, f64, f64)| x.holds(point.0) && y.holds(point.1);
        match series.shape {
            Shape::Line | Shape::Dashed => {
                for path in clipped(piece, [x, y]) {
                    match path[..] {
                        // A single value between two gaps is drawn as a point.
                        [only] => area.draw(&Circle::new(only, 2 * FINE, colour.filled())),
                        _ => area.draw(&PathElement::new(path, style)),
                    }
                    .map_err(failed)?;
                }
            }
            Shape::Points => {
                let root = area.strip_coord_spec();
                piece.iter().filter(visible).try_for_each(|&(x, y, _)| put_point(&root, pixel(plot, &root, (x, y)), series, number))?;
            }
            Shape::Bars => {
                let half =
                    0.4 * series.points.windows(2).map(|pair| (pair[1].0 - pair[0].0).abs()).fold(f64::INFINITY, f64::min).min(1e300);
                let foot = y.clamped(0.0);
                for &(place, top, _) in piece.iter().filter(|point| x.holds(point.0)) {
                    let corners = [at(place - half, foot), at(place + half, top)];
                    area.draw(&Rectangle::new(corners, colour.mix(BAR).filled())).map_err(failed)?;
                }
            }
            Shape::Band => {
                let low: Vec<(f64, f64)> = piece.iter().map(|&(x, low, _)| at(x, low)).collect();
                let high: Vec<(f64, f64)> = piece.iter().rev().map(|&(x, _, high)| at(x, high)).collect();
                area.draw(&Polygon::new([&low[..], &high].concat(), colour.mix(BAND))).map_err(failed)?;
                for edge in [low, high] {
                    area.draw(&PathElement::new(edge, colour.mix(EDGE).stroke_width(FINE as u32))).map_err(failed)?;
                }
            }
        }
    }
    Ok(())
}

/// The parts of a line that are within both ranges. The line is straight between two points, and is
/// cut where it crosses an edge.
pub(crate) fn clipped(points: &[(f64, f64, f64)], [x, y]: [&Coordinate; 2]) -> Vec<Vec<(f64, f64)>> {
    if let [(x_only, y_only, _)] = *points {
        return if x.holds(x_only) && y.holds(y_only) { vec![vec![(x_only, y_only)]] } else { Vec::new() };
    }
    let shares = |point: &(f64, f64, f64)| [x.share(point.0), y.share(point.1)];
    let (mut paths, mut open): (Vec<Vec<(f64, f64)>>, bool) = (Vec::new(), false);
    for pair in points.windows(2) {
        let [from, to] = [shares(&pair[0]), shares(&pair[1])];
        let Some((start, end)) = inside(from, to) else {
            open = false;
            continue;
        };
        let place = |part: f64, point: &(f64, f64, f64), is_end: bool| {
            // A point inside both ranges stays unchanged.
            if is_end {
                (point.0, point.1)
            } else {
                (x.at_share(from[0] + part * (to[0] - from[0])), y.at_share(from[1] + part * (to[1] - from[1])))
            }
        };
        if !open {
            paths.push(vec![place(start, &pair[0], start == 0.0)]);
        }
        if let Some(path) = paths.last_mut() {
            path.push(place(end, &pair[1], end == 1.0));
        }
        open = end == 1.0;
    }
    paths
}

/// The part of a straight line that is within the unit square, as shares of the line's length. The
/// result is `None` if the line does not meet the square.
pub(crate) fn inside(from: [f64; 2], to: [f64; 2]) -> Option<(f64, f64)> {
    let (mut start, mut end) = (0.0f64, 1.0f64);
    for (a, b) in from.into_iter().zip(to) {
        // A rounding error at an edge must not count as a crossing.
        let (low, high) = (-1e-9, 1.0 + 1e-9);
        if a == b {
            if !(low..=high).contains(&a) {
                return None;
            }
            continue;
        }
        let (enters, leaves) =
            if a < b { ((low - a) / (b - a), (high - a) / (b - a)) } else { ((high - a) / (b - a), (low - a) / (b - a)) };
        (start, end) = (start.max(enters), end.min(leaves));
    }
    (start < end).then_some((start, end))
}

/// Draws a point of a series at a pixel. The shape of the point depends on the series, so that
/// series can be distinguished without colours.
fn put_point(area: &Area<'_>, (x, y): (i32, i32), series: &Series, number: usize) -> Result<(), Error> {
    let style = colour::rgb(colour_of(series, number)).filled();
    let corners = |offsets: &[(i32, i32)]| Polygon::new(offsets.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>(), style);
    let shape = if series.ramp.is_some() { 0 } else { series.colour.unwrap_or(number) % colour::CURVES.len() };
    match shape {
        0 => area.draw(&Circle::new((x, y), DOT, style)),
        1 => area.draw(&corners(&[(-27, -27), (27, -27), (27, 27), (-27, 27)])),
        2 => area.draw(&corners(&[(0, -37), (34, 25), (-34, 25)])),
        3 => area.draw(&corners(&[(0, -39), (39, 0), (0, 39), (-39, 0)])),
        4 => area.draw(&corners(&[(0, 37), (34, -25), (-34, -25)])),
        _ => area.draw(&corners(&[(-36, -16), (36, -16), (36, 16), (-36, 16)])),
    }
    .map_err(failed)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Completes a document: adds its size, a title and a description for people who cannot see it, and
/// its colours for a dark page.
fn finished(text: &str, chart: &Chart, (width, height): (i32, i32)) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body).replace(" opacity=\"1\"", "");
    // The marked widths are replaced by dash patterns.
    let body = DASHES.iter().fold(body, |body, (width, attributes)| body.replace(&format!(" stroke-width=\"{width}\""), attributes));
    // The font is stated once for all texts.
    let body = body.replace(&format!(" font-family=\"{}\"", FONT.replace('\'', "&apos;")), "");
    let mut pairs = vec![PAPER, INK, SOFT_INK, GRID, FAINT_GRID];
    for (number, series) in chart.series.iter().enumerate() {
        let pair = colour_of(series, number);
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {MARK} role=\"img\" font-family=\"{FONT}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <style>{}</style>{body}",
        width * FINE,
        height * FINE,
        escaped(&chart.title),
        escaped(&description(chart)),
        colour::dark_rules(&pairs)
    )
}

fn description(chart: &Chart) -> String {
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).filter(|name| !name.is_empty()).collect();
    let mut text = format!("{} by {}. {}", chart.y.label, chart.x.label, names.join("; "));
    if !chart.note.is_empty() {
        text = format!("{text}. {}", chart.note);
    }
    match chart.left_out() {
        0 => text,
        count => format!("{text}. Left out, without a place on the axes: {count}"),
    }
}
