//! The one line reader: lines are bytes, ended by a newline or the end of the input.

use std::io::{self, Read};

/// Read ahead by this much; the buffer grows beyond it only for a line that is longer.
const CHUNK: usize = 256 << 10;

/// A line may have at most this many bytes: what a line without end does to memory must be known beforehand.
const MAX_LINE: usize = 1 << 30;

/// Splits an input into lines.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// What has been read and not handed out: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// `buffer[start..searched]` has no newline.
    searched: usize,
    /// Number of lines handed out.
    count: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Lines<R> {
        Lines { source, buffer: Vec::new(), start: 0, end: 0, searched: 0, count: 0 }
    }

    /// Whether the next line must be read first, which may wait: the moment to flush what was written.
    pub(crate) fn must_read(&mut self) -> bool {
        self.newline().is_none()
    }

    /// The next line without its newline; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        while self.newline().is_none() {
            if self.read_more()? == 0 {
                return Ok((self.start < self.end).then(|| self.take(self.end, self.end)));
            }
        }
        let newline = self.searched;
        Ok(Some(self.take(newline, newline + 1)))
    }

    /// Where the first newline is, in which case `searched` stays there.
    fn newline(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]);
        self.searched = found.map_or(self.end, |offset| self.searched + offset);
        found.map(|_| self.searched)
    }

    /// Hands out `start..end`; what is left starts at `next`.
    fn take(&mut self, end: usize, next: usize) -> &[u8] {
        let line = self.start..end;
        (self.start, self.searched) = (next, next);
        self.count += 1;
        &self.buffer[line]
    }

    /// Moves what is left to the front, makes room, and reads once.
    fn read_more(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end, self.searched) = (0, self.end - self.start, self.searched - self.start);
        if self.end >= MAX_LINE {
            let message = format!("line {} is longer than {} MiB; is this a file of lines?", self.count + 1, MAX_LINE >> 20);
            return Err(io::Error::other(message));
        }
        if self.buffer.len() - self.end < CHUNK / 2 {
            let target = (2 * self.end).max(CHUNK);
            let more = target - self.buffer.len();
            self.buffer
                .try_reserve_exact(more)
                .map_err(|_| io::Error::other(format!("no memory for line {} of more than {} bytes", self.count + 1, self.end)))?;
            self.buffer.resize(target, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
                error => return error,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out at most `step` bytes a read.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.1.min(buffer.len()).min(self.0.len());
            buffer[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    fn split(text: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(Dribble(text, step));
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().expect("reading memory") {
            found.push(line.to_vec());
        }
        assert_eq!(lines.count, found.len() as u64);
        found
    }

    #[test]
    fn lines_of_all_shapes() {
        let long = vec![b'x'; 3 * CHUNK + 7];
        let joined = [b"\xff\x00a\n\n".as_slice(), &long, b"\nlast"].concat();
        for step in [1 << 20, CHUNK, 4099, 1000] {
            assert_eq!(split(&joined, step), [b"\xff\x00a".to_vec(), vec![], long.clone(), b"last".to_vec()], "{step}");
        }
        assert_eq!(split(b"", 10), Vec::<Vec<u8>>::new());
        assert_eq!(split(b"\n", 10), [b""]);
        assert_eq!(split(b"a\nb\n", 1), [b"a", b"b"]);
    }
}
