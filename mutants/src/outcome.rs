//! The error type of this program: a text.

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub struct Failure;

impl Failure {
    #[allow(clippy::new_ret_no_self, reason = "an error from a text")]
    pub fn new(text: &str) -> Box<dyn std::error::Error> {
        text.into()
    }
}
