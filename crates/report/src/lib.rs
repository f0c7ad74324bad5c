#![doc = include_str!("../README.md")]

pub mod beyond;
pub mod blocked;
pub mod charts;
pub mod designs;
pub mod finding;
pub mod read;
pub mod scatter;
pub mod show;
