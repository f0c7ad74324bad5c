//! Tests of what is read, and of the messages for what is not.

use super::*;
use std::time::Duration;

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
        ("ten million", 10_000_000),
        ("Ten Million", 10_000_000),
        ("a hundred thousand", 100_000),
        ("half a million", 500_000),
        ("two hundred", 200),
        ("twenty", 20),
    ] {
        assert_eq!(count(text), Ok(expected), "{text}");
    }
    for text in ["10 million users", "10M new items", "ten million Keys", "10,000,000 lines", "10M"] {
        assert_eq!(items(text), Ok(10_000_000), "{text}");
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

/// A size that was copied from an answer is accepted as input. The size is rounded down, so it
/// is never more than the printed size.
#[test]
fn sizes_have_decimals() {
    assert_eq!((memory("17.14 MiB"), bytes("1.5KiB"), bytes("0.1KiB")), (Ok(17_972_592), Ok(1536), Ok(102)));
    assert_eq!((bits("17.14MiB"), bits("1.2345 kb"), bits("0.3B")), (Ok(143_780_741), Ok(1234), Ok(2)));
    assert_eq!((bits("64 megabytes"), bytes("1.5 Gigabytes"), bits("2 kilobits")), (Ok(512_000_000), Ok(1_500_000_000), Ok(2000)));
    assert_eq!((bits("3.562 KiB"), bytes("2 bytes"), bits("1.5e0MiB")), (Ok(29_179), Ok(2), Ok(3 << 22)));
    // Without a unit, a number that is not whole is a typing error.
    for text in ["1.5", "1.5 bits", "0.5", "1e-1"] {
        assert!(bits(text).is_err(), "{text}");
    }
    assert!(bytes("1.5").is_err() && bytes("99999999999.9 EiB").is_err() && bits("1e99 MiB").is_err());
    assert!(count("1.00001Ki").is_err());
}

#[test]
fn numbers_per_second() {
    for text in ["500", "500/s", "500 a second", "500 items per second", "30k a minute", "30,000/min", "1.8M an hour", "five hundred"] {
        assert_eq!(per_second(text), Ok(500.0), "{text}");
    }
    assert_eq!((per_second("2.5"), per_second("3 a minute")), (Ok(2.5), Ok(0.05)));
    for text in ["", "0", "-1", "500 a year", "1/3", "a second", "1e13", "nan", "inf", "/s"] {
        assert!(per_second(text).is_err(), "{text}");
    }
    assert!(per_second("often").expect_err("a word").contains("500 a minute"));
}

/// The message for a likely typing error suggests the intended input.
#[test]
fn slips_are_named() {
    for (text, said) in [
        ("10m", "10M, 10 million?"),
        ("1B", "1 billion?"),
        ("64MiB", "a size, not a number"),
        ("0.1%", "the rate"),
        ("one in a thousand", "the rate"),
        ("1h", "a time, not"),
        ("1e400", "too large"),
    ] {
        let error = items(text).expect_err(text);
        assert!(error.contains(said), "{error}");
    }
    assert!(!items("10m").expect_err("a slip").contains("time"), "one guess is enough");
    for (text, said) in [
        ("50%", "the rate"),
        ("once in a thousand", "the rate"),
        ("10m", "10MB?"),
        ("64 mb", "64MB?"),
        ("64mib", "64MiB?"),
        ("1.5gib", "1.5GiB?"),
        ("-3", "64MiB"),
        ("x", "64MiB"),
    ] {
        let error = bits(text).expect_err(text);
        assert!(error.contains(said) && !error.contains("10k"), "{error}");
    }
    assert!(confidence("99").expect_err("a slip").contains("99%?") && !confidence("2").expect_err("wrong").contains('?'));
    for text in ["ten million", "1,000,000", "1000"] {
        let error = rate(text).expect_err(text);
        assert!(error.contains("between 0 and 1") && error.contains("the number of items"), "{error}");
    }
    for text in ["once per horse", "often", "1 in"] {
        let error = rate(text).expect_err(text);
        assert!(error.contains("once in a million") && !error.contains("exponent"), "{error}");
    }
}

#[test]
fn rates() {
    for text in [
        "0.1%",
        "1/1000",
        "1 in 1000",
        "1 in 1,000",
        "one in a thousand",
        "10 in 10k",
        "1e-3",
        "once in a thousand",
        "One in a Thousand",
        "1 in a thousand",
        "1 per thousand",
        "1 out of 1000",
        "1:1000",
        "0.1 %",
        "0,1%",
        "0.1 percent",
        "0.1 per cent",
        "10k in 10M",
    ] {
        assert_eq!(rate(text), "0.001".parse::<Rate>().map_err(|error| error.to_string()), "{text}");
    }
    assert_eq!(rate("1 in 10 million"), Ok("1e-7".parse().expect("a rate")));
    for text in ["", "1 in 1", "1 in 0", "1 in", "in 3", "1 in 1 in 4", "a in b", "5", "100%"] {
        assert!(rate(text).is_err(), "{text}");
    }
    for text in ["1,5%", "1,5 %", "1,5 percent"] {
        assert_eq!(rate(text), Ok("1.5%".parse().expect("a rate")), "{text}");
    }
    // Here, a comma could also separate groups of digits.
    for text in ["1,500%", "1,5", "0,1,5%", "0,1.5%"] {
        assert!(rate(text).is_err(), "{text}");
    }
    assert!(rate("5").expect_err("a slip").contains("5%"));
}

#[test]
fn spans() {
    let seconds = |seconds| Ok(Span::Time(Duration::from_secs(seconds)));
    for (text, expected) in [
        ("10M", Ok(Span::Items(10_000_000))),
        ("10M lines", Ok(Span::Items(10_000_000))),
        ("10min", seconds(600)),
        ("1h", seconds(3600)),
        ("1.5h", seconds(5400)),
        ("7d", seconds(604_800)),
        ("2w", seconds(1_209_600)),
        ("30s", seconds(30)),
        ("500", Ok(Span::Items(500))),
        ("2e3", Ok(Span::Items(2000))),
    ] {
        assert_eq!(span(text, "lines"), expected, "{text}");
    }
    for text in ["", "0", "0s", "h", "1y", "-1h", "1e999d", "..s", "10Mh", "10m", "10 m"] {
        assert!(span(text, "lines").is_err(), "{text}");
    }
}

#[test]
fn times() {
    for (text, expected) in [
        ("90", 90.0),
        ("1.5h", 5400.0),
        ("30min", 1800.0),
        ("7d", 604_800.0),
        ("1w", 604_800.0),
        ("0", 0.0),
        ("250ms", 0.25),
        ("1 hour", 3600.0),
        ("an hour", 3600.0),
        ("Ten Minutes", 600.0),
        ("1.5 hours", 5400.0),
        ("half a day", 43_200.0),
        ("2 days", 172_800.0),
    ] {
        assert_eq!(seconds(text), Ok(expected), "{text}");
    }
    for text in ["", "h", "hour", "a", "1y", "1 H", "-3s", "-3", "0s", "0 hours", "1e999", "nan", "inf", "an hour ago"] {
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
        "tenth",
        "ten users",
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
