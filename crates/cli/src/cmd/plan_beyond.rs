//! What a plan does not ask: more items than planned for, and filters to which nothing is ever
//! added.

use crate::report::{Report, bytes, count, fpr_value, proven, rate};
use serde_json::json;
use truebloom_math::{Error, Plan};

/// This many times the items planned for, in hundredths.
const FACTORS: [u64; 4] = [105, 120, 150, 200];

/// The expected rate of a filter that is filled beyond its plan.
pub(super) fn add_overload(report: &mut Report, plan: &Plan) -> Result<(), Error> {
    let law = plan.scheme.law(plan.bits, plan.probes)?;
    let mut rows = Vec::new();
    for factor in FACTORS {
        let items = (u128::from(plan.items) * u128::from(factor)).div_ceil(100);
        let Ok(items) = u64::try_from(items) else { break };
        let fpr = law.fpr(items)?;
        rows.push(json!({ "factor": factor as f64 / 100.0, "items": items, "fpr": fpr_value(&fpr) }));
        let label = if rows.len() == 1 { "overfilled" } else { "" };
        let times = rate(factor as f64 / 100.0, 3);
        report.line(label, format!("{times} times the items ({}): at most {} on average", count(items), proven(&fpr, None)));
    }
    report.field("overfilled", rows);
    Ok(())
}

/// What a static filter takes for the same question, to which nothing can be added: fingerprints of
/// whole bits, in 1.23 n slots of an xor filter (Graf and Lemire 2020), or 1.125 n of a binary fuse
/// filter of three segments (Graf and Lemire 2022). Approximations, as their tables are a little
/// larger for few items.
pub(super) fn add_static(report: &mut Report, plan: &Plan) {
    let Some(asked) = plan.rate else {
        report.field("static", serde_json::Value::Null);
        return;
    };
    let fingerprint = (-asked.to_f64().log2()).ceil().max(1.0);
    let bits = |slots: f64| (slots * plan.items as f64 * fingerprint).ceil();
    let (xor, fuse) = (bits(1.23), bits(1.125));
    report.field("static", json!({ "fingerprint_bits": fingerprint, "xor_bits": xor, "fuse_bits": fuse, "method": "approximation" }));
    let share = 100.0 * (fuse / plan.bits as f64 - 1.0);
    let size = bytes((fuse / 8.0).ceil() as u64);
    report.line("static", format!("about {size} in a binary fuse filter ({share:+.0}%), if all items are known and none is ever added"));
}
