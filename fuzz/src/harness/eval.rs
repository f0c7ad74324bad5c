//! Queries of `eval`.

/// The input is a line of JSON. `eval` itself would report a panic as an error; here it is a
/// failure.
pub fn eval(data: &[u8]) {
    match crate::cmd::eval::answer(data) {
        Ok(answer) => assert!(!answer.is_empty()),
        Err(message) => assert!(message.len() > 10, "a message that says nothing: {message}"),
    }
}
