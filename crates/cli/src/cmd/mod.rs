//! The verbs, one file each: arguments and a `run` that gives the exit code.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod create;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod fpr;
pub(crate) mod info;
pub(crate) mod plan;
pub(crate) mod reproduce;
pub(crate) mod table;
pub(crate) mod verify;
