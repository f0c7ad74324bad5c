//! Measures the time to compute a plan. Prints the shortest of many times in microseconds, for
//! plans with and without a guarantee for a single filter:
//! `cargo run --release -p truebloom-math --example plan_speed`.

use std::hint::black_box;
use std::time::Instant;
use truebloom_math::{Plan, Rate, SchemeId, Target};

fn least(target: &Target) -> f64 {
    let start = Instant::now();
    let (mut least, mut runs) = (f64::INFINITY, 0);
    while runs < 5 || runs < 1_000 && start.elapsed().as_millis() < 150 {
        let begun = Instant::now();
        black_box(Plan::new(black_box(target)).expect("easy"));
        least = least.min(begun.elapsed().as_secs_f64());
        runs += 1;
    }
    1e6 * least
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.len() == 5 {
        let scheme: SchemeId = args[0].parse().expect("scheme");
        let mut target = Target::new().items(args[1].parse().expect("n")).rate(args[2].parse().expect("rate")).scheme(scheme);
        if args[3] == "mean" {
            target = target.mean();
        }
        for _ in 0..args[4].parse().expect("times") {
            black_box(Plan::new(black_box(&target)).expect("easy"));
        }
        return;
    }
    println!("{:<12}{:>14}{:>8}{:>12}{:>12}", "layout", "items", "rate", "mean", "guarantee");
    for scheme in SchemeId::ALL.into_iter().filter(|scheme| scheme.has_guarantee()) {
        for items in [100, 1_000, 5_000, 10_000, 100_000, 1_000_000, 1_000_000_000] {
            for text in ["10%", "1%", "0.1%", "1e-6", "1e-9"] {
                let rate: Rate = text.parse().expect("a rate");
                let target = Target::new().items(items).rate(rate).scheme(scheme);
                let (mean, sure) = (least(&target.clone().mean()), least(&target));
                println!("{:<12}{items:>14}{text:>8}{mean:>12.1}{sure:>12.1}", scheme.name());
            }
        }
    }
}
