//! Tests the documents of charts: every shape, points that cannot be shown, escaped text, and the
//! colours of light and dark pages.
#![allow(missing_docs, reason = "a test has no public interface")]

use truebloom_plot::{Axis, Chart, Error, Mark, Series, page_style, without_style};

fn chart() -> Chart {
    Chart::new("Rates", Axis::linear("items"), Axis::log("rate"))
}

fn lines<'a>(svg: &'a str, tag: &str) -> Vec<&'a str> {
    svg.lines().filter(|line| line.starts_with(&format!("<{tag} "))).collect()
}

/// The number of elements with this tag and colour.
fn of_colour(svg: &str, tag: &str, colour: &str) -> usize {
    lines(svg, tag).iter().filter(|line| line.contains(colour)).count()
}

const BLUE: &str = "#0072B2";

#[test]
fn every_shape_has_its_element() {
    let points: Vec<(f64, f64)> = (1..=20).map(|i| (f64::from(i), 0.5f64.powi(i))).collect();
    let band = points.iter().map(|&(x, y)| (x, y / 2.0, y * 2.0)).collect();
    let line = chart().with(Series::line("a line", points.clone())).svg().expect("points");
    assert_eq!(of_colour(&line, "polyline", BLUE), 2, "the curve, and its piece in the legend");
    let dashed = chart().with(Series::dashed("dashes", points.clone())).svg().expect("points");
    assert_eq!(of_colour(&dashed, "polyline", BLUE), 2);
    assert_eq!(dashed.matches("stroke-dasharray").count(), 2, "the curve and its piece in the legend, each one line");
    assert!(!line.contains("stroke-dasharray"));
    let dots = chart().with(Series::points("points", points.clone())).svg().expect("points");
    assert_eq!(of_colour(&dots, "circle", BLUE), 21);
    let bars = chart().with(Series::bars("bars", points)).svg().expect("points");
    assert_eq!(of_colour(&bars, "rect", BLUE), 21);
    let band = chart().with(Series::band("a band", band)).svg().expect("points");
    assert_eq!((of_colour(&band, "polygon", BLUE), of_colour(&band, "rect", BLUE)), (1, 1));
    assert_eq!(of_colour(&band, "polyline", BLUE), 2, "its edges, which are what is seen of a narrow one");
    // A series without a name is not in the legend.
    let unnamed = chart().with(Series::line("hidden", vec![(1.0, 0.1), (2.0, 0.2)]).unnamed()).svg().expect("points");
    assert!(of_colour(&unnamed, "polyline", BLUE) == 1 && !unnamed.contains(">\nhidden"));
}

/// Tests that values without a logarithm interrupt their line and are counted, but not moved.
#[test]
fn what_has_no_place_is_left_out_and_counted() {
    let broken = vec![(1.0, 0.1), (2.0, 0.05), (3.0, 0.0), (4.0, 0.02), (5.0, f64::NAN), (6.0, 0.01), (7.0, 0.005)];
    let svg = chart().with(Series::line("broken", broken)).svg().expect("points");
    assert_eq!(of_colour(&svg, "polyline", BLUE), 3, "two pieces, and the legend's");
    assert_eq!(of_colour(&svg, "circle", BLUE), 1, "the value that stands alone");
    assert!(svg.contains("Left out, without a place on the axes: 2</desc>"));
    let whole = chart().with(Series::line("whole", vec![(1.0, 0.1), (2.0, 0.05)])).svg().expect("points");
    assert!(!whole.contains("Left out"));
    for points in [vec![], vec![(1.0, 0.0)], vec![(f64::INFINITY, 0.1)], vec![(1.0, -3.0)]] {
        assert_eq!(chart().with(Series::line("none", points)).svg(), Err(Error::NothingToDraw));
    }
}

