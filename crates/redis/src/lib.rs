//! The module for Redis and Valkey. The module has Bloom filters whose rate is proven (growing,
//! fixed, blocked or forgetting) and Count-Min sketches, with the commands that clients know.
//!
//! `ffi` is the interface to the server and contains all unsafe code; `commands` has a file for
//! each kind of command; `value` is what a key holds. docs/design/redis.md has the reasons.

mod answer;
mod commands;
mod compact;
mod ffi;
mod file;
mod imported;
mod large;
mod loading;
mod memory;
mod plans;
mod redisbloom;
mod settings;
mod sketch;
mod state;
mod turning;
mod value;

#[cfg(test)]
mod tests;
