//! Parsing of numbers as people write them: `10M`, `64MiB`, `0.1%`. An error says how to write the
//! number.

#[cfg(test)]
mod tests;
mod times;

use times::seconds_of;
pub use times::{Span, span, time};

use truebloom_math::{Error, Rate};

/// Parses a whole number with an optional suffix: k, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (of
/// 1024).
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn count(text: &str) -> Result<u64, String> {
    let groups = by_points(text.trim());
    if let Some(groups @ [_, _, _, ..]) = groups.as_deref() {
        return Err(format!("`{text}` is not a number of items; did you mean {}?", groups.join(",")));
    }
    let written = Written::of(text, "1000, 10k, 10M or 2.5e9")?;
    let meant = match written.unit {
        "" => match groups.as_deref() {
            Some([whole, rest]) => format!("; did you mean {whole} or {whole},{rest}?"),
            _ => return written.whole(),
        },
        "m" => format!("; did you mean {0}M, {0} million?", written.number()),
        "b" | "bn" | "B" => format!("; did you mean {} billion?", written.number()),
        _ => String::new(),
    };
    Err(format!("`{text}` is not a number of items; write it as 1000, 10k, 10M or 2.5e9{meant}"))
}

/// The groups of a number like 200.000, which means 200 or, in some countries, 200,000, or of one
/// like 1.000.000. `None` for other texts.
fn by_points(text: &str) -> Option<Vec<&str>> {
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let (first, rest) = text.split_once('.')?;
    let is_first = (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0');
    let is_grouped = rest.split('.').all(|group| group.len() == 3 && is_digits(group));
    (is_first && is_grouped).then(|| text.split('.').collect())
}

/// Parses a number of items, which may be followed by a noun: `10 million users`. If the text is a
/// rate, a size or a time instead, the error says so.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn items(text: &str) -> Result<u64, String> {
    count(without_noun(text)).map_err(|error| match () {
        () if rate(text).is_ok() => format!("{error}{IS_RATE}"),
        // `1B` is more probably a billion than a byte.
        () if text.strip_suffix('B').is_some_and(|number| count(number).is_ok() && !number.ends_with(char::is_alphabetic)) => error,
        () if by_points(text).is_some() => error,
        () if bits(text).is_ok() => {
            format!("`{text}` is a size, not a number of items; write the number as 1000, 10k, 10M or 2.5e9")
        }
        () if time(text).is_ok() && !error.ends_with('?') => format!("{error}; that is a time, not a number of items"),
        () => error,
    })
}

/// The end of the error message for a number that may be a rate.
const IS_RATE: &str = "; if that is the rate, give it with -p";

/// Nouns that may follow a number of items.
const NOUNS: [&str; 16] = [
    "items",
    "item",
    "new items",
    "users",
    "user",
    "keys",
    "key",
    "lines",
    "line",
    "elements",
    "entries",
    "rows",
    "records",
    "words",
    "names",
    "URLs",
];

/// The text without a noun of [`NOUNS`] at its end.
fn without_noun(text: &str) -> &str {
    let text = text.trim();
    let rest = NOUNS.iter().filter_map(|noun| without_last(text, noun)).map(str::trim_end);
    // The longest noun leaves the shortest text.
    rest.min_by_key(|rest| rest.len()).unwrap_or(text)
}

/// The text before this word, if the text ends with the word (in upper or lower case) and is longer
/// than it.
fn without_last<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(word.len()).filter(|at| text.is_char_boundary(*at))?;
    let (rest, last) = text.split_at(at);
    (last.eq_ignore_ascii_case(word) && rest.ends_with(' ') && !rest.trim().is_empty()).then_some(rest)
}

/// Parses a number of bits. `1M` and `1Mb` are numbers of bits. A final `B` means bytes, as in
/// `1MB`. A number with a unit may have decimals, as in `17.14MiB`. Such a number is rounded down
/// to a whole bit.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn bits(text: &str) -> Result<u64, String> {
    bits_written(text).map_err(|error| if rate(text).is_ok() { error + IS_RATE } else { error })
}

