//! Runs queries of `truebloom eval`.

/// The input is a line of JSON. The command would report a panic as an error. Here, a panic is a
/// failure.
pub fn eval(data: &[u8]) {
    match crate::cmd::eval::answer(data) {
        Ok(answer) => assert!(!answer.is_empty()),
        Err(message) => assert!(message.len() > 10, "a message that says nothing: {message}"),
    }
}
