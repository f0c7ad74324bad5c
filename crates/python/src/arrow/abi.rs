//! The C structures of the Arrow C data interface, and the code that releases them.

use super::Problem;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// The type of a column.
#[repr(C)]
pub(crate) struct Schema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) n_children: i64,
    pub(super) children: *mut *mut Schema,
    pub(super) dictionary: *mut Schema,
    pub(super) release: Option<unsafe extern "C" fn(*mut Schema)>,
    pub(super) private_data: *mut c_void,
}

/// The values of a column.
#[repr(C)]
pub(crate) struct Array {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut Array,
    pub(super) dictionary: *mut Array,
    pub(super) release: Option<unsafe extern "C" fn(*mut Array)>,
    pub(super) private_data: *mut c_void,
}

/// A stream of columns of one type.
#[repr(C)]
pub(crate) struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

macro_rules! released {
    ($($type:ident),*) => {$(
        impl $type {
            /// An empty structure, which counts as released.
            pub(super) fn none() -> $type {
                // SAFETY: all fields are numbers, pointers or optional functions, for which zeros
                // are a value.
                unsafe { std::mem::zeroed() }
            }

            /// Moves a structure out of the producer's memory, and marks it as released there.
            ///
            /// # Safety
            /// The pointer must refer to a structure of this type, which nobody else uses during
            /// the call.
            pub(super) unsafe fn take(from: *mut $type) -> $type {
                // SAFETY: as above; the interface allows the move.
                unsafe { ptr::replace(from, $type::none()) }
            }

            /// Whether the structure is empty.
            pub(super) fn is_released(&self) -> bool {
                self.release.is_none()
            }
        }

        impl Drop for $type {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the owner of a structure that is not marked as released must call
                    // `release` once. This call marks the structure as released.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface allows use and release from any thread, one at a time.
        unsafe impl Send for $type {}
        // SAFETY: nothing is changed through a shared reference.
        unsafe impl Sync for $type {}
    )*};
}

released!(Schema, Array, Stream);

impl Stream {
    pub(super) fn schema(&mut self) -> Result<Schema, Problem> {
        let (Some(get), false) = (self.get_schema, self.is_released()) else { return Problem::broken("the stream was consumed before") };
        let mut schema = Schema::none();
        // SAFETY: the stream is not released, and `schema` has room for the result.
        let code = unsafe { get(self, &raw mut schema) };
        self.check(code)?;
        if schema.is_released() { Problem::broken("the stream has no type") } else { Ok(schema) }
    }

    pub(super) fn next(&mut self) -> Result<Option<Array>, Problem> {
        let (Some(get), false) = (self.get_next, self.is_released()) else { return Ok(None) };
        let mut array = Array::none();
        // SAFETY: the stream is not released, and `array` has room for the result.
        let code = unsafe { get(self, &raw mut array) };
        self.check(code)?;
        Ok((!array.is_released()).then_some(array))
    }

    fn check(&mut self, code: c_int) -> Result<(), Problem> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: after an error, the function returns a message or null. The message lives until
        // the next call.
        let text = self.get_last_error.map(|get| unsafe { get(self) }).filter(|text| !text.is_null());
        // SAFETY: according to the interface, the message is a C string.
        let text = text.map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        Problem::broken(text.unwrap_or_else(|| format!("the stream failed with code {code}")))
    }
}