/// Tests that a line is cut where it crosses the edge of a given range. It must neither end at its
/// last point inside nor be drawn along the edge.
#[test]
fn lines_are_cut_at_the_edge() {
    let curve = |low: f64, points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        let chart = Chart::new("Cut", Axis::linear("x").between(0.0, 8.0), Axis::log("y").between(low, 1.0));
        let svg = chart.with(Series::line("cut", points)).svg().expect("points");
        let curve = lines(&svg, "polyline").into_iter().rfind(|line| line.contains(BLUE)).expect("a curve").to_owned();
        let places = curve.split("points=\"").nth(1).expect("points").trim_end_matches("\"/>").trim();
        places
            .split(' ')
            .map(|place| place.split_once(',').expect("two"))
            .map(|(x, y)| (x.parse().expect("x"), y.parse().expect("y")))
            .collect()
    };
    let falling: Vec<(f64, f64)> = (1..=6).map(|i| (f64::from(i), 0.1f64.powi(i))).collect();
    let all: Vec<(f64, f64)> = curve(1e-6, falling.clone());
    let cut: Vec<(f64, f64)> = curve(10f64.powf(-2.5), falling);
    let foot = all[5].1;
    // Halfway between the second and the third point, at the bottom of the chart.
    assert_eq!((all.len(), cut.len(), cut[2].1), (6, 3, foot));
    assert!((2.0 * (cut[2].0 - cut[1].0) - (cut[1].0 - cut[0].0)).abs() <= 2.0, "{cut:?}");
    // The line comes back on the other side. A line whose points are all outside also crosses the
    // chart.
    assert_eq!(curve(0.01, vec![(1.0, 0.001), (2.0, 0.1), (3.0, 0.001)]).len(), 3);
    let whole: Vec<(f64, f64)> = curve(0.01, vec![(0.0, 0.1), (8.0, 0.1)]);
    assert_eq!(curve(0.01, vec![(-4.0, 0.1), (12.0, 0.1)]), whole);
}

/// Tests that the texts of horizontal lines never overlap, however close the lines are.
#[test]
fn words_of_near_lines_do_not_meet() {
    for values in [vec![0.5, 0.5001], vec![0.5, 0.5001, 0.5002], vec![0.99, 0.98, 0.97], vec![0.3, 0.6], vec![1e-9, 1e-8, 0.0]] {
        let mut chart = Chart::new("Marks", Axis::linear("x"), Axis::linear("y").between(0.0, 1.0));
        chart = chart.with(Series::line("", vec![(0.0, 0.0), (1.0, 1.0)]));
        for value in &values {
            chart = chart.marked(Mark::level(*value, format!("mark {value}")));
        }
        let places = places_of_words(&chart.svg().expect("points"));
        assert_eq!(places.len(), values.len());
        for (number, (left, top)) in places.iter().enumerate() {
            // The lines have a length of 120 units, and no word is wider than 800.
            let meets = |(other_left, other_top): &(f64, f64)| (top - other_top).abs() < 120.0 && (left - other_left).abs() < 800.0;
            assert!(!places[..number].iter().any(meets), "{values:?}: {places:?}");
        }
        // The texts are between the axes: above the bottom, which is at 440 pixels minus the height
        // of the label, and below the title and the note.
        assert!(places.iter().all(|(_, top)| *top > 400.0), "{values:?}: {places:?}");
        assert!(places.iter().all(|(_, top)| *top < 3_900.0), "{values:?}: {places:?}");
    }
}

/// The left and upper edges of the texts "mark ...", in tenths of a pixel.
fn places_of_words(svg: &str) -> Vec<(f64, f64)> {
    let of = |text: &str, name: &str| {
        text.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next()?.parse().ok()).expect("a place")
    };
    svg.split("<text ").filter(|text| text.contains("\nmark ")).map(|text| (of(text, "x"), of(text, " y"))).collect()
}

/// Tests that texts cover no curve if there is room elsewhere. Otherwise, the curve is drawn over
/// the text, so that the curve remains visible.
#[test]
fn words_leave_curves_alone() {
    let steep: Vec<(f64, f64)> = (0..=100).map(|i| (f64::from(i), 100.0 / (1.0 + (-(f64::from(i) - 50.0) / 8.0).exp()))).collect();
    let chart = Chart::new("Words", Axis::linear("x").between(0.0, 100.0), Axis::linear("y").between(0.0, 100.0));
    let marked =
        chart.with(Series::line("", steep)).marked(Mark::upright(50.0, "mark the middle")).marked(Mark::upright(95.0, "mark the end"));
    let svg = marked.svg().expect("points");
    let curve = lines(&svg, "polyline").into_iter().find(|line| line.matches(',').count() > 50).expect("a curve").to_owned();
    let points: Vec<(f64, f64)> = curve
        .split("points=\"")
        .nth(1)
        .expect("points")
        .trim_end_matches("\"/>")
        .split_whitespace()
        .filter_map(|place| place.split_once(','))
        .map(|(x, y)| (x.parse().expect("x"), y.parse().expect("y")))
        .collect();
    for (left, top) in places_of_words(&svg) {
        let inside = |(x, y): &(f64, f64)| (left..left + 800.0).contains(x) && (top..top + 120.0).contains(y);
        assert!(!points.iter().any(inside), "{left} {top}: {svg}");
    }
    assert!(svg.find("\nmark ").expect("words") < svg.find(&curve).expect("the curve"), "words come first");
}

