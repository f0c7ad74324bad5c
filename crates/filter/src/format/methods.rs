//! The methods of all types that can be saved in files.

/// Defines the methods that write. The macro's caller passes an introduction to the documentation
/// of `to_bytes` before the type.
macro_rules! writes_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Encodes this value in the file format, and returns the bytes.
            /// [`from_bytes`](Self::from_bytes) decodes them.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// Returns an error if the memory cannot be allocated.
            pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::to_bytes(self)
            }

            /// A part of the bytes that [`to_bytes`](Self::to_bytes) returns. The part begins at
            /// the index `start` and is `length` bytes long. If there are fewer bytes from this
            /// index on, the part is shorter. Use this method to send a value in parts.
            ///
            /// The time is linear in the length of the part. The first 256 bytes are the header,
            /// which contains a checksum of the payload. If the part includes bytes of the header,
            /// the time is linear in the length of the whole file.
            ///
            /// # Errors
            /// Returns an error if the memory for the part cannot be allocated.
            pub fn part_of_bytes(&self, start: u64, length: usize) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::part_of_bytes(self, start, length)
            }

            /// Writes this value to a writer, in the file format. The writer does not need a
            /// buffer, because this method writes large pieces.
            ///
            /// # Errors
            /// Returns the errors of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
                $crate::format::write_to(self, writer)
            }

            /// Writes this value to the beginning of the slice `bytes`, in the file format. Returns
            /// the number of bytes written. This method allocates no memory for the encoded value.
            ///
            /// # Errors
            /// Returns an error if `bytes` is shorter than [`encoded_bytes`](Self::encoded_bytes).
            pub fn write_into(&self, bytes: &mut [u8]) -> Result<usize, $crate::BuildError> {
                $crate::format::write_into(self, bytes)
            }

            /// The number of bytes that this value takes in the file format.
            pub fn encoded_bytes(&self) -> u64 {
                $crate::format::encoded_bytes(self)
            }

            /// Writes this value to a file. An existing file is replaced. The new file gets the
            /// owner, the group and the permissions of the old file, as far as the system allows:
            /// see the module [`file`](crate::file).
            ///
            /// A program that reads the file sees either the whole old file or the whole new file,
            /// even after a power cut. The bytes are written to a temporary file in the same folder
            /// and flushed to the disk, and then the temporary file is renamed. A symbolic link is
            /// followed, and the file that it points to is replaced. This method allocates no
            /// memory for a copy of the file.
            ///
            /// # Errors
            /// Returns an error if the file is read-only or cannot be written. Returns an error if
            /// `path` leads to something other than a regular file, such as a folder or a pipe.
            /// Returns an error if `path` is a symbolic link to a file that does not exist.
            #[cfg(feature = "fs")]
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save(self, path.as_ref())
            }

            /// Like [`save`](Self::save), but returns an error if anything exists at `path`.
            ///
            /// # Errors
            /// Returns the same errors as [`save`](Self::save). Also returns an error if anything
            /// exists at `path`.
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
            /// Reads a value from these bytes. The bytes must be the whole content of one file,
            /// with nothing after it.
            ///
            /// The bytes may be damaged or malicious. For invalid bytes, the method returns an
            /// error. The checksums detect damage, but not deliberate changes. The memory needed is
            /// at most a small multiple of the length of the bytes.
            ///
            /// If the file is [compressed](crate::wire), the memory needed is at most a small
            /// multiple of its uncompressed length. The uncompressed length is at most
            /// [1,024](crate::wire::MOST_EXPANSION) times the compressed length. The time is linear
            /// in the uncompressed length.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// Returns an error if the bytes are not a file of this type, are damaged, or are
            /// followed by other bytes. Returns an error if the memory cannot be allocated.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::FormatError> {
                $crate::format::from_bytes(bytes)
            }

            /// Reads a value from a stream, up to the value's last byte. For files, use
            /// [`open`](Self::open), which also checks that nothing follows the value.
            ///
            /// The stream may contain damaged or malicious bytes: see
            /// [`from_bytes`](Self::from_bytes). The memory needed is at most 8 MiB plus a small
            /// multiple of the value's length in the stream. For a [compressed](crate::wire) value,
            /// the uncompressed length counts instead.
            ///
            /// # Errors
            /// Returns an error if the stream fails or ends too early. Returns an error if the
            /// bytes of the stream are not a file of this type, or are damaged. Returns an error if
            /// the memory cannot be allocated.
            #[cfg(feature = "std")]
            pub fn read_from(reader: impl std::io::Read) -> Result<Self, $crate::ReadError> {
                $crate::format::read_from(reader, None)
            }

            /// Reads a file. For most types of filters and sketches, the memory needed is about the
            /// length of the file. For a filter that grows, the memory needed is about twice the
            /// length of the file. If a sketch has a list of frequent keys, the list takes a few
            /// times as much memory as it takes in the file.
            ///
            /// A [compressed](crate::wire) file needs as much memory as the same file without
            /// compression. While a compressed file is read, additional memory is needed: the sum
            /// of its compressed and uncompressed lengths.
            ///
            /// # Errors
            /// Returns an error if the file cannot be read, is not a file of this type, is damaged,
            /// or is followed by other bytes. Returns an error if the memory cannot be allocated.
            #[cfg(feature = "fs")]
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, $crate::FileError> {
                $crate::format::open(path.as_ref())
            }

            /// Checks whether a file could now be saved at `path`. Call this method before a long
            /// computation whose result you will save. The check creates and removes an empty
            /// temporary file. The check also removes temporary files that killed processes left in
            /// the folder: see [`file::check_target`](crate::file::check_target).
            ///
            /// # Errors
            /// Returns the same errors as [`file::check_target`](crate::file::check_target).
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
            /// Makes a view of a file whose bytes are in memory. The bytes are not copied. A view
            /// answers the same queries as the object that was written to the file. Making a view
            /// takes well under a microsecond, because only the header is read. The bytes must be
            /// the whole content of one file, with nothing after it. The bytes can begin at any
            /// address, so you need not align them. The argument `bytes` can be a slice, a `static`
            /// from `include_bytes!`, a vector, an `Arc<[u8]>`, or a mapped file.
            ///
            /// The header and its checksum are verified. Nothing else is read. Values that are
            /// computed from the whole content, such as the present false-positive rate of a
            /// filter, are available only after a call of `verify_bytes`. If the bytes are damaged
            /// or malicious, the answers of the view can be wrong, but nothing else can go wrong.
            /// The same is true if the bytes change while the view exists.
            ///
            /// # Errors
            /// Returns an error if the bytes are not a file of this type, or are
            /// [compressed](crate::wire). Returns an error if the header is damaged, or if other
            /// bytes follow the file.
            $(#[$of_view])*
            pub fn view<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view::<Self, B>(bytes)
            }

            /// Like [`view`](Self::view), but other bytes may follow the file. Use this method for
            /// a filter or a sketch inside a larger file. The method `encoded_bytes` of the view
            /// returns the number of bytes that the filter or sketch takes.
            ///
            /// # Errors
            /// Returns the same errors as [`view`](Self::view), except that other bytes may follow
            /// the file.
            pub fn view_prefix<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view_prefix::<Self, B>(bytes)
            }
        }

        #[cfg(feature = "mmap")]
        #[allow(unsafe_code, reason = "mapping a file is sound only if the file does not change")]
        impl<$($generics)*> $type {
            /// Like [`view`](Self::view), for a file that is mapped into memory. This call reads
            /// only the header, and takes about a millisecond for a file of any size. All processes
            /// that map the same file share one copy of the file in memory. The system reads only
            /// those parts of the file that queries need.
            ///
            /// # Safety
            /// While the file is mapped, no process may write to the file or truncate it.
            /// Otherwise, the behavior is undefined. For example, answers can be wrong, or the
            /// system can end the process. [`Mapped::open`]($crate::file::Mapped::open) explains
            /// this requirement.
            ///
            /// # Errors
            /// Returns the same errors as [`open`](Self::open), except the error for damage after
            /// the header. To detect such damage, call `verify_bytes`. Also returns an error if the
            /// file is [compressed](crate::wire).
            pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<$mapped, $crate::FileError> {
                // SAFETY: as the caller promised.
                let bytes = unsafe { $crate::disk::Mapped::open(&path) };
                $crate::format::view_mapped::<Self>(bytes, path.as_ref())
            }
        }
    };
}

pub(crate) use {reads_files, views_files, writes_files};