fn bits_written(text: &str) -> Result<u64, String> {
    let written = Written::of(text, SIZES)?;
    let meant = match written.unit {
        "" | "b" | "bit" | "bits" => return written.rounded_down(1),
        "B" | "byte" | "bytes" => return written.rounded_down(8),
        _ => meant_size(text),
    };
    Err(format!("`{text}` is not a size; write bits as 1M or 64Mi, bytes as 2MB or 64MiB{meant}"))
}

/// Returns the probable meaning of a size whose unit is in lower case, as the end of an error
/// message; empty if the meaning is not clear.
fn meant_size(text: &str) -> String {
    let (number, unit) = split_number(text.trim());
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "m" | "mb" | "meg" | "megs" => "MB",
        "g" | "gb" | "gig" | "gigs" => "GB",
        "kib" => "KiB",
        "mib" => "MiB",
        "gib" => "GiB",
        _ => return String::new(),
    };
    format!("; did you mean {number}{unit}?")
}

/// Examples of sizes, for error messages.
const SIZES: &str = "64Mi, 2MB or 64MiB";

/// Parses a number of bytes, with or without the final `B`, rounded down to a whole byte.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn bytes(text: &str) -> Result<u64, String> {
    let written = Written::of(text, SIZES)?;
    match written.unit {
        "" | "B" | "byte" | "bytes" => written.rounded_down(1),
        _ => Err(format!("`{text}` is not a size in bytes; write it as 64MiB or 2GB{}", meant_size(text))),
    }
}

/// Parses the size of a filter's memory, in bytes. A number below 65,536 without a unit is an
/// error, because the user probably left out the unit.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn memory(text: &str) -> Result<u64, String> {
    let size = bytes(text)?;
    if size < WORD {
        return Err(format!("`{}` is too little memory; at least {WORD} bytes are needed", text.trim()));
    }
    if size < LEAST_BARE && text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        let size = text.trim();
        return Err(format!("`{size}` would be {size} bytes; write a unit: {size}MiB, {size}KiB, or {size}B if bytes are meant"));
    }
    Ok(size)
}

/// The number of bytes in the smallest filter, which has one word of bits.
const WORD: u64 = 8;

/// The smallest number of bytes that may be written without a unit.
const LEAST_BARE: u64 = 64 << 10;

/// Parses a number of probes from 1 to `most`.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn probes_up_to(most: u32, text: &str) -> Result<u32, String> {
    let found = count(text).ok().and_then(|probes| u32::try_from(probes).ok()).filter(|probes| (1..=most).contains(probes));
    found.ok_or_else(|| format!("`{text}` is not a possible number of probes; give 1 to {most}"))
}

/// Parses a rate, without rounding: `0.1%`, `1/1000`, `1 in 1000`, `once in a thousand`, `1e-3`.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn rate(text: &str) -> Result<Rate, String> {
    let meant = one_in(text).or_else(|| percent(text)).or_else(|| with_point(text));
    meant.as_deref().unwrap_or(text).parse().map_err(|error: Error| match count(text) {
        Ok(percent @ 1..100) => format!("{}; did you mean {percent}%?", not_below_1(text)),
        Ok(100..) => format!("{}; if that is the number of items, give it with -n", not_below_1(text)),
        // For words, the error of the number parser does not help.
        _ if text.contains(|letter: char| letter.is_alphabetic() && !"eE".contains(letter)) => {
            format!("`{text}` is not a rate; write it as 0.1%, 1 in 1000, once in a million or 1e-6")
        }
        _ => error.to_string(),
    })
}

/// Returns the error that the rate parser returns for a number of 1 or more. The parser itself does
/// not know words and digit separators.
fn not_below_1(text: &str) -> Error {
    Error::NotARate { found: text.to_owned(), reason: "it must lie strictly between 0 and 1" }
}

/// `1 in 1000`, `once in a thousand` or `1 per million` as a fraction.
fn one_in(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (at, between) = [" out of ", " in ", " per ", ":"].into_iter().find_map(|between| Some((lower.find(between)?, between)))?;
    let (part, whole) = (&text[..at], &text[at + between.len()..]);
    let part = if part.trim().eq_ignore_ascii_case("once") { 1 } else { count(part).ok()? };
    // `per thousand` means in one thousand.
    let whole = count(whole).or_else(|_| count(&format!("one {}", whole.trim()))).ok()?;
    Some(format!("{part}/{whole}"))
}