/// Tests a narrow chart, in which a text fits on neither side of its line.
#[test]
fn words_leave_curves_alone_in_a_narrow_chart() {
    let rising = (0..=40).map(|i| (f64::from(i), 1.0 - (-f64::from(i) / 6.0).exp())).collect();
    let chart = Chart::new("", Axis::linear("x"), Axis::linear("y")).with(Series::line("", rising));
    let svg = chart.marked(Mark::upright(20.0, "mark as wide as half")).sized(300, 300).svg().expect("points");
    let [(_, top)] = places_of_words(&svg)[..] else { panic!("one text") };
    // From there on, the curve is above 290. The first row of texts begins at 180.
    assert!(top > 290.0, "{top}: {svg}");
}

/// Tests that the points of six series have six shapes, and that a page of charts has one style
/// sheet with a rule for every colour.
#[test]
fn series_differ_by_shape_and_pages_have_one_sheet() {
    let mut shapes = Vec::new();
    let mut chart = chart();
    for number in 0..6u32 {
        chart = chart.with(Series::points(format!("series {number}"), vec![(f64::from(number), 0.1)]));
        let alone = Chart::new("one", Axis::linear("x"), Axis::linear("y"));
        let alone = alone.with(Series::points("", vec![(1.0, 1.0)]).coloured(number as usize)).svg().expect("a point");
        let shape = alone.lines().rfind(|line| line.starts_with("<circle") || line.starts_with("<polygon")).expect("a point");
        // The corners, starting with the first.
        let corners: Vec<(i32, i32)> = shape
            .split("points=\"")
            .nth(1)
            .map_or("", |rest| rest.trim_end_matches("\"/>").trim())
            .split_whitespace()
            .filter_map(|corner| corner.split_once(','))
            .map(|(x, y)| (x.parse().expect("x"), y.parse().expect("y")))
            .collect();
        let first = corners.first().copied().unwrap_or_default();
        shapes.push(corners.iter().map(|(x, y)| (x - first.0, y - first.1)).collect::<Vec<_>>());
    }
    assert!(shapes.iter().enumerate().all(|(i, shape)| shapes[..i].iter().all(|other| other != shape)), "{shapes:?}");
    let ramp = (0..30).map(|i| Series::line("", vec![(0.0, 0.1), (1.0, 0.2)]).graded(f64::from(i) / 29.0));
    let svg = chart.with_all(ramp).svg().expect("points");
    let bare = without_style(&svg);
    assert!(svg.contains("<style>") && !bare.contains("<style>") && bare.ends_with("</svg>\n") && bare.len() < svg.len());
    let own: Vec<&str> = svg.split_once("dark){").and_then(|(_, rest)| rest.split_once("</style>")).expect("rules").0.split('}').collect();
    let page = page_style();
    let coloured: Vec<&&str> = own.iter().filter(|rule| rule.contains("=\"#")).collect();
    // The page has a ramp of thirty shades, six points, the axes and the texts.
    assert!(coloured.len() > 36, "{own:?}");
    assert!(coloured.iter().all(|rule| page.contains(&format!("{rule}}}"))), "{page}");
}

#[test]
fn words_are_escaped_and_described() {
    let svg = Chart::new("a < b & \"c\"", Axis::linear("x"), Axis::linear("y"))
        .note("10 > 9")
        .with(Series::line("<script>", vec![(0.0, 1.0), (1.0, 2.0)]))
        .marked(Mark::level(1.5, "R&D"))
        .svg()
        .expect("points");
    assert!(svg.contains("<title>a &lt; b &amp; &quot;c&quot;</title>") && svg.contains("<desc>y by x. &lt;script&gt;. 10 &gt; 9</desc>"));
    assert!(!svg.contains("<script") && svg.contains("R&amp;D"));
    assert_eq!(svg.matches("<svg ").count(), 1);
    assert!(svg.ends_with("</svg>\n"));
}

