//! Exports a column of booleans to other libraries.

use super::abi::{Array, Schema};
use super::{ARRAY, SCHEMA};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{c_char, c_void};
use std::ptr;

/// The memory that an exported array owns.
struct Exported {
    words: Vec<u64>,
    valid: Option<Vec<u64>>,
    buffers: [*const c_void; 2],
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the owner calls this function once. The structure points only to static data, so
    // nothing is freed.
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the owner calls this function once, and `private_data` is the pointer that `export`
    // stored.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Exported>()));
        (*array).release = None;
    }
}

/// Returns two capsules: the type, and an array of this many booleans with one bit each. An element
/// is null if its bit in `valid` is 0.
pub(crate) fn export<'py>(
    py: Python<'py>,
    words: Vec<u64>,
    valid: Option<Vec<u64>>,
    len: usize,
    nulls: usize,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let mut schema = Schema::none();
    (schema.format, schema.name, schema.flags) = (c"b".as_ptr(), c"".as_ptr().cast::<c_char>(), 2);
    schema.release = Some(release_schema);
    let mut exported = Box::new(Exported { words, valid, buffers: [ptr::null(); 2] });
    // Arrow numbers the bits byte by byte, so the bytes of each word must be in little-endian
    // order.
    #[cfg(target_endian = "big")]
    for word in exported.words.iter_mut().chain(exported.valid.iter_mut().flatten()) {
        *word = word.swap_bytes();
    }
    exported.buffers = [exported.valid.as_ref().map_or(ptr::null(), |valid| valid.as_ptr().cast()), exported.words.as_ptr().cast()];
    let mut array = Array::none();
    (array.length, array.null_count, array.n_buffers) = (len as i64, nulls as i64, 2);
    array.buffers = exported.buffers.as_mut_ptr();
    array.private_data = Box::into_raw(exported).cast();
    array.release = Some(release_array);
    // The structures are at the beginning of the capsules, where consumers look for them and move
    // them out. A structure that no consumer has moved out is released with its capsule.
    Ok((PyCapsule::new_with_value(py, schema, SCHEMA)?, PyCapsule::new_with_value(py, array, ARRAY)?))
}
