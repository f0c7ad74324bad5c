//! The methods of all types that can be saved in files.

/// Defines the methods that write. The macro's caller passes an introduction to the documentation
/// of `to_bytes` before the type.
macro_rules! writes_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// The value's file as bytes.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// Returns an error if the memory cannot be allocated.
            pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::to_bytes(self)
            }

            /// A part of the value's file: `length` bytes from `start` on, or fewer at the end of
            /// the file. Use this method to send a file in parts. The time is linear in the length
            /// of the part. If the part includes some of the first 256 bytes, the time is linear in
            /// the length of the file, because these bytes are the header, which has a checksum of
            /// the whole file.
            ///
            /// # Errors
            /// Returns an error if the memory for the part cannot be allocated.
            pub fn part_of_bytes(&self, start: u64, length: usize) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::part_of_bytes(self, start, length)
            }

            /// Writes the value's file to a writer. The writer does not need a buffer, because the
            /// file is written in large pieces.
            ///
            /// # Errors
            /// Returns the errors of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
                $crate::format::write_to(self, writer)
            }

            /// Writes the value's file to the beginning of `bytes`, where it can be viewed or
            /// stored, and returns its length. No memory is allocated for a copy of the file.
            ///
            /// # Errors
            /// Returns an error if `bytes` is shorter than [`encoded_bytes`](Self::encoded_bytes).
            pub fn write_into(&self, bytes: &mut [u8]) -> Result<usize, $crate::BuildError> {
                $crate::format::write_into(self, bytes)
            }

            /// The length of the value's file in bytes.
            pub fn encoded_bytes(&self) -> u64 {
                $crate::format::encoded_bytes(self)
            }

            /// Writes the value to a file. If the file exists, it is replaced, and the new file has
            /// the same owner, group and permissions as far as the system allows
            /// ([`file`](crate::file)).
            ///
            /// A reader of the path sees either the whole old file or the whole new file, even
            /// after a power cut. The bytes are written to a temporary file in the same folder and
            /// flushed to the disk, and then the temporary file is renamed. A symbolic link is
            /// followed, and the file that it points to is replaced. No memory is allocated for a
            /// copy of the file.
            ///
            /// # Errors
            /// Returns an error if the file is read-only or cannot be written, or if the name
            /// belongs to something other than a file: a folder, a device, a pipe, or a link that
            /// leads nowhere.
            #[cfg(feature = "fs")]
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save(self, path.as_ref())
            }

            /// Like [`save`](Self::save), but returns an error if anything exists under that name.
            ///
            /// # Errors
            /// Returns the errors of [`save`](Self::save), and an error if anything exists under
            /// that name.
            #[cfg(feature = "fs")]
            pub fn save_new(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save_new(self, path.as_ref())
            }
        }
    };
}

