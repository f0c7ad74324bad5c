//! Tails of distributions: exact binomial tests, and proven bounds on sums of independent terms and
//! on functions with bounded differences.

pub(crate) mod bernoulli;
pub mod binomial;
pub mod freedman;
pub mod mcdiarmid;
