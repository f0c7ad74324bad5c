//! A chart becomes SVG.
//!
//! plotters places pixels by whole numbers, which makes steps of flat curves. So everything is drawn ten times as large and the document's view box brings it back to size.

use crate::axis::Coordinate;
use crate::colour::{self, FAINT_GRID, GRID, INK, PAPER, Pair, SOFT_INK};
use crate::legend::{self, Entry, ROW, SAMPLE};
use crate::{Chart, Error, MARK, Mark, Series, Shape};
use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, DashedPathElement, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, ShapeStyle, TextStyle};

/// Units a pixel.
const FINE: i32 = 10;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plot<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<Coordinate, Coordinate>>;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Backend(error.to_string())
}

pub(crate) fn svg(chart: &Chart) -> Result<String, Error> {
    let [x, y] = chart.extent().ok_or(Error::NothingToDraw)?;
    let (x, y) = (chart.x.coordinate(x), chart.y.coordinate(y));
    let (width, height) = (chart.size.0 as i32, chart.size.1 as i32);
    let entries = legend::layout(&chart.series, width - 2 * SIDE);
    let head = if chart.title.is_empty() { NO_TITLE } else { TITLE } + if chart.note.is_empty() { 0 } else { NOTE };
    let top = head + legend::height(&entries) + 6;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (chart.size.0 * FINE as u32, chart.size.1 * FINE as u32)).into_drawing_area();
        root.fill(&colour::rgb(PAPER)).map_err(failed)?;
        headings(&root, chart)?;
        entries.iter().try_for_each(|entry| sample(&root, entry, head))?;
        let left = 26 + 7 * y.longest_label() as i32;
        let mut plot = ChartBuilder::on(&root)
            .margin_top(top * FINE)
            .margin_right(SIDE * FINE)
            .margin_left(6 * FINE)
            .x_label_area_size(46 * FINE)
            .y_label_area_size(left * FINE)
            .build_cartesian_2d(x.clone(), y.clone())
            .map_err(failed)?;
        mesh(&mut plot, chart)?;
        let ends = [&x, &y];
        let bands = chart.series.iter().enumerate().filter(|(_, series)| matches!(series.shape, Shape::Band | Shape::Bars));
        let others = chart.series.iter().enumerate().filter(|(_, series)| !matches!(series.shape, Shape::Band | Shape::Bars));
        bands.clone().try_for_each(|(number, series)| draw(&mut plot, chart, series, colour_of(series, number), ends))?;
        chart.marks.iter().try_for_each(|mark| across(&mut plot, mark, ends))?;
        others.clone().try_for_each(|(number, series)| draw(&mut plot, chart, series, colour_of(series, number), ends))?;
        // Last, so that no curve covers them.
        chart.marks.iter().try_for_each(|mark| words_at(&mut plot, mark, chart, ends))?;
        root.present().map_err(failed)?;
    }
    Ok(finished(&text, chart, (width, height)))
}

/// Left and right.
const SIDE: i32 = 18;
const TITLE: i32 = 34;
const NO_TITLE: i32 = 8;
const NOTE: i32 = 18;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', sans-serif";

/// A text style of so many pixels.
fn words(pixels: f64, pair: Pair, h: HPos, v: VPos) -> TextStyle<'static> {
    // plotters takes the height of a line, and divides by this.
    let font = (FONT, pixels * 1.24 * f64::from(FINE)).into_font();
    TextStyle { color: colour::rgb(pair).to_backend_color(), pos: Pos::new(h, v), ..TextStyle::from(font) }
}

fn stroke(pair: Pair, pixels: f64) -> ShapeStyle {
    colour::rgb(pair).stroke_width((pixels * f64::from(FINE)) as u32)
}

fn headings(root: &Area<'_>, chart: &Chart) -> Result<(), Error> {
    let at = |y: i32| (SIDE * FINE, y * FINE);
    let bold = words(15.0, INK, HPos::Left, VPos::Top);
    let bold = TextStyle { font: bold.font.style(plotters::style::FontStyle::Bold), ..bold };
    if !chart.title.is_empty() {
        root.draw(&Text::new(chart.title.clone(), at(12), bold)).map_err(failed)?;
    }
    if !chart.note.is_empty() {
        root.draw(&Text::new(chart.note.clone(), at(TITLE), words(12.0, SOFT_INK, HPos::Left, VPos::Top))).map_err(failed)?;
    }
    Ok(())
}

fn colour_of(series: &Series, number: usize) -> Pair {
    match (series.ramp, series.colour) {
        (Some(share), _) => colour::between(share),
        (_, colour) => colour::CURVES[colour.unwrap_or(number) % colour::CURVES.len()],
    }
}

/// One entry of the legend: a piece of the curve, and its name.
fn sample(root: &Area<'_>, entry: &Entry<'_>, head: i32) -> Result<(), Error> {
    let (x, y) = ((SIDE + entry.x) * FINE, (head + entry.y + ROW / 2) * FINE);
    let pair = colour_of(entry.series, entry.number);
    let (ends, width) = ([(x, y), (x + SAMPLE * FINE, y)], 2.0);
    match entry.series.shape {
        Shape::Line => root.draw(&PathElement::new(ends.to_vec(), stroke(pair, width))),
        Shape::Dashed => root.draw(&DashedPathElement::new(ends.to_vec(), DASH * FINE, SPACE * FINE, stroke(pair, width))),
        Shape::Points => root.draw(&Circle::new((x + SAMPLE * FINE / 2, y), DOT, colour::rgb(pair).filled())),
        Shape::Bars | Shape::Band => {
            let share = if entry.series.shape == Shape::Band { BAND } else { BAR };
            root.draw(&Rectangle::new([(x, y - 5 * FINE), (x + SAMPLE * FINE, y + 5 * FINE)], colour::rgb(pair).mix(share).filled()))
        }
    }
    .map_err(failed)?;
    let at = (x + (SAMPLE + 6) * FINE, y);
    root.draw(&Text::new(entry.series.name.clone(), at, words(12.0, INK, HPos::Left, VPos::Center))).map_err(failed)
}