/// Defines the methods that read. The macro's caller passes an introduction to the documentation of
/// `from_bytes` before the type.
macro_rules! reads_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Reads a value from these bytes, which must be exactly one file, with nothing after
            /// it.
            ///
            /// This method is safe for damaged and malicious bytes: invalid bytes are an error, and
            /// the memory needed is a small multiple of their length. For a
            /// [compressed](crate::wire) file, the memory needed is a small multiple of the
            /// expanded length. The expanded length is at most [1,024](crate::wire::MOST_EXPANSION)
            /// times the compressed length. The checksums detect damage, but not deliberate
            /// changes. The time is linear in the length of the expanded bytes.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// Returns an error if the bytes are not a file of this type, if the file is damaged or
            /// followed by other bytes, or if the memory cannot be allocated.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::FormatError> {
                $crate::format::from_bytes(bytes)
            }

            /// Reads a value from a stream, up to the value's last byte. For files, use
            /// [`open`](Self::open), which also checks that nothing follows the value.
            ///
            /// This method is safe for damaged and malicious streams, as
            /// [`from_bytes`](Self::from_bytes) is for bytes. The memory needed is at most a small
            /// multiple of the expanded length of the stream, plus 8 MiB.
            ///
            /// # Errors
            /// Returns an error if the stream fails or ends too early, if its bytes are not a file
            /// of this type or are damaged, or if the memory cannot be allocated.
            #[cfg(feature = "std")]
            pub fn read_from(reader: impl std::io::Read) -> Result<Self, $crate::ReadError> {
                $crate::format::read_from(reader, None)
            }

            /// Reads a file. The memory needed is about the length of the file. For a filter that
            /// grows, it is twice the length of the file. For a [compressed](crate::wire) file, it
            /// is twice the expanded length. For a sketch's list of keys, it is a small multiple of
            /// the list's length.
            ///
            /// # Errors
            /// Returns an error if the file cannot be read, is not a file of this type, is damaged,
            /// or is followed by other bytes. Returns an error if the memory cannot be allocated.
            #[cfg(feature = "fs")]
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, $crate::FileError> {
                $crate::format::open(path.as_ref())
            }

            /// Checks whether a file could now be saved at `path`, so that a long run can fail
            /// early. The check creates and removes an empty temporary file. The check also removes
            /// temporary files that killed processes left
            /// ([`file::check_target`](crate::file::check_target)).
            ///
            /// # Errors
            /// Returns the same errors as [`save`](Self::save).
            #[cfg(feature = "fs")]
            pub fn check_target(path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::disk::check_target(path)
            }
        }
    };
}

/// Defines the methods that make views of bytes. The macro's caller passes an introduction to the
/// documentation of `view` before the types.
macro_rules! views_files {
    ($(#[$of_view:meta])* [$($generics:tt)*] $type:ty, [$($bytes:tt)*] $view:ty, $mapped:ty) => {
        impl<$($generics)*> $type {
            /// A view of the value in these bytes, which are not copied. A view answers the same
            /// queries as the value itself. Making a view takes well under a microsecond, because
            /// only the header is read. The bytes must be exactly one file, with nothing after it,
            /// and need no alignment. `bytes` can be a slice, a `static` from `include_bytes!`, a
            /// vector, an `Arc<[u8]>`, or a mapped file.
            ///
            /// The header and its checksum are verified; nothing else is read. Values that are
            /// computed from the bits, such as the filter's own rate, are available only after
            /// `verify_bytes`. Making a view is safe for damaged and malicious bytes. If the bytes
            /// change while the view exists, the answers can change, but nothing else happens.
            ///
            /// # Errors
            /// Returns an error if the bytes are not a file of this type, if the header is damaged,
            /// or if other bytes follow the file.
            $(#[$of_view])*
            pub fn view<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view::<Self, B>(bytes)
            }

            /// Like [`view`](Self::view), for a file at the beginning of `bytes`. Use this method
            /// for a filter inside a larger file: other bytes may follow the filter. The view's
            /// `encoded_bytes` says where the filter ends.
            ///
            /// # Errors
            /// Returns the same errors as [`view`](Self::view), except for other bytes after the
            /// file.
            pub fn view_prefix<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view_prefix::<Self, B>(bytes)
            }
        }

        #[cfg(feature = "mmap")]
        #[allow(unsafe_code, reason = "mapping a file is sound only if the file does not change")]
        impl<$($generics)*> $type {
            /// Like [`view`](Self::view), for a file that is mapped into memory. This call reads
            /// only the header, and takes about a millisecond for a file of any size. All processes
            /// that map the file share its memory. Only the parts that queries need are read from
            /// the file.
            ///
            /// # Safety
            /// The requirement is that of [`Mapped::open`]($crate::file::Mapped::open): while the
            /// file is mapped, nothing may write to it or truncate it.
            ///
            /// # Errors
            /// Returns the same errors as [`open`](Self::open), except for damaged bits, which only
            /// `verify_bytes` finds.
            pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<$mapped, $crate::FileError> {
                // SAFETY: as the caller promised.
                let bytes = unsafe { $crate::disk::Mapped::open(&path) };
                $crate::format::view_mapped::<Self>(bytes, path.as_ref())
            }
        }
    };
}

pub(crate) use {reads_files, views_files, writes_files};
