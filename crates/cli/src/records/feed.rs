//! The reading thread: blocks of bytes over a bounded channel, so that reading, unpacking and
//! hashing overlap, and a thread that waits for bytes can also wait for something else. Between the
//! two, more threads may [work ahead](super::ahead).

use super::ahead::{Ahead, Done, Next};
use super::source::{open, read_retrying};
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// Bytes of a block: fits the second-level cache, and a hundred of them a second cost nothing.
const BLOCK: usize = 256 << 10;

/// Blocks that may wait to be used, besides one for each thread that works ahead. With the one in
/// use, the one that waits for its place and the one being read, this is all the memory there is.
const WAITING: usize = 2;

/// Bytes as they were read.
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

/// What the reading thread has to say.
pub(super) enum Message {
    /// The next bytes of the present input.
    Bytes(Block),
    /// The present input ended, or could not be opened or read on.
    InputEnded(io::Result<()>),
}

/// What it hands on: blocks may not be ready yet.
enum Coming {
    Next(Next),
    InputEnded(io::Result<()>),
}

/// The receiving end.
pub(super) struct Feed {
    messages: Receiver<Coming>,
    used: SyncSender<Block>,
    shared: Arc<Shared>,
    /// Inputs of which the end was not told yet.
    left: Cell<usize>,
}

struct Shared {
    paths: Vec<PathBuf>,
    as_is: bool,
    /// Bytes read from the files, before unpacking.
    read: Arc<AtomicU64>,
    /// The rest of earlier inputs is not read.
    wanted: AtomicUsize,
}

/// What came of waiting.
pub(super) enum Waited {
    For(Message),
    TimedOut,
    /// All inputs have ended.
    Over,
}

impl Feed {
    /// Starts to read the inputs, in order.
    pub(super) fn start(paths: &[PathBuf], as_is: bool, ahead: Option<Ahead>) -> io::Result<Feed> {
        let waiting = WAITING + ahead.as_ref().map_or(0, Ahead::threads);
        let (to_us, messages) = sync_channel(waiting);
        let (used, from_us) = sync_channel(waiting + 2);
        let shared = Arc::new(Shared { paths: paths.to_vec(), as_is, read: Arc::default(), wanted: AtomicUsize::new(0) });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("reader".to_owned()).spawn(move || read_inputs(&theirs, ahead, &to_us, &from_us))?;
        Ok(Feed { messages, used, shared, left: Cell::new(paths.len()) })
    }

    /// The next message if it is there.
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
            // A block that was promised is waited for: it is a matter of milliseconds.
            Coming::Next(Next::Promised(block)) => Message::Bytes(block.recv().expect("a thread that took a block gives it back")),
            Coming::InputEnded(result) => {
                self.left.set(self.left.get() - 1);
                Message::InputEnded(result)
            }
        };
        Waited::For(message)
    }

    /// The reading thread has ended. If it did not tell the end of every input (a panic, for want
    /// of memory), those are errors: what was not read must not pass for an end.
    fn ended(&self) -> Waited {
        match self.left.get() {
            0 => Waited::Over,
            left => {
                self.left.set(left - 1);
                Waited::For(Message::InputEnded(Err(io::Error::other("the thread that reads ended before its input did"))))
            }
        }
    }

    /// Gives a block back to be filled again.
    pub(super) fn recycle(&self, block: Block) {
        if block.bytes.len() == BLOCK {
            // A full channel means that there are blocks enough.
            let _ = self.used.try_send(block);
        }
    }

    /// Inputs before this one need not be read on.
    pub(super) fn want_from(&self, input: usize) {
        self.shared.wanted.store(input, Ordering::Relaxed);
    }

    /// Bytes read so far, before unpacking.
    pub(super) fn bytes_read(&self) -> u64 {
        self.shared.read.load(Ordering::Relaxed)
    }
}

/// Reads until all is read or the receiver is gone.
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
    let mut source = open(path, shared.as_is, &shared.read)?;
    ahead.iter_mut().for_each(|ahead| ahead.begin_input());
    while wanted() {
        let mut block = used.try_recv().unwrap_or_else(|_| Block::of(vec![0; BLOCK]));
        block.length = read_retrying(&mut source, &mut block.bytes)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that panics drops its end: one input had ended, two had not, and neither may pass
    /// for an empty one.
    #[test]
    fn inputs_that_nobody_reads_on_are_errors() {
        let (to_us, messages) = sync_channel(3);
        let (used, _from_us) = sync_channel(1);
        let shared = Arc::new(Shared { paths: Vec::new(), as_is: false, read: Arc::default(), wanted: AtomicUsize::new(0) });
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
