//! Numbers in the form in which people write them: `10M`, `64MiB`, `0.1%`. An error says how to
//! write the number.

use std::time::Duration;
use truebloom_math::Rate;

/// A whole number with an optional suffix: k, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (of 1024).
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn count(text: &str) -> Result<u64, String> {
    scaled(text).and_then(|(number, unit)| match unit {
        "" => Ok(number),
        _ => Err(format!("`{text}` is not a number of items; write it as 1000, 10k, 10M or 2.5e9")),
    })
}

/// A number of items; for a rate in its place, the error says so.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn items(text: &str) -> Result<u64, String> {
    count(text).map_err(|error| match text.parse::<Rate>() {
        Ok(_) => format!("{error}; if that is the rate, give it with -p"),
        Err(_) => error,
    })
}

/// Bits: plain numbers and suffixes count bits, also with a final `b`; with a final `B` they count
/// bytes.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn bits(text: &str) -> Result<u64, String> {
    match scaled(text)? {
        (number, "" | "b" | "bit" | "bits") => Ok(number),
        (number, "B") => number.checked_mul(8).ok_or_else(|| format!("`{text}` is more than 2^64 bits")),
        _ => Err(format!("`{text}` is not a size; write bits as 1M or 64Mi, bytes as 2MB or 64MiB")),
    }
}

/// Bytes, with or without the final `B`.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn bytes(text: &str) -> Result<u64, String> {
    match scaled(text)? {
        (number, "" | "B") => Ok(number),
        _ => Err(format!("`{text}` is not a size in bytes; write it as 64MiB or 2GB")),
    }
}

/// Bytes of memory for a useful filter: a small number without a unit is an error, because so few
/// bytes can hardly be meant.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn memory(text: &str) -> Result<u64, String> {
    let size = bytes(text)?;
    if size < LEAST_BARE && text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        let size = text.trim();
        return Err(format!("`{size}` would be {size} bytes; write a unit: {size}MiB, {size}KiB, or {size}B if bytes are meant"));
    }
    Ok(size)
}

/// A number of bytes without a unit must be at least this.
const LEAST_BARE: u64 = 64 << 10;

/// The number of probes for a filter that can have at most `most`.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn probes_up_to(most: u32, text: &str) -> Result<u32, String> {
    let found = count(text).ok().and_then(|probes| u32::try_from(probes).ok()).filter(|probes| (1..=most).contains(probes));
    found.ok_or_else(|| format!("`{text}` is not a number of probes from 1 to {most}"))
}

/// A rate, exactly as it is written: `0.1%`, `1/1000`, `1 in 1000`, `1e-3`.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn rate(text: &str) -> Result<Rate, String> {
    let fraction = one_in(text);
    fraction.as_deref().unwrap_or(text).parse().map_err(|error: truebloom_math::Error| match count(text) {
        Ok(percent @ 1..100) => format!("{error}; did you mean {percent}%?"),
        Ok(100..) => format!("{error}; if that is the number of items, give it with -n"),
        _ => error.to_string(),
    })
}

/// `1 in 1000` or `one in a thousand` as a fraction.
fn one_in(text: &str) -> Option<String> {
    let (part, whole) = text.split_once(" in ")?;
    Some(format!("{}/{}", count(part).ok()?, count(whole).ok()?))
}

/// A probability that something holds.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn confidence(text: &str) -> Result<f64, String> {
    rate(text)
        .map(|share| share.to_f64())
        .map_err(|_| format!("`{text}` is not a confidence above 0% and below 100%; write it as 95% or 0.95"))
}

/// A time with its unit: 30s, 10min, 1.5h, 7d, 2w. All commands read times with this function.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time; write it as 30s, 10min, 1h or 7d");
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "min" | "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
}

/// Bits per item: 10, 14.4.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn bits_per_item(text: &str) -> Result<f64, String> {
    let found = text.trim().parse::<f64>().ok().filter(|bits| *bits > 0.0 && *bits <= 1e6);
    found.ok_or_else(|| format!("`{text}` is not a number of bits per item above 0 and at most a million; write it as 10 or 14.4"))
}

