//! What a chart's document says: every shape, what has no place, words that are escaped, and both pages' colours.
#![allow(missing_docs, reason = "a test has no public interface")]

use truebloom_plot::{Axis, Chart, Error, Mark, Series};

fn chart() -> Chart {
    Chart::new("Rates", Axis::linear("items"), Axis::log("rate"))
}

fn lines<'a>(svg: &'a str, tag: &str) -> Vec<&'a str> {
    svg.lines().filter(|line| line.starts_with(&format!("<{tag} "))).collect()
}

/// Polylines of a curve's colour, legend left out.
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
    assert!(of_colour(&dashed, "polyline", BLUE) > 20);
    let dots = chart().with(Series::points("points", points.clone())).svg().expect("points");
    assert_eq!(of_colour(&dots, "circle", BLUE), 21);
    let bars = chart().with(Series::bars("bars", points)).svg().expect("points");
    assert_eq!(of_colour(&bars, "rect", BLUE), 21);
    let band = chart().with(Series::band("a band", band)).svg().expect("points");
    assert_eq!((of_colour(&band, "polygon", BLUE), of_colour(&band, "rect", BLUE)), (1, 1));
    // Unnamed, it is not in the legend.
    let unnamed = chart().with(Series::line("hidden", vec![(1.0, 0.1), (2.0, 0.2)]).unnamed()).svg().expect("points");
    assert!(of_colour(&unnamed, "polyline", BLUE) == 1 && !unnamed.contains(">\nhidden"));
}

/// A value without a logarithm breaks its line, is counted, and never moved.
#[test]
fn what_has_no_place_is_left_out_and_counted() {
    let broken = vec![(1.0, 0.1), (2.0, 0.05), (3.0, 0.0), (4.0, 0.02), (5.0, f64::NAN), (6.0, 0.01), (7.0, 0.005)];
    let svg = chart().with(Series::line("broken", broken)).svg().expect("points");
    assert_eq!(of_colour(&svg, "polyline", BLUE), 4, "three pieces, and the legend's");
    assert!(svg.contains("Left out, without a place on the axes: 2</desc>"));
    let whole = chart().with(Series::line("whole", vec![(1.0, 0.1), (2.0, 0.05)])).svg().expect("points");
    assert!(!whole.contains("Left out"));
    for points in [vec![], vec![(1.0, 0.0)], vec![(f64::INFINITY, 0.1)], vec![(1.0, -3.0)]] {
        assert_eq!(chart().with(Series::line("none", points)).svg(), Err(Error::NothingToDraw));
    }
    // Cut off at a range that was given, not drawn along its edge.
    let cut = Chart::new("Cut", Axis::linear("x"), Axis::log("y").between(0.01, 1.0));
    let cut = cut.with(Series::line("cut", (1..=6).map(|i| (f64::from(i), 0.1f64.powi(i))).collect())).svg().expect("points");
    let curve = lines(&cut, "polyline").into_iter().rfind(|line| line.contains(BLUE)).expect("a curve");
    assert_eq!(curve.matches(',').count(), 2, "{curve}");
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

/// The same bytes each time, one file for both pages, and no word of another file.
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

/// Any numbers: a chart or an error, and the ends of ranges are kept apart.
#[test]
fn extreme_numbers_draw_or_are_refused() {
    for y in [f64::MIN_POSITIVE, 5e-324, 1e-300, 1.0, 1e300, f64::MAX] {
        for scale in [Axis::log("y"), Axis::linear("y")] {
            for x in [0.0, -1e300, 1e-300, 7.0, 1e300] {
                let svg = Chart::new("one", Axis::linear("x"), scale.clone()).with(Series::points("p", vec![(x, y)])).svg();
                // No logarithm of a number that small is told from the next, and no difference of numbers that large.
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
