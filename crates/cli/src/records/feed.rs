//! The reading thread. This thread sends blocks of bytes over a bounded channel. So reading,
//! decompressing and hashing overlap, and a thread that waits for bytes can also wait for other
//! events. Between the reading thread and the main thread, other threads may [work
//! ahead](super::ahead).

use super::MARK;
use super::ahead::{Ahead, Done, Next};
use super::source::{Reading, open, read_retrying};
use std::cell::Cell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// The number of bytes in a block. A block fits in the L2 cache, and handing over a hundred of them
/// per second costs almost nothing.
const BLOCK: usize = 256 << 10;

/// The number of blocks that may wait to be used, in addition to one for each thread that works
/// ahead. The memory for reading consists of these blocks and two more: the block in use, and the
/// block that is being read or waits to be sent.
const WAITING: usize = 2;

/// Bytes in the order in which they were read.
#[derive(Default)]
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    pub(super) length: usize,
    pub(super) done: Box<Done>,
}

impl Block {
    pub(super) fn of(bytes: Vec<u8>) -> Block {
        Block { length: bytes.len(), bytes, ..Block::default() }
    }
}

/// A message from the reading thread.
pub(super) enum Message {
    /// The next bytes of the current input.
    Bytes(Block),
    /// The current input ended, or could not be opened or read further.
    InputEnded(io::Result<()>),
}

/// A message in the channel, whose block may still be in work by another thread.
enum Coming {
    Next(Next),
    InputEnded(io::Result<()>),
}

/// The receiving end of the channel.
pub(super) struct Feed {
    messages: Receiver<Coming>,
    used: SyncSender<Block>,
    shared: Arc<Shared>,
    /// The number of inputs that have not been reported as ended yet.
    left: Cell<usize>,
}

struct Shared {
    paths: Vec<PathBuf>,
    reading: Reading,
    /// The number of bytes read from the files, before decompression.
    read: Arc<AtomicU64>,
    /// The first input that is still needed. Inputs before it are not read any further.
    wanted: AtomicUsize,
}

/// The outcome of waiting for a message.
pub(super) enum Waited {
    For(Message),
    TimedOut,
    /// All inputs have ended.
    Over,
}

impl Feed {
    /// Starts reading the inputs, in order.
    pub(super) fn start(paths: &[PathBuf], reading: Reading, ahead: Option<Ahead>) -> io::Result<Feed> {
        let waiting = WAITING + ahead.as_ref().map_or(0, Ahead::threads);
        let (to_us, messages) = sync_channel(waiting);
        let (used, from_us) = sync_channel(waiting + 2);
        let shared = Arc::new(Shared { paths: paths.to_vec(), reading, read: Arc::default(), wanted: AtomicUsize::new(0) });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("reader".to_owned()).spawn(move || read_inputs(&theirs, ahead, &to_us, &from_us))?;
        Ok(Feed { messages, used, shared, left: Cell::new(paths.len()) })
    }

    /// The next message, if there is one already.
    pub(super) fn poll(&self) -> Waited {
        match self.messages.try_recv() {
            Ok(coming) => self.arrived(coming),
            Err(TryRecvError::Empty) => Waited::TimedOut,
            Err(TryRecvError::Disconnected) => self.ended(),
        }
    }

    pub(super) fn wait(&self, time: Duration) -> Waited {
        match self.messages.recv_timeout(time) {
            Ok(coming) => self.arrived(coming),
            Err(RecvTimeoutError::Timeout) => Waited::TimedOut,
            Err(RecvTimeoutError::Disconnected) => self.ended(),
        }
    }

    fn arrived(&self, coming: Coming) -> Waited {
        let message = match coming {
            Coming::Next(Next::Plain(block)) => Message::Bytes(block),
            // A promised block is ready within milliseconds, so it is awaited.
            Coming::Next(Next::Promised(block)) => Message::Bytes(block.recv().expect("every thread returns the block that it took")),
            Coming::InputEnded(result) => {
                self.left.set(self.left.get() - 1);
                Message::InputEnded(result)
            }
        };
        Waited::For(message)
    }

    /// Handles the end of the reading thread. If the thread has not reported the end of every input
    /// (because of a panic or a lack of memory), the missing inputs are errors. Otherwise, an input
    /// that was not read to its end would seem complete.
    fn ended(&self) -> Waited {
        match self.left.get() {
            0 => Waited::Over,
            left => {
                self.left.set(left - 1);
                Waited::For(Message::InputEnded(Err(io::Error::other("the reader thread ended before the end of its input"))))
            }
        }
    }