/// A number of items per second: 5000, 2.5, 10k.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn per_second(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e12 => Ok(number),
        _ => count(text)
            .map(|number| number as f64)
            .ok()
            .filter(|number| *number > 0.0 && *number <= 1e12)
            .ok_or_else(|| format!("`{text}` is not a number of items per second above 0 and at most 10^12")),
    }
}

/// Like [`time`], in seconds; a number without a unit means seconds.
///
/// # Errors
/// The text is wrong; the error says how to write it.
pub fn seconds(text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    bare.map_or_else(|| time(text).map(|time| time.as_secs_f64()), Ok)
}

/// The number times its suffix, and the text after the suffix.
fn scaled(text: &str) -> Result<(u64, &str), String> {
    let text = text.trim();
    let (number, suffix) = split_number(text);
    let (number, suffix) = ["one", "a"].iter().find_map(|one| Some(("1", one_word(text, one)?))).unwrap_or((number, suffix.trim_start()));
    let (factor, unit) = [
        ("thousand", 1_000),
        ("million", 1_000_000),
        ("billion", 1_000_000_000),
        ("trillion", 1_000_000_000_000),
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("Pi", 1 << 50),
        ("Ei", 1 << 60),
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("P", 1_000_000_000_000_000),
        ("E", 1_000_000_000_000_000_000),
    ]
    .into_iter()
    .find_map(|(name, factor)| suffix.strip_prefix(name).map(|unit| (factor, unit)))
    .unwrap_or((1, suffix));
    let value = ungrouped(number).and_then(|number| decimal(&number).and_then(|(digits, exponent)| whole(digits, exponent, factor)));
    value.map(|value| (value, unit)).ok_or_else(|| match number {
        _ if text.starts_with('-') => format!("`{text}` is below 0; write a number such as 1000, 10k, 10M or 2.5e9"),
        "" => format!("`{text}` is not a number; write it as 1000, 10k, 10M or 2.5e9"),
        _ if text.contains(char::is_alphabetic) => {
            format!("`{text}` is not a whole number below 2^64; write it as 1000, 1,000 or 2.5e9, or with {SUFFIXES}")
        }
        _ => format!("`{text}` is not a whole number below 2^64"),
    })
}

/// The text after a word at the beginning.
fn one_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    if rest.is_empty() || rest.starts_with(' ') { Some(rest.trim_start()) } else { None }
}

/// The suffixes that may follow a number.
const SUFFIXES: &str = "k, M, G, T, P, E (powers of 1000) or Ki, Mi, Gi, Ti, Pi, Ei (powers of 1024)";

/// The digits, with their exponent if there is one, and the rest: in `1E`, E is a suffix, in `1E5`
/// an exponent.
fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '_' | ',')).unwrap_or(text.len());
    let after = text[end..].strip_prefix(['e', 'E']).map(|after| after.strip_prefix(['+', '-']).unwrap_or(after));
    let digits = after.map_or(0, |after| after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len());
    match (after, digits) {
        (Some(after), 1..) if end > 0 => text.split_at(text.len() - after.len() + digits),
        _ => text.split_at(end),
    }
}

/// The number without digit separators: underscores anywhere, commas before every three digits of
/// the whole part.
fn ungrouped(number: &str) -> Option<String> {
    let whole = number.split(['.', 'e', 'E']).next().unwrap_or(number);
    let rest = &number[whole.len()..];
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let has_groups = whole.len() > first.len();
    let are_whole = groups.all(|group| group.len() == 3) && (!has_groups || (1..=3).contains(&first.len()));
    if !are_whole || rest.contains(',') {
        return None;
    }
    Some(number.replace(['_', ','], ""))
}

/// Digits and power of ten.
fn decimal(text: &str) -> Option<(u64, i32)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction.trim_end_matches('0')].concat();
    let exponent: i32 = exponent.parse().ok()?;
    Some((digits.parse().ok()?, exponent.checked_sub(i32::try_from(digits.len() - whole.len()).ok()?)?))
}

