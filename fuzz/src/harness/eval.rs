//! Queries of `eval`.

/// A line of JSON. No query panics; `eval` would say so, here it is a finding.
pub fn eval(data: &[u8]) {
    match crate::cmd::eval::answer(data) {
        Ok(answer) => assert!(!answer.is_empty()),
        Err(message) => assert!(message.len() > 10, "a message that says nothing: {message}"),
    }
}
