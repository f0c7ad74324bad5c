//! Colours for light pages, and the corresponding colours for dark pages.
//!
//! The curves use the colours of Okabe and Ito, which colour-blind people can distinguish. Each
//! colour is darkened or lightened until it has a contrast of at least 3 to 1 with its page. All
//! colours are known in advance, so one style sheet serves any number of charts.

use plotters::style::RGBColor;
use std::fmt::Write;

/// The colour on a light page, and the colour on a dark page.
pub(crate) type Pair = [(u8, u8, u8); 2];

pub(crate) const PAPER: Pair = [(0xFF, 0xFF, 0xFF), (0x0F, 0x14, 0x19)];
pub(crate) const INK: Pair = [(0x1F, 0x23, 0x28), (0xE6, 0xEA, 0xEE)];
pub(crate) const SOFT_INK: Pair = [(0x57, 0x60, 0x6A), (0x9A, 0xA5, 0xB1)];
pub(crate) const GRID: Pair = [(0xD6, 0xDC, 0xE2), (0x33, 0x3C, 0x46)];
pub(crate) const FAINT_GRID: Pair = [(0xED, 0xF0, 0xF3), (0x1F, 0x26, 0x2D)];

/// The colours of curves: blue, vermilion, green, purple, ochre, grey.
pub(crate) const CURVES: [Pair; 6] = [
    [(0x00, 0x72, 0xB2), (0x5A, 0xAE, 0xEE)],
    [(0xD5, 0x5E, 0x00), (0xFF, 0x8F, 0x45)],
    [(0x11, 0x66, 0x22), (0x8F, 0xD6, 0x94)],
    [(0xA9, 0x4C, 0x8A), (0xE8, 0x9D, 0xCB)],
    [(0x96, 0x6B, 0x00), (0xEF, 0xB8, 0x3A)],
    [(0x5F, 0x68, 0x73), (0xA8, 0xB2, 0xBD)],
];

/// The number of steps in the ramp of colours.
const STEPS: u32 = 40;

/// A colour from blue through grey to vermilion, in steps.
pub(crate) fn between(share: f64) -> Pair {
    let share = (share * f64::from(STEPS)).round() / f64::from(STEPS);
    let mix = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    let of = |page: usize| {
        let ((r, g, b), (s, h, c)) = (CURVES[0][page], CURVES[1][page]);
        (mix(r, s), mix(g, h), mix(b, c))
    };
    [of(0), of(1)]
}

pub(crate) fn rgb(pair: Pair) -> RGBColor {
    let (r, g, b) = pair[0];
    RGBColor(r, g, b)
}

/// All colours that a chart can have.
pub(crate) fn all() -> Vec<Pair> {
    let ramp = (0..=STEPS).map(|step| between(f64::from(step) / f64::from(STEPS)));
    let mut pairs: Vec<Pair> = [PAPER, INK, SOFT_INK, GRID, FAINT_GRID].into_iter().chain(CURVES).collect();
    for pair in ramp {
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs
}

/// Style rules that replace each colour on a dark page. These rules override presentation
/// attributes, regardless of specificity.
pub(crate) fn dark_rules(pairs: &[Pair]) -> String {
    let hex = |(r, g, b): (u8, u8, u8)| format!("#{r:02X}{g:02X}{b:02X}");
    let mut rules = String::new();
    for [light, dark] in pairs.iter().map(|pair| pair.map(hex)) {
        let _ = write!(rules, "[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}");
    }
    // Texts have a rim in the page's colour, so that they are readable on lines.
    let rim = |paper: &str| format!("svg text{{stroke:{paper};stroke-width:32px;stroke-linejoin:round;paint-order:stroke}}");
    let [light, dark] = PAPER.map(hex);
    format!("{}@media (prefers-color-scheme: dark){{{rules}{}}}", rim(&light), rim(&dark))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contrast ratio as defined by the web's accessibility guidelines.
    fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        let light = |(r, g, b)| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        let (high, low) = (f64::max(light(a), light(b)), f64::min(light(a), light(b)));
        (high + 0.05) / (low + 0.05)
    }

    #[test]
    fn curves_and_words_stand_out_on_both_pages() {
        for page in 0..2 {
            let least = |pairs: &[Pair]| pairs.iter().map(|pair| contrast(pair[page], PAPER[page])).fold(f64::INFINITY, f64::min);
            assert!(least(&CURVES) >= 3.0, "{}", least(&CURVES));
            assert!(least(&(0..=20).map(|i| between(f64::from(i) / 20.0)).collect::<Vec<_>>()) >= 3.0);
            assert!(least(&[INK]) >= 12.0 && least(&[SOFT_INK]) >= 5.0);
        }
    }

    /// Tests that the first four curves remain distinguishable to people who lack one kind of cone,
    /// by Brettel's simulation in its usual short form. Few charts have more curves.
    #[test]
    fn curves_differ_for_those_who_see_fewer_colours() {
        let seen: [[[f64; 3]; 3]; 3] = [
            [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
            [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
            [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
        ];
        for page in 0..2 {
            for matrix in seen {
                let of = |pair: &Pair| {
                    let (r, g, b) = pair[page];
                    matrix.map(|row| row[0] * f64::from(r) + row[1] * f64::from(g) + row[2] * f64::from(b))
                };
                for (i, a) in CURVES[..4].iter().enumerate() {
                    for b in &CURVES[..i] {
                        let apart = of(a).iter().zip(of(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                        assert!(apart > 30.0, "{a:?} {b:?} {apart}");
                    }
                }
            }
        }
    }
}
