//! The fuzz targets. Each target has its own file.

pub(crate) mod bytes;
pub(crate) mod decode;
pub(crate) mod eval;
pub(crate) mod kernels;
pub(crate) mod numeric;
pub(crate) mod operations;
pub(crate) mod records;
#[cfg(test)]
pub(crate) mod replay;
pub(crate) mod text;
pub(crate) mod travel;
pub(crate) mod views;
