//! Filters over borrowed bytes.

use super::{Backing, Counted, Counter, Headed, InLayers, Inline, Uncounted, Writable, counted, unread_and_read};
use crate::format::{Fields, HEADER_BYTES};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use xxhash_rust::xxh3::xxh3_64;

/// The backing of a view before `verify_bytes` has read all bytes. A backing is a type parameter
/// that says where the bits of a filter are stored. With this backing, the bits stay in existing
/// bytes of type `B`. Only the header has been read.
///
/// The view can answer queries. Values that are computed from all bits, such as the present
/// false-positive rate, are not known. `verify_bytes` reads and checks all bytes, and returns a
/// view with the backing [`Checked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View<B>(PhantomData<B>);

/// The backing of a view after `verify_bytes` has read and checked all bytes. A backing is a type
/// parameter that says where the bits of a filter are stored. With this backing, the bits stay in
/// existing bytes of type `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked<B>(PhantomData<B>);

unread_and_read!([B: AsRef<[u8]> + Send + Sync] View<B>, Checked<B>, {
    type Word = [u8; 8];
    type Words = InBytes<B, [u8; 8]>;
    type Layers = InLayers<B>;
    type List = InBytes<B, [u8; 8]>;
    type Cell<C: Counter> = C::Bytes;
    type Cells<C: Counter> = InBytes<B, C::Bytes>;
    type Head<T: 'static> = Inline<T>;
});

impl<B: AsRef<[u8]> + Send + Sync> Headed for Checked<B> {
    fn head<T: 'static>(head: T) -> Inline<T> {
        Inline(head)
    }
}

impl<B: AsRef<[u8]> + Send + Sync + AsMut<[u8]>> Writable for Checked<B> {
    #[inline(always)]
    fn kept_mut<T: Clone + PartialEq + Send + Sync>(known: &mut T) -> &mut T {
        known
    }

    fn own_head<T: 'static>(head: &mut Inline<T>) -> Option<&mut T> {
        head.inner()
    }
}

/// A type for integers that are stored as bytes: a slice of bytes can be read as a slice of this
/// type.
pub trait Chunk: Copy + 'static {
    /// The bytes as a slice of integers. Any bytes after the last whole integer are left out.
    fn chunks(bytes: &[u8]) -> &[Self];

    /// The bytes as a mutable slice of integers.
    fn chunks_mut(bytes: &mut [u8]) -> &mut [Self];
}

impl<const N: usize> Chunk for [u8; N] {
    #[inline(always)]
    fn chunks(bytes: &[u8]) -> &[[u8; N]] {
        bytes.as_chunks().0
    }

    #[inline(always)]
    fn chunks_mut(bytes: &mut [u8]) -> &mut [[u8; N]] {
        bytes.as_chunks_mut().0
    }
}

/// A range of the bytes that `B` holds, read as numbers.
///
/// Every access calls `as_ref` again, because the bytes can move together with `B`, for example if
/// `B` is an array. `as_ref` can also return different bytes each time. If there are too few bytes,
/// the range is empty.
pub struct InBytes<B, W> {
    bytes: B,
    start: usize,
    /// The end of the range, if there are enough bytes.
    end: usize,
    number: PhantomData<W>,
}

impl<B: AsRef<[u8]> + Send + Sync, W: Chunk> InBytes<B, W> {
    /// The `length` bytes from `start` on.
    pub(crate) fn new(bytes: B, start: usize, length: usize) -> InBytes<B, W> {
        InBytes { bytes, start, end: start.saturating_add(length), number: PhantomData }
    }

    /// All bytes that `B` holds, and the position at which the range begins.
    pub(crate) fn whole(&self) -> (&[u8], usize) {
        (self.bytes.as_ref(), self.start)
    }
}

impl<B: AsRef<[u8]> + Send + Sync + AsMut<[u8]>, W: Chunk> InBytes<B, W> {
    /// The object that holds the bytes.
    #[cfg(feature = "mmap")]
    pub(crate) fn bytes_mut(&mut self) -> &mut B {
        &mut self.bytes
    }

    /// Writes a header with these fields before the words.
    pub(crate) fn seal(&mut self, fields: Fields) {
        let header = self.sealed(fields);
        let before = self.bytes.as_mut().get_mut(..self.start);
        if let Some(place) = before.and_then(<[u8]>::last_chunk_mut) {
            *place = header;
        }
    }
}

impl<B: AsRef<[u8]> + Send + Sync, W: Chunk> InBytes<B, W> {
    /// A header with these fields and with the checksum of the words.
    pub(crate) fn sealed(&self, fields: Fields) -> [u8; HEADER_BYTES] {
        let payload = in_range(self.bytes.as_ref(), self.start, self.end);
        fields.sealed(payload.len() as u64, xxh3_64(payload))
    }
}

#[inline(always)]
fn in_range(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end).unwrap_or_default()
}

impl<B: AsRef<[u8]> + Send + Sync, W: Chunk> Deref for InBytes<B, W> {
    type Target = [W];

    #[inline(always)]
    fn deref(&self) -> &[W] {
        W::chunks(in_range(self.bytes.as_ref(), self.start, self.end))
    }
}

impl<B: AsRef<[u8]> + Send + Sync + AsMut<[u8]>, W: Chunk> DerefMut for InBytes<B, W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [W] {
        let (start, end) = (self.start, self.end);
        W::chunks_mut(self.bytes.as_mut().get_mut(start..end).unwrap_or_default())
    }
}

impl<B: Clone, W> Clone for InBytes<B, W> {
    fn clone(&self) -> InBytes<B, W> {
        InBytes { bytes: self.bytes.clone(), ..*self }
    }
}