/// `0.1 percent` as `0.1%`.
fn percent(text: &str) -> Option<String> {
    let number = ["percent", "per cent"].iter().find_map(|word| without_last(text.trim(), word))?;
    let percent = format!("{}%", number.trim());
    Some(with_point(&percent).unwrap_or(percent))
}

/// Turns `0,1` or `1,5%` into a number with a decimal point. In these numbers, the comma cannot
/// separate groups of digits: the first begins with 0, and the second has no three digits after it.
fn with_point(text: &str) -> Option<String> {
    let (whole, rest) = text.trim().split_once(',')?;
    let is_group = rest.bytes().take_while(u8::is_ascii_digit).count() == 3;
    let is_decimal = whole == "0" || rest.ends_with('%') && !is_group;
    (is_decimal && !rest.contains(['.', ','])).then(|| format!("{whole}.{rest}"))
}

/// Parses a confidence: the probability that a statement holds.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn confidence(text: &str) -> Result<f64, String> {
    let share = rate(text).map(|share| share.to_f64());
    share.ok().filter(|share| *share < 1.0).ok_or_else(|| {
        let meant = text.trim().parse().ok().filter(|percent: &f64| (50.0..100.0).contains(percent));
        let meant = meant.map_or(String::new(), |percent| format!("; did you mean {percent}%?"));
        format!("`{text}` is not a confidence above 0% and below 100%; write it as 95% or 0.95{meant}")
    })
}

/// Parses a number of bits per item: 10, 14.4.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn bits_per_item(text: &str) -> Result<f64, String> {
    let found = text.trim().parse::<f64>().ok().filter(|bits| *bits > 0.0 && *bits <= 1e6);
    found.ok_or_else(|| format!("`{text}` is not a number of bits per item above 0 and at most a million; write it as 10 or 14.4"))
}

/// Parses a number of items per second: 5000, 2.5, 10k, 500/s, 30k a minute.
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn per_second(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let timed = ["/", " per ", " a ", " an ", " each ", " every "]
        .iter()
        .find_map(|between| trimmed.rsplit_once(between).and_then(|(number, unit)| Some((number, seconds_of(unit.trim())?))));
    let (number, seconds) = timed.unwrap_or((trimmed, 1.0));
    let number = without_noun(number);
    let found = number.parse().ok().or_else(|| count(number).ok().map(|number| number as f64)).map(|number: f64| number / seconds);
    found.filter(|number| *number > 0.0 && *number <= 1e12).ok_or_else(|| {
        format!("`{text}` is not a number of items per second above 0 and at most 10^12; write it as 5000, 10k, 2.5 or 500 a minute")
    })
}

/// Parses a time, and returns it in seconds. A number without a unit is a number of seconds. Any
/// other text is parsed like [`time`].
///
/// # Errors
/// Fails if the text cannot be parsed; the message shows the accepted forms.
pub fn seconds(text: &str) -> Result<f64, String> {
    let bare = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    bare.map_or_else(|| time(text).map(|time| time.as_secs_f64()), Ok)
}

/// A parsed number with the value `digits 10^exponent factor`, and the text that follows the
/// number.
struct Written<'a> {
    text: &'a str,
    digits: u64,
    exponent: i32,
    factor: u64,
    unit: &'a str,
}