    /// Returns a block so that it can be filled again.
    pub(super) fn recycle(&self, block: Block) {
        if block.bytes.len() == BLOCK {
            // If the channel is full, there are enough blocks.
            let _ = self.used.try_send(block);
        }
    }

    /// Says that the inputs before this one need not be read further.
    pub(super) fn want_from(&self, input: usize) {
        self.shared.wanted.store(input, Ordering::Relaxed);
    }

    /// The number of bytes read so far, before decompression.
    pub(super) fn bytes_read(&self) -> u64 {
        self.shared.read.load(Ordering::Relaxed)
    }
}

/// Reads until all inputs are read or the receiver is dropped.
fn read_inputs(shared: &Shared, mut ahead: Option<Ahead>, messages: &SyncSender<Coming>, used: &Receiver<Block>) {
    for (index, path) in shared.paths.iter().enumerate() {
        let wanted = || shared.wanted.load(Ordering::Relaxed) <= index;
        let result = read_input(shared, path, wanted, ahead.as_mut(), messages, used);
        if messages.send(Coming::InputEnded(result)).is_err() {
            return;
        }
    }
}

fn read_input(
    shared: &Shared,
    path: &Path,
    wanted: impl Fn() -> bool,
    mut ahead: Option<&mut Ahead>,
    messages: &SyncSender<Coming>,
    used: &Receiver<Block>,
) -> io::Result<()> {
    let mut source = open(path, shared.reading, &shared.read)?;
    ahead.iter_mut().for_each(|ahead| ahead.begin_input());
    let mut is_first = true;
    while wanted() {
        let mut block = used.try_recv().unwrap_or_else(|_| Block::of(vec![0; BLOCK]));
        let read = if is_first { read_mark(&mut source, &mut block.bytes) } else { read_retrying(&mut source, &mut block.bytes) };
        (block.length, is_first) = (read?, false);
        if block.length == 0 {
            break;
        }
        let next = match &mut ahead {
            Some(ahead) => ahead.hand_over(block),
            None => Next::Plain(block),
        };
        if messages.send(Coming::Next(next)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads the first bytes of an input. The function reads until a byte order mark would be complete,
/// so that the mark is recognized even if its bytes arrive one by one.
fn read_mark(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let read = read_retrying(source, &mut buffer[length..])?;
        length += read;
        if read == 0 || length >= MARK.len() || !MARK.starts_with(&buffer[..length]) {
            return Ok(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_comes_in_one_piece() {
        /// A source that returns one byte at a time.
        struct Slow(&'static [u8]);
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.read(&mut buffer[..1])
            }
        }
        for (text, expected) in [(&b"\xef\xbb\xbfa"[..], 3), (b"\xef\xbba", 3), (b"\xefab", 2), (b"\xef", 1), (b"ab", 1), (b"", 0)] {
            assert_eq!(read_mark(&mut Slow(text), &mut [0; 9]).ok(), Some(expected), "{text:?}");
        }
    }

    /// If the thread panics, it drops its end of the channel. In this test, the thread stops after
    /// the first of three inputs has ended. The two other inputs must not be treated as empty.
    #[test]
    fn inputs_that_nobody_reads_on_are_errors() {
        let (to_us, messages) = sync_channel(3);
        let (used, _from_us) = sync_channel(1);
        let shared = Arc::new(Shared { paths: Vec::new(), reading: Reading::default(), read: Arc::default(), wanted: AtomicUsize::new(0) });
        let feed = Feed { messages, used, shared, left: Cell::new(3) };
        to_us.send(Coming::InputEnded(Ok(()))).expect("there is room");
        drop(to_us);
        let ended = |waited| matches!(waited, Waited::For(Message::InputEnded(Ok(()))));
        let failed = |waited| matches!(waited, Waited::For(Message::InputEnded(Err(_))));
        assert!(ended(feed.poll()));
        assert!(failed(feed.poll()) && failed(feed.wait(Duration::ZERO)));
        assert!(matches!(feed.wait(Duration::ZERO), Waited::Over) && matches!(feed.poll(), Waited::Over));
    }
}
