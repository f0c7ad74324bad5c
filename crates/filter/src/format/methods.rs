//! The methods of everything that can be saved in files.

/// Defines the methods that write; the documentation given before the type also appears at
/// `to_bytes`.
macro_rules! writes_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// The value's file as bytes.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// The memory cannot be allocated.
            pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::to_bytes(self)
            }

            /// A part of the value's file: at most `length` bytes from `start` on, and none from
            /// its end on. Use this to send a file in parts. The time is linear in the length of
            /// the part. If the part includes bytes of the header (the first 256, which contain a
            /// checksum of everything), it is linear in the length of the file.
            ///
            /// # Errors
            /// The memory for the part cannot be allocated.
            pub fn part_of_bytes(&self, start: u64, length: usize) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::part_of_bytes(self, start, length)
            }

            /// Writes the value's file to a writer. The writer need not be buffered, because the
            /// file is written in large pieces.
            ///
            /// # Errors
            /// The errors of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
                $crate::format::write_to(self, writer)
            }

            /// Writes the value's file to the beginning of `bytes`, where it can be viewed or
            /// stored, and returns its length. This needs no memory for a copy of the file.
            ///
            /// # Errors
            /// The slice `bytes` is shorter than [`encoded_bytes`](Self::encoded_bytes).
            pub fn write_into(&self, bytes: &mut [u8]) -> Result<usize, $crate::BuildError> {
                $crate::format::write_into(self, bytes)
            }

            /// The length of the value's file in bytes.
            pub fn encoded_bytes(&self) -> u64 {
                $crate::format::encoded_bytes(self)
            }

            /// Writes the value's file and replaces an existing one, whose owner, group and
            /// permissions it keeps as far as the system allows ([`file`](crate::file)).
            ///
            /// A reader of the path sees either the whole old file or the whole new file, even
            /// after a power cut: the bytes are written to a temporary file beside it and flushed
            /// to the disk before that file takes the name. A symbolic link is followed, and the
            /// file that it points to is replaced. This needs no memory for a copy of the file.
            ///
            /// # Errors
            /// Something other than a file has that name (a folder, a device, a pipe, a link that
            /// leads nowhere); the file is read-only; it cannot be written.
            #[cfg(feature = "fs")]
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save(self, path.as_ref())
            }

            /// Like [`save`](Self::save), but returns an error if anything exists under that name.
            ///
            /// # Errors
            /// Something exists under that name; or one of the errors of [`save`](Self::save).
            #[cfg(feature = "fs")]
            pub fn save_new(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save_new(self, path.as_ref())
            }
        }
    };
}

/// Defines the methods that read; the documentation given before the type also appears at
/// `from_bytes`.
macro_rules! reads_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Reads a value from these bytes, which must be exactly one file, with nothing after
            /// it.
            ///
            /// This is safe for bytes from any source: all other bytes are an error, and the memory
            /// needed is a small multiple of their length. For a [compressed](crate::wire) file, it
            /// is a small multiple of the expanded length, which is at most
            /// [1,024](crate::wire::MOST_EXPANSION) times the compressed length. The checksums
            /// detect damage; they do not stop a forger. The time is linear in the length of the
            /// decompressed bytes.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// The bytes are not a file of this type, or a damaged one; something follows the file;
            /// the memory cannot be allocated.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::FormatError> {
                $crate::format::from_bytes(bytes)
            }

            /// Reads a value from a stream, and does not read further than the value. For files,
            /// use [`open`](Self::open), which also checks that nothing follows.
            ///
            /// This is safe for streams from any source, like [`from_bytes`](Self::from_bytes): the
            /// memory needed is at most a small multiple of the expanded length of the stream, plus
            /// 8 MiB.
            ///
            /// # Errors
            /// The stream fails or ends too early; the bytes are not a file of this type, or a
            /// damaged one; the memory cannot be allocated.
            #[cfg(feature = "std")]
            pub fn read_from(reader: impl std::io::Read) -> Result<Self, $crate::ReadError> {
                $crate::format::read_from(reader, None)
            }

            /// Reads a file. The memory needed is about the length of the file; for a filter that
            /// grows, it is twice that; for a [compressed](crate::wire) file, twice the expanded
            /// length; and for a sketch's list of keys, a small multiple of its length.
            ///
            /// # Errors
            /// The file cannot be read; its bytes are not a file of this type, or a damaged one;
            /// something follows the file; the memory cannot be allocated.
            #[cfg(feature = "fs")]
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, $crate::FileError> {
                $crate::format::open(path.as_ref())
            }

            /// Checks whether a file could now be saved at `path`, so that a long run can fail at
            /// its start, with the errors of [`save`](Self::save). It creates and removes an empty
            /// temporary file, and also removes temporary files that killed processes left
            /// ([`file::check_target`](crate::file::check_target)).
            ///
            /// # Errors
            /// The errors of [`save`](Self::save).
            #[cfg(feature = "fs")]
            pub fn check_target(path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::disk::check_target(path)
            }
        }
    };
}

/// Defines the methods that make views of bytes; the documentation given before the types also
/// appears at `view`.
macro_rules! views_files {
    ($(#[$of_view:meta])* [$($generics:tt)*] $type:ty, [$($bytes:tt)*] $view:ty, $mapped:ty) => {
        impl<$($generics)*> $type {
            /// A view of the value in these bytes, without a copy. The view is queried like the
            /// filter itself. Opening it reads only the header, in well under a microsecond. The
            /// bytes must be exactly one file, with nothing after it. Any alignment is allowed;
            /// `bytes` may be a slice, a `static` from `include_bytes!`, a vector, an `Arc<[u8]>`,
            /// or a mapped file.
            ///
            /// The header and its own checksum are verified; nothing else is read. Values that are
            /// computed from the bits, such as the filter's own rate, are available only after
            /// `verify_bytes`. This is safe for bytes from any source, like
            /// [`from_bytes`](Self::from_bytes). If the bytes change meanwhile, answers change, but
            /// no other harm is done.
            ///
            /// # Errors
            /// The bytes are not a file of this type, or the header is damaged; something follows
            /// the file.
            $(#[$of_view])*
            pub fn view<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view::<Self, B>(bytes)
            }

            /// A [`view`](Self::view) of the file at the beginning of these bytes, which may be
            /// followed by other bytes. Use it for a filter inside a larger file. The view's
            /// `encoded_bytes` says where the filter ends.
            ///
            /// # Errors
            /// The errors of [`view`](Self::view), except that other bytes may follow the file.
            pub fn view_prefix<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view_prefix::<Self, B>(bytes)
            }
        }

        #[cfg(feature = "mmap")]
        #[allow(unsafe_code, reason = "to map a file is to promise that it does not change")]
        impl<$($generics)*> $type {
            /// A [`view`](Self::view) of a file that is mapped into memory. Opening it reads only
            /// the header and takes about a millisecond for any size. All processes that map the
            /// file share its memory. Only the parts that are queried are read.
            ///
            /// # Safety
            /// The requirement of [`Mapped::open`]($crate::file::Mapped::open): while the file is
            /// mapped, nothing may write to it or truncate it.
            ///
            /// # Errors
            /// The errors of [`open`](Self::open), except that damaged bits are found only by
            /// `verify_bytes`.
            pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<$mapped, $crate::FileError> {
                // SAFETY: as the caller promised.
                let bytes = unsafe { $crate::disk::Mapped::open(&path) };
                $crate::format::view_mapped::<Self>(bytes, path.as_ref())
            }
        }
    };
}

pub(crate) use {reads_files, views_files, writes_files};
