//! Tails of distributions: exact binomial tests, and proven bounds on sums of independent or of
//! bounded terms.

pub(crate) mod bernoulli;
pub mod binomial;
pub mod freedman;
pub mod mcdiarmid;
