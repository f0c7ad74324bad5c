//! The methods of everything that is kept in files.

/// Writing; what is said before the type is said of `to_bytes`, too.
macro_rules! writes_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// The bytes of its file.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// The memory cannot be allocated.
            pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::to_bytes(self)
            }

            /// The bytes of its file from `start` on, at most `length`: none from its end on. For
            /// a file that goes somewhere in parts. Linear in the part; for one that reaches into
            /// the header (its first 256 bytes, which have a checksum of all), in the file.
            ///
            /// # Errors
            /// The memory for the part cannot be allocated.
            pub fn part_of_bytes(&self, start: u64, length: usize) -> Result<alloc::vec::Vec<u8>, $crate::BuildError> {
                $crate::format::part_of_bytes(self, start, length)
            }

            /// Writes the bytes of its file. Unbuffered writers are fine: it writes in large
            /// pieces.
            ///
            /// # Errors
            /// The errors of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
                $crate::format::write_to(self, writer)
            }

            /// Writes the bytes of its file to the beginning of these, where it can be viewed or
            /// kept, and returns how many they are. Takes no memory of the file's size.
            ///
            /// # Errors
            /// There are fewer than [`encoded_bytes`](Self::encoded_bytes).
            pub fn write_into(&self, bytes: &mut [u8]) -> Result<usize, $crate::BuildError> {
                $crate::format::write_into(self, bytes)
            }

            /// The number of bytes of its file.
            pub fn encoded_bytes(&self) -> u64 {
                $crate::format::encoded_bytes(self)
            }

            /// Writes its file, and replaces the one that is there, keeping its owner, group and
            /// permissions as far as the system lets us ([`file`](crate::file)).
            ///
            /// A reader of the path sees the old file or the new one, whole, also after a power
            /// cut: the bytes go to a temporary file beside it, to the disk, and only then under
            /// the name. A symbolic link is followed, and what it points to is replaced. Takes no
            /// memory of the file's size.
            ///
            /// # Errors
            /// There is something other than a file (a folder, a device, a pipe, a link that leads
            /// nowhere); the file has no write permission; it cannot be written.
            #[cfg(feature = "fs")]
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save(self, path.as_ref())
            }

            /// [`save`](Self::save), but an error if there is anything under that name already.
            ///
            /// # Errors
            /// There is anything under that name; otherwise as [`save`](Self::save).
            #[cfg(feature = "fs")]
            pub fn save_new(&self, path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::format::save_new(self, path.as_ref())
            }
        }
    };
}

/// Reading; what is said before the type is said of `from_bytes`, too.
macro_rules! reads_files {
    ($(#[$of_bytes:meta])* [$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// What these bytes hold, which must be those of one file, whole and nothing after it.
            ///
            /// Safe for bytes from anywhere: all else is an error, and the memory taken is a small
            /// multiple of the bytes' own length, or, of a [compressed](crate::wire) file, of the
            /// length it expands to, at most [1,024](crate::wire::MOST_EXPANSION) times its own.
            /// The checksums find damage; they do not stop a forger. Linear in the bytes, expanded.
            $(#[$of_bytes])*
            ///
            /// # Errors
            /// The bytes are not such a file, or a damaged one, or something follows them; the
            /// memory cannot be allocated.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::FormatError> {
                $crate::format::from_bytes(bytes)
            }

            /// Reads one from a stream and leaves what comes after it. For files,
            /// [`open`](Self::open) also checks that nothing does.
            ///
            /// Safe for streams from anywhere, as [`from_bytes`](Self::from_bytes) is: the memory
            /// taken is at most a small multiple of the length of the stream, expanded, and 8 MiB.
            ///
            /// # Errors
            /// The stream fails, or ends too early; the bytes are not such a file, or a damaged
            /// one; the memory cannot be allocated.
            #[cfg(feature = "std")]
            pub fn read_from(reader: impl std::io::Read) -> Result<Self, $crate::ReadError> {
                $crate::format::read_from(reader, None)
            }

            /// Reads a file. Takes about as much memory as the file is long; twice that for a
            /// filter that grows and for a [compressed](crate::wire) file, of its expanded length;
            /// for a sketch's list of keys, a small multiple.
            ///
            /// # Errors
            /// The file cannot be read; its bytes are not such a file, or a damaged one, or
            /// something follows them; the memory cannot be allocated.
            #[cfg(feature = "fs")]
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, $crate::FileError> {
                $crate::format::open(path.as_ref())
            }

            /// Whether a file could be saved there now, so that a long run can fail at its start:
            /// the errors of [`save`](Self::save). Writes and removes an empty temporary file, and
            /// removes those of killed processes
            /// ([`file::check_target`](crate::file::check_target)).
            ///
            /// # Errors
            /// As for [`save`](Self::save).
            #[cfg(feature = "fs")]
            pub fn check_target(path: impl AsRef<std::path::Path>) -> Result<(), $crate::FileError> {
                $crate::disk::check_target(path)
            }
        }
    };
}

/// Looking at bytes where they are; what is said before the types is said of `view`, too.
macro_rules! views_files {
    ($(#[$of_view:meta])* [$($generics:tt)*] $type:ty, [$($bytes:tt)*] $view:ty, $mapped:ty) => {
        impl<$($generics)*> $type {
            /// What these bytes hold, left where it is: asked like the filter itself, and opened
            /// without reading more than the header, in well under a microsecond. They must be
            /// those of one file, whole and nothing after it. Any alignment does; `bytes` may be a
            /// slice, a `static` by `include_bytes!`, a vector, an `Arc<[u8]>`, a map of a file.
            ///
            /// The header is checked, with its own checksum; nothing else is read. What follows
            /// from the bits, such as the filter's own rate, is available only after
            /// `verify_bytes`. Safe for bytes from anywhere, as [`from_bytes`](Self::from_bytes)
            /// is; bytes that change meanwhile change answers, and do no other harm.
            ///
            /// # Errors
            /// The bytes are no such file, or their header is damaged, or something follows the
            /// filter.
            $(#[$of_view])*
            pub fn view<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view::<Self, B>(bytes)
            }

            /// [`view`](Self::view) of what stands at the beginning of these bytes, whatever comes
            /// after it: a filter in the middle of a larger file, of which `encoded_bytes` of the
            /// view says where it ends.
            ///
            /// # Errors
            /// As for [`view`](Self::view), except that other bytes may follow.
            pub fn view_prefix<B: $($bytes)*>(bytes: B) -> Result<$view, $crate::FormatError> {
                $crate::format::view_prefix::<Self, B>(bytes)
            }
        }

        #[cfg(feature = "mmap")]
        #[allow(unsafe_code, reason = "to map a file is to promise that it does not change")]
        impl<$($generics)*> $type {
            /// A [`view`](Self::view) of a file that is mapped into memory: opened without reading
            /// more than its header, in a millisecond however large it is, and shared with every
            /// process that maps it. Only what is asked for is read.
            ///
            /// # Safety
            /// As for [`Mapped::open`]($crate::file::Mapped::open): nothing may write to the file
            /// or truncate it while it is mapped.
            ///
            /// # Errors
            /// As for [`open`](Self::open), except that damaged bits are found only by
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
