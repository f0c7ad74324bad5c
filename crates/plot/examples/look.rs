//! Draws a chart with every shape and both scales:
//! `cargo run -p truebloom-plot --example look > look.svg`.

use truebloom_plot::{Axis, Chart, Error, Mark, Series};

fn main() -> Result<(), Error> {
    let rate = |items: f64, probes: f64| (1.0 - (-probes * items / 9_585.0).exp()).powf(probes);
    let points = |probes: f64| (1..=100).map(|i| (f64::from(i) * 20.0, rate(f64::from(i) * 20.0, probes))).collect::<Vec<_>>();
    let band = points(7.0).into_iter().map(|(x, y)| (x, y * 0.7, y * 1.4)).collect();
    let chart = Chart::new("Rate by items", Axis::linear("items in the filter"), Axis::log("false-positive rate").between(1e-7, 1.0))
        .note("9,585 bits; the band is nothing but an example")
        .with(Series::band("an interval", band).coloured(0))
        .with(Series::line("7 probes", points(7.0)).coloured(0))
        .with(Series::dashed("3 probes", points(3.0)).coloured(1))
        .with(Series::points("12 probes", points(12.0).into_iter().step_by(5).collect()).coloured(2))
        .marked(Mark::upright(1_000.0, "planned: 1,000 items"))
        .marked(Mark::level(0.01, "asked: 0.01"));
    print!("{}", chart.svg()?);
    Ok(())
}