impl<'a> Written<'a> {
    /// Parses a text that begins with a number. `like` has examples for the error message.
    fn of(text: &'a str, like: &str) -> Result<Written<'a>, String> {
        let text = text.trim();
        let (number, after) = split_number(text);
        let (value, after) = match spelled(text) {
            Some((digits, exponent, after)) => (Some((digits, exponent)), after),
            None => (ungrouped(number).and_then(|number| decimal(&number)), after.trim_start()),
        };
        let Some((digits, exponent)) = value else {
            return Err(match number {
                _ if text.starts_with('-') => format!("`{text}` is below 0; write it as {like}"),
                "" => format!("`{text}` is not a number; write it as {like}"),
                _ => not_whole(text),
            });
        };
        let (factor, unit) = factor(after);
        Ok(Written { text, digits, exponent, factor, unit })
    }

    fn whole(&self) -> Result<u64, String> {
        whole(self.digits, self.exponent, self.factor).ok_or_else(|| match self.exponent {
            0.. if self.factor == 1 => format!("`{}` is too large: it must be below 2^64", self.text),
            _ => not_whole(self.text),
        })
    }

    /// The number times `unit`, rounded down; without a unit it must be whole.
    fn rounded_down(&self, unit: u64) -> Result<u64, String> {
        if self.factor == 1 && unit == 1 {
            return self.whole();
        }
        let product = u128::from(self.digits) * u128::from(self.factor) * u128::from(unit);
        let value = match (self.exponent, 10u128.checked_pow(self.exponent.unsigned_abs())) {
            _ if product == 0 => Some(0),
            (0.., Some(ten)) => product.checked_mul(ten),
            (_, Some(ten)) => Some(product / ten),
            _ => None,
        };
        value.and_then(|value| u64::try_from(value).ok()).ok_or_else(|| not_whole(self.text))
    }

    /// The number without its unit.
    fn number(&self) -> &'a str {
        self.text.strip_suffix(self.unit).unwrap_or(self.text).trim_end()
    }
}

fn not_whole(text: &str) -> String {
    if text.contains(char::is_alphabetic) {
        format!("`{text}` is not a whole number below 2^64; write it as 1000, 1,000 or 2.5e9, or with {SUFFIXES}")
    } else {
        format!("`{text}` is not a whole number below 2^64")
    }
}

/// The factor that a suffix or a word stands for, and the text after it.
fn factor(after: &str) -> (u64, &str) {
    let words = [
        ("hundred thousand", 100_000),
        ("hundred million", 100_000_000),
        ("hundred", 100),
        ("thousand", 1_000),
        ("million", 1_000_000),
        ("billion", 1_000_000_000),
        ("trillion", 1_000_000_000_000),
        ("kilo", 1_000),
        ("mega", 1_000_000),
        ("giga", 1_000_000_000),
    ];
    let letters = [
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
    ];
    let by_word = words.into_iter().find_map(|(name, factor)| {
        let (word, unit) = after.split_at_checked(name.len())?;
        word.eq_ignore_ascii_case(name).then_some((factor, unit))
    });
    by_word
        .or_else(|| letters.into_iter().find_map(|(name, factor)| after.strip_prefix(name).map(|unit| (factor, unit))))
        .unwrap_or((1, after))
}

/// The number that a word at the beginning of the text stands for, as digits and a power of ten,
/// and the text after the word.
fn spelled(text: &str) -> Option<(u64, i32, &str)> {
    const WORDS: [(&str, u64); 23] = [
        ("a", 1),
        ("an", 1),
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("fifteen", 15),
        ("twenty", 20),
        ("thirty", 30),
        ("forty", 40),
        ("fifty", 50),
        ("sixty", 60),
        ("seventy", 70),
        ("eighty", 80),
        ("ninety", 90),
    ];
    for half in ["half a", "half an"] {
        if let Some(rest) = after_word(text, half) {
            return Some((5, -1, rest));
        }
    }
    WORDS.iter().find_map(|(word, digits)| Some((*digits, 0, after_word(text, word)?)))
}

/// The text after a word at the beginning (in upper or lower case).
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_at_checked(word.len())?;
    let is_whole = rest.is_empty() || rest.starts_with(' ');
    (first.eq_ignore_ascii_case(word) && is_whole).then(|| rest.trim_start())
}

/// The suffixes that may follow a number.
const SUFFIXES: &str = "k, M, G, T, P, E (powers of 1000) or Ki, Mi, Gi, Ti, Pi, Ei (powers of 1024)";

/// Splits a text after its number: the first part has the digits and the exponent, if there is an
/// exponent; the second part has all other characters. In `1E`, E is a suffix; in `1E5`, it begins
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

/// The digits and the power of ten of a number.
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

/// Parses a JSON number whose value is a whole number: `1000`, `1e9`, `5.0`.
#[must_use]
pub fn json_whole(number: &str) -> Option<u64> {
    decimal(number).and_then(|(digits, exponent)| whole(digits, exponent, 1))
}