const DASH: i32 = 6;
const SPACE: i32 = 4;
const DOT: i32 = 3 * FINE;
const BAND: f64 = 0.28;
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

/// A dashed line across.
fn across(plot: &mut Plot<'_, '_>, mark: &Mark, [x, y]: [&Coordinate; 2]) -> Result<(), Error> {
    let axis = if mark.upright { x } else { y };
    if !axis.holds(mark.at) {
        return Ok(());
    }
    let ((left, right), (bottom, top)) = (x.ends(), y.ends());
    let line = if mark.upright { [(mark.at, bottom), (mark.at, top)] } else { [(left, mark.at), (right, mark.at)] };
    plot.plotting_area().draw(&DashedPathElement::new(line.to_vec(), 3 * FINE, 3 * FINE, stroke(SOFT_INK, 1.2))).map_err(failed)
}

/// The words of a line, at its upper or right end.
fn words_at(plot: &mut Plot<'_, '_>, mark: &Mark, chart: &Chart, [x, y]: [&Coordinate; 2]) -> Result<(), Error> {
    let axis = if mark.upright { x } else { y };
    if !axis.holds(mark.at) || mark.words.is_empty() {
        return Ok(());
    }
    let (right, top) = (x.ends().1, y.ends().1);
    let (column, row) = (x.share(mark.at), y.share(mark.at));
    // Words at upright lines stand one below the other.
    let row_of = || chart.marks.iter().take_while(|other| *other != mark).filter(|other| other.upright).count() as i32;
    // To the side that has room.
    let (at, h, v, (dx, dy)) = match (mark.upright, column > 0.7, row > 0.9) {
        (true, false, _) => ((mark.at, top), HPos::Left, VPos::Top, (5, 4 + 15 * row_of())),
        (true, true, _) => ((mark.at, top), HPos::Right, VPos::Top, (-5, 4 + 15 * row_of())),
        (false, _, false) => ((right, mark.at), HPos::Right, VPos::Bottom, (-4, -2)),
        (false, _, true) => ((right, mark.at), HPos::Right, VPos::Top, (-4, 3)),
    };
    let place = plot.backend_coord(&at);
    let root = plot.plotting_area().strip_coord_spec();
    let (base_x, base_y) = root.get_base_pixel();
    let at = (place.0 - base_x + dx * FINE, place.1 - base_y + dy * FINE);
    root.draw(&Text::new(mark.words.clone(), at, words(11.5, SOFT_INK, h, v))).map_err(failed)
}

/// Runs of points that have a place.
fn pieces<'a>(chart: &'a Chart, series: &'a Series) -> impl Iterator<Item = &'a [(f64, f64, f64)]> {
    series.points.split(|point| !chart.places(point)).filter(|piece| !piece.is_empty())
}

fn draw(plot: &mut Plot<'_, '_>, chart: &Chart, series: &Series, pair: Pair, [x, y]: [&Coordinate; 2]) -> Result<(), Error> {
    let area = plot.plotting_area();
    let at = |x_value: f64, y_value: f64| (x.clamped(x_value), y.clamped(y_value));
    let width = if series.ramp.is_some() { 1.3 } else { 2.0 };
    for piece in pieces(chart, series) {
        // A line is cut where it leaves the range, not drawn along the edge.
        let visible = |point: &&(f64, f64, f64)| x.holds(point.0) && y.holds(point.1);
        match series.shape {
            Shape::Line | Shape::Dashed => {
                for inside in piece.split(|point| !visible(&point)).filter(|inside| !inside.is_empty()) {
                    let path: Vec<(f64, f64)> = inside.iter().map(|&(x, y, _)| (x, y)).collect();
                    match series.shape {
                        Shape::Line => area.draw(&PathElement::new(path, stroke(pair, width))),
                        _ => area.draw(&DashedPathElement::new(path, DASH * FINE, SPACE * FINE, stroke(pair, width))),
                    }
                    .map_err(failed)?;
                }
            }
            Shape::Points => {
                for &(x, y, _) in piece.iter().filter(visible) {
                    area.draw(&Circle::new((x, y), DOT, colour::rgb(pair).filled())).map_err(failed)?;
                }
            }
            Shape::Bars => {
                let half =
                    0.4 * series.points.windows(2).map(|pair| (pair[1].0 - pair[0].0).abs()).fold(f64::INFINITY, f64::min).min(1e300);
                let foot = y.clamped(0.0);
                for &(place, top, _) in piece.iter().filter(|point| x.holds(point.0)) {
                    let corners = [at(place - half, foot), at(place + half, top)];
                    area.draw(&Rectangle::new(corners, colour::rgb(pair).mix(BAR).filled())).map_err(failed)?;
                }
            }
            Shape::Band => {
                let low = piece.iter().map(|&(x, low, _)| at(x, low));
                let high = piece.iter().rev().map(|&(x, _, high)| at(x, high));
                area.draw(&Polygon::new(low.chain(high).collect::<Vec<_>>(), colour::rgb(pair).mix(BAND))).map_err(failed)?;
            }
        }
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// At its size, with its title and description for those who do not see it, and its colours on a dark page.
fn finished(text: &str, chart: &Chart, (width, height): (i32, i32)) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body).replace(" opacity=\"1\"", "");
    // Said once, for all texts.
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
