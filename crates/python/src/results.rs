//! Makes objects of the result classes in `truebloom/_results.py`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use truebloom_math::Fpr;

/// Makes an object of the class with this name. `fill` writes its fields into a dictionary.
pub(crate) fn result<'py>(
    py: Python<'py>,
    class: &str,
    fill: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fill(&fields)?;
    py.import("truebloom._results")?.getattr(class)?.call((), Some(&fields))
}

/// Makes a `Rate`: a rate with its bracket.
pub(crate) fn rate<'py>(py: Python<'py>, fpr: &Fpr) -> PyResult<Bound<'py, PyAny>> {
    result(py, "Rate", |fields| {
        fields.set_item("value", fpr.value)?;
        fields.set_item("lower", fpr.lower)?;
        fields.set_item("upper", fpr.upper)?;
        fields.set_item("ln", fpr.ln)?;
        fields.set_item("ln_lower", fpr.ln_lower)?;
        fields.set_item("ln_upper", fpr.ln_upper)?;
        fields.set_item("method", fpr.method.to_string())
    })
}

/// Formats a number with its noun: `1 key`, `2,000 keys`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats a number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
