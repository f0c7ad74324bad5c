//! Reads numbers, rates, times and seeds in the notations of users.

use crate::args;
use truebloom::{Rate, Seed};

/// Reads a text as each kind of argument, prints the value, and reads it again.
pub fn text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = (args::items(text), args::confidence(text), args::time(text), args::seconds(text), args::probes(text), args::json_whole(text));
    if let (Ok(bits), Ok(bytes)) = (args::bits(text), args::bytes(text)) {
        // The text `8` means 8 bits or 8 bytes; `8B` means 64 bits or 8 bytes.
        assert!(bits == bytes || bits / 8 == bytes, "{bits} {bytes}");
    }
    if let Ok(count) = args::count(text) {
        assert_eq!(args::count(&count.to_string()), Ok(count));
    }
    if let Ok(rate) = args::rate(text) {
        let shown = rate.to_string();
        assert_eq!(shown.parse::<Rate>().as_ref(), Ok(&rate), "{shown}");
        let (numerator, exponent, divisor) = rate.parts();
        assert_eq!(Rate::from_parts(numerator, exponent, divisor), Ok(rate));
        assert!((0.0..=1.0).contains(&rate.to_f64()) && rate.ln() <= 0.0);
    }
    if let Ok(seed) = text.parse::<Seed>() {
        assert_eq!(seed.to_string().parse::<Seed>().ok(), Some(seed));
    }
}
