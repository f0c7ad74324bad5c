//! Tests of the errors in the papers, in exact fractions: the printed form fails, and the corrected
//! form holds. docs/ERRATA.md names every test.

#[path = "../common/mod.rs"]
mod common;

mod burns;
mod dozier;
mod dozier_proofs;
mod grandi;
mod kirsch_mitzenmacher;
mod km_sketch;
mod lehr;
mod listed;