/// Tests that a chart always has the same bytes, that one document serves light and dark pages, and
/// that it refers to no other file.
#[test]
fn one_file_for_light_and_dark_pages() {
    let of = || {
        chart()
            .with(Series::line("a", vec![(1.0, 0.1), (2.0, 0.2)]))
            .with(Series::line("b", vec![(1.0, 0.3), (2.0, 0.4)]))
            .svg()
            .expect("points")
    };
    let svg = of();
    assert_eq!(svg, of());
    let (_, dark) = svg.split_once("prefers-color-scheme: dark").expect("a rule");
    for colour in ["#FFFFFF", "#1F2328", "#57606A", BLUE, "#D55E00"] {
        assert!(dark.contains(&format!("[fill=\"{colour}\"]{{fill:#")), "{colour} has another on dark pages");
    }
    let links = svg.replace("http://www.w3.org/2000/svg", "");
    assert!(!links.contains("http") && !links.contains("url(") && !links.contains("href"));
}

/// Tests that any numbers give a chart or an error, and that the two ends of a range always differ.
#[test]
fn extreme_numbers_draw_or_are_refused() {
    for y in [f64::MIN_POSITIVE, 5e-324, 1e-300, 1.0, 1e300, f64::MAX] {
        for scale in [Axis::log("y"), Axis::linear("y")] {
            for x in [0.0, -1e300, 1e-300, 7.0, 1e300] {
                let svg = Chart::new("one", Axis::linear("x"), scale.clone()).with(Series::points("p", vec![(x, y)])).svg();
                // The logarithm of numbers this small cannot distinguish neighbouring numbers, and
                // neither can the difference of numbers this large.
                let drawn = (1e-300..=1e300).contains(&y) || y == f64::MIN_POSITIVE || y < 1.0 && scale == Axis::linear("y");
                assert_eq!(svg.is_ok(), drawn, "{x} {y} {scale:?}");
                assert!(svg.is_ok_and(|svg| !svg.contains("NaN") && !svg.contains("inf")) || !drawn, "{x} {y} {scale:?}");
            }
        }
    }
    let names = vec!["first".to_owned(), "second".to_owned()];
    let svg = Chart::new("names", Axis::log("x"), Axis::named("", names))
        .with(Series::points("p", vec![(0.1, 0.0), (0.2, 1.0)]))
        .svg()
        .expect("points");
    assert!(svg.contains("\nfirst\n") && svg.contains("\nsecond\n"));
}

/// Tests that in a narrow chart, neighbouring tick labels do not touch, and that no text extends
/// beyond an edge.
#[test]
fn words_fit_a_narrow_chart() {
    let axes = [(Axis::linear("items"), 2e7), (Axis::linear("items"), 2e9), (Axis::log("rate"), 3e4)];
    for ((axis, last), at) in axes.iter().cloned().flat_map(|axis| [0.02, 0.3, 0.48, 0.6, 0.69, 0.95].map(|at| (axis.clone(), at))) {
        let line = Series::line("a line", vec![(last / 2000.0, 0.0), (last, 1.0)]);
        let mark = Mark::upright(at * last, "asked for 1,000 items".to_owned());
        // A second text at the same line finds that the better side is occupied.
        let second = Mark::upright(at * last, "and 1,000 more of them".to_owned());
        let svg = Chart::new("", axis, Axis::linear("y")).with(line).marked(mark).marked(second).sized(300, 300).svg().expect("points");
        let attribute =
            |text: &str, name: &str| text.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next().map(str::to_owned));
        let mut foot = Vec::new();
        for text in svg.split("<text ").skip(1).map(|text| format!(" {text}")) {
            if text.contains("rotate") {
                continue;
            }
            let words = text.split('>').nth(1).and_then(|rest| rest.split('<').next()).expect("words").trim().to_owned();
            let number = |name: &str| attribute(&text, name).and_then(|value| value.parse::<f64>().ok()).expect("a place");
            // A usual letter is half as wide as the type size.
            let wide = 58.0 * words.chars().count() as f64;
            let left = number("x")
                - wide
                    * match attribute(&text, "text-anchor").as_deref() {
                        Some("middle") => 0.5,
                        Some("end") => 1.0,
                        _ => 0.0,
                    };
            assert!((0.0..=3000.0 - wide).contains(&left), "{words} from {left} over {wide}");
            foot.push((number("y"), left, left + wide, words));
        }
        for (i, a) in foot.iter().enumerate() {
            for b in &foot[..i] {
                assert!((a.0 - b.0).abs() > 60.0 || a.1 >= b.2 || b.1 >= a.2, "{a:?} meets {b:?}");
            }
        }
    }
}
