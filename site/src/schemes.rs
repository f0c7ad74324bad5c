//! Other hashing schemes for the same question, with their lowest possible rates.

use crate::json::{Json, object};
use crate::question::{Question, sentence};
use crate::size::plan;
use crate::words::{more, share};
use truebloom_math::{Error, Plan, Promise, SchemeId, Target};
use truebloom_report::show::{bytes, plural};

/// The schemes that the page compares, in this order.
pub(crate) const NAMES: [&str; 7] = ["classic", "partitioned", "double", "enhanced", "cube", "partition-double", "blocked"];

/// One row: the scheme in the field `scheme`, compared with the standard scheme.
pub(crate) fn answer(question: &mut Question<'_>) -> Json {
    let (target, standard) = match plan(question) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let scheme: SchemeId = match question.text("scheme").parse() {
        Ok(scheme) => scheme,
        Err(error) => return object! { "problem": sentence(&error.to_string()) },
    };
    let name = || format!("{}: {}", scheme.name(), meaning(scheme.name()));
    let promise = if scheme.has_guarantee() { target.promise } else { Promise::Mean };
    let row = compare(&Target { promise, ..target }, scheme, &standard);
    let (size, price, floor, facts) = match row {
        Ok(row) => row,
        Err(error) => {
            let cells = [name(), "not possible".to_owned(), String::new(), String::new(), sentence(&error.to_string())];
            return object! { "row": cells.to_vec() };
        }
    };
    let promise = match (scheme.has_guarantee(), promise) {
        (false, _) => "only the average: positions depend on each other",
        (true, Promise::Mean) => "the average, as you asked",
        (true, _) => "your filter, as above",
    };
    object! { "row": vec![name(), size, price, floor, promise.to_owned()], "facts": facts }
}

/// A short description of how a scheme chooses bits.
fn meaning(name: &str) -> &'static str {
    match name {
        "classic" => "independent bits, never one twice",
        "partitioned" => "one bit in each of k parts",
        "double" => "two hashes, h1 + i h2",
        "enhanced" => "h1 + i h2 + (i\u{b3} \u{2212} i) / 6",
        "cube" => "h1 + i h2 + i\u{b3}",
        "partition-double" => "h1 + i h2, each in its part",
        _ => "all bits in one cache line",
    }
}

type Row = (String, String, String, Json);

fn compare(target: &Target, scheme: SchemeId, standard: &Plan) -> Result<Row, Error> {
    let plan = Plan::new(&target.clone().scheme(scheme))?;
    // Both plans have the same promise: an average is compared with an average.
    let beside = match target.promise {
        promise if promise == standard_promise(standard) => standard.clone(),
        _ => Plan::new(target)?,
    };
    let floor: f64 = plan.floors()?.iter().map(|floor| floor.rate).sum();
    let per_item = |plan: &Plan| plan.bits as f64 / plan.items as f64;
    let size = if plan.items == standard.items { bytes(plan.bytes()) } else { plural(plan.items, "item") };
    let facts = object! { "bits": plan.bits, "items": plan.items, "probes": plan.probes, "fpr": plan.fpr.upper, "floor": floor };
    Ok((format!("{size}, {}", plural(plan.probes.into(), "probe")), more(per_item(&plan) / per_item(&beside)), share(floor, 2), facts))
}

fn standard_promise(plan: &Plan) -> Promise {
    plan.guarantee.as_ref().map_or(Promise::Mean, |guarantee| Promise::OneFilter { confidence: guarantee.confidence })
}
