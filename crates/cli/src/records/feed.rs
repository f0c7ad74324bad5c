//! The reading thread: blocks of bytes over a bounded channel, so that reading, unpacking and hashing overlap, and whoever waits for bytes can also wait for something else.

use super::source::{open, read_retrying};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// Bytes of a block: fits the second-level cache, and a hundred of them a second cost nothing.
const BLOCK: usize = 256 << 10;

/// Blocks that may wait to be used. With the one in use and the one being read, this is all the memory there is.
const WAITING: usize = 2;

/// Bytes as they were read.
#[derive(Default)]
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    pub(super) length: usize,
}

/// What the reading thread has to say.
pub(super) enum Message {
    /// The next bytes of the present input.
    Bytes(Block),
    /// The present input ended, or could not be opened or read on.
    InputEnded(io::Result<()>),
}

/// The receiving end.
pub(super) struct Feed {
    messages: Receiver<Message>,
    used: SyncSender<Block>,
    shared: Arc<Shared>,
}

struct Shared {
    paths: Vec<PathBuf>,
    as_is: bool,
    /// Bytes read from the files, before unpacking.
    read: Arc<AtomicU64>,
    /// Inputs before this one are not read on.
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
    pub(super) fn start(paths: &[PathBuf], as_is: bool) -> io::Result<Feed> {
        let (to_us, messages) = sync_channel(WAITING);
        let (used, from_us) = sync_channel(WAITING + 2);
        let shared = Arc::new(Shared { paths: paths.to_vec(), as_is, read: Arc::default(), wanted: AtomicUsize::new(0) });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("reader".to_owned()).spawn(move || read_inputs(&theirs, &to_us, &from_us))?;
        Ok(Feed { messages, used, shared })
    }

    /// The next message if it is there.
    pub(super) fn poll(&self) -> Waited {
        match self.messages.try_recv() {
            Ok(message) => Waited::For(message),
            Err(TryRecvError::Empty) => Waited::TimedOut,
            Err(TryRecvError::Disconnected) => Waited::Over,
        }
    }

    pub(super) fn wait(&self, time: Duration) -> Waited {
        match self.messages.recv_timeout(time) {
            Ok(message) => Waited::For(message),
            Err(RecvTimeoutError::Timeout) => Waited::TimedOut,
            Err(RecvTimeoutError::Disconnected) => Waited::Over,
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

/// Reads until all is read or nobody listens any more.
fn read_inputs(shared: &Shared, messages: &SyncSender<Message>, used: &Receiver<Block>) {
    for (index, path) in shared.paths.iter().enumerate() {
        let wanted = || shared.wanted.load(Ordering::Relaxed) <= index;
        let result = read_input(shared, path, wanted, messages, used);
        if messages.send(Message::InputEnded(result)).is_err() {
            return;
        }
    }
}

fn read_input(
    shared: &Shared,
    path: &Path,
    wanted: impl Fn() -> bool,
    messages: &SyncSender<Message>,
    used: &Receiver<Block>,
) -> io::Result<()> {
    let mut source = open(path, shared.as_is, &shared.read)?;
    while wanted() {
        let mut block = used.try_recv().unwrap_or_else(|_| Block { bytes: vec![0; BLOCK], length: 0 });
        block.length = read_retrying(&mut source, &mut block.bytes)?;
        if block.length == 0 || messages.send(Message::Bytes(block)).is_err() {
            break;
        }
    }
    Ok(())
}
