//! Certificates as JSON (docs/CERTIFICATE.md).

use crate::failure::Failure;
use crate::lock::{check_begins, check_name, check_no_stream};
use serde_json::{Map, Value, json};
use std::path::Path;
use truebloom::file::Expected;
use truebloom_math::certificate::{Certificate, Claim, Excluded, Mean, OneFilter, Smaller, Smallest, TailBound};

/// The first field of every certificate.
const FORMAT: &str = "truebloom certificate 1";

/// The certificate as a JSON object. Large whole numbers are hexadecimal strings; rates and
/// probabilities are decimal strings.
pub(crate) fn object(certificate: &Certificate) -> Map<String, Value> {
    let Certificate { claim, mean, smaller, one_filter, .. } = certificate;
    let mean = match mean {
        Mean::Exact => json!("exact"),
        Mean::Terms(sum) => {
            let terms: Vec<String> = sum.terms.iter().map(ToString::to_string).collect();
            json!({ "precision": sum.precision, "error": hex(sum.error), "terms": terms })
        }
    };
    let mut fields = Map::new();
    fields.insert("format".to_owned(), FORMAT.into());
    fields.insert("claim".to_owned(), claimed(claim));
    fields.insert("mean".to_owned(), mean);
    fields.insert("smaller".to_owned(), smaller.as_ref().map_or(Value::Null, excluded));
    fields.insert("one_filter".to_owned(), one_filter.as_ref().map_or(Value::Null, tail));
    fields
}

fn hex(number: u128) -> String {
    format!("{number:#x}")
}

fn claimed(claim: &Claim) -> Value {
    let smallest = match claim.smallest {
        Smallest::NotClaimed => Value::Null,
        Smallest::ForTheseProbes => json!("for these probes"),
        Smallest::ForAnyProbes => json!("for any probes"),
    };
    json!({
        "law": "standard", "items": claim.items, "rate": claim.rate.to_string(), "bits": claim.bits, "probes": claim.probes, "hash_bits": claim.hash_bits,
        "smallest": smallest, "confidence": claim.confidence.map(|share| share.to_string()),
    })
}

fn excluded(smaller: &Smaller) -> Value {
    let one = |found: &Excluded| json!({ "probes": found.probes, "precision": found.precision, "error": hex(found.error), "sum": found.sum.to_string() });
    let between: Vec<Value> = smaller.between.iter().map(one).collect();
    json!({ "bits": smaller.bits, "few": smaller.few, "many": smaller.many, "between": between })
}

fn tail(one: &OneFilter) -> Value {
    let mut fields = Map::new();
    fields.insert("ones".to_owned(), one.ones.into());
    let mut put = |name: &str, value: u128| fields.insert(name.to_owned(), hex(value).into());
    let bound = match one.bound {
        TailBound::Certain => "certain",
        TailBound::Law => "law",
        TailBound::Chernoff { tilt, mean_above, variance_above } => {
            put("tilt", tilt);
            put("mean_above", mean_above);
            put("variance_above", variance_above);
            "chernoff"
        }
        TailBound::LargestTerm { tilt, mean_above, variance_above, variance } => {
            put("tilt", tilt);
            put("mean_above", mean_above);
            put("variance_above", variance_above);
            put("variance_below", variance);
            "largest term"
        }
        TailBound::Normal { mean_above, variance_above, variance } => {
            put("mean_above", mean_above);
            put("variance_above", variance_above);
            put("variance_below", variance);
            "normal"
        }
    };
    fields.insert("bound".to_owned(), bound.into());
    Value::Object(fields)
}

/// Writes a certificate to a file, completely or not at all; with `force` it may replace another
/// certificate.
pub(crate) fn write(certificate: &Certificate, path: &Path, force: bool) -> Result<(), Failure> {
    let text = format!("{}\n", Value::Object(object(certificate)));
    check_name(path)?;
    check_no_stream(path)?;
    // A certificate begins with its format. The message does not propose --force, if --force would
    // be refused.
    let what = if force { "this is not a certificate" } else { "the file exists already, but is not a certificate" };
    check_begins(path, format!("{{\"format\":\"{FORMAT}\"").as_bytes(), what)?;
    let expected = if force { Expected::Anything } else { Expected::Nothing };
    crate::output::write_whole(path, expected, text.as_bytes())
}
