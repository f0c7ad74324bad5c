//! The whole state in a file, and hostile bytes.
