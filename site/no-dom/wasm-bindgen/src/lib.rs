//! What plotters takes from the crate of this name.

/// A cast between elements, of which there are none.
pub trait JsCast: Sized {
    fn dyn_into<T>(self) -> Result<T, Self> {
        Err(self)
    }
}