/// `digits 10^exponent factor` if that is a whole number below 2^64.
fn whole(digits: u64, exponent: i32, factor: u64) -> Option<u64> {
    let product = u128::from(digits) * u128::from(factor);
    let ten = 10u128.checked_pow(exponent.unsigned_abs());
    let value = match (exponent, ten) {
        _ if product == 0 => 0,
        (0.., Some(ten)) => product.checked_mul(ten)?,
        (_, Some(ten)) if product.is_multiple_of(ten) => product / ten,
        _ => return None,
    };
    u64::try_from(value).ok()
}

/// A JSON number that stands for a whole number: `1000`, `1e9`, `5.0`.
#[must_use]
pub fn json_whole(number: &str) -> Option<u64> {
    decimal(number).and_then(|(digits, exponent)| whole(digits, exponent, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes() {
        for (text, expected) in [
            ("1000", 1000),
            ("10k", 10_000),
            ("10M", 10_000_000),
            ("2.5e9", 2_500_000_000),
            ("1_000", 1000),
            ("64Mi", 64 << 20),
            ("1.5M", 1_500_000),
            ("1e+3", 1000),
            ("1,000,000", 1_000_000),
            ("12,345.5k", 12_345_500),
            ("1E", 1_000_000_000_000_000_000),
            ("2Ei", 2 << 60),
            ("1E5", 100_000),
            ("0", 0),
            ("10 million", 10_000_000),
            ("2.5 billion", 2_500_000_000),
            ("a thousand", 1000),
            ("one million", 1_000_000),
            ("64 k", 64_000),
        ] {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        assert_eq!(bits("64MiB"), Ok(64 << 23));
        assert_eq!(bits("1M"), Ok(1_000_000));
        assert_eq!(bits("2MB"), Ok(16_000_000));
        assert_eq!(bits("64B"), Ok(512));
        assert_eq!((bits("64 MiB"), bits("8Mb"), bits("8 Mbit")), (Ok(64 << 23), Ok(8_000_000), Ok(8_000_000)));
        assert_eq!(bytes("2GB"), Ok(2_000_000_000));
        assert_eq!(bytes("64Mi"), Ok(64 << 20));
        assert_eq!((memory("64KiB"), memory("64B"), memory("1048576")), (Ok(65_536), Ok(64), Ok(1 << 20)));
        assert!(memory("64").expect_err("a slip").contains("64MiB"));
    }

    #[test]
    fn rates() {
        for text in ["0.1%", "1/1000", "1 in 1000", "1 in 1,000", "one in a thousand", "10 in 10k", "1e-3"] {
            assert_eq!(rate(text), "0.001".parse::<Rate>().map_err(|error| error.to_string()), "{text}");
        }
        assert_eq!(rate("1 in 10 million"), Ok("1e-7".parse().expect("a rate")));
        for text in ["", "1 in 1", "1 in 0", "1 in", "in 3", "1 in 1 in 4", "a in b", "5", "100%"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert!(rate("5").expect_err("a slip").contains("5%"));
    }

    #[test]
    fn times() {
        for (text, expected) in
            [("90", 90.0), ("1.5h", 5400.0), ("30min", 1800.0), ("7d", 604_800.0), ("1w", 604_800.0), ("0", 0.0), ("250ms", 0.25)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "h", "1y", "-3s", "1e999", "nan", "inf"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_says_how_to_write_one() {
        for text in [
            "",
            "x",
            "1.5",
            "-3",
            "10Q",
            "1e30",
            "ten",
            "1e",
            "1..2",
            "M",
            "1,00",
            "1000,000",
            ",1",
            "1,000,",
            "1,0000",
            "1.5,000",
            "e5",
            "20E",
            "99999999999999999999",
            "1e-1",
            "1e99999999999",
            "anything",
            "million million",
            "10 millions",
        ] {
            let error = count(text).expect_err(text);
            assert!(error.contains('`'), "{error}");
        }
        assert!(count("20E").expect_err("too many").contains("Ei (powers of 1024)"));
        assert!(bits("1MX").is_err() && bytes("1Mbit").is_err() && bits("4000000000GiB").is_err());
    }
}
