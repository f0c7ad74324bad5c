//! Threads that work ahead of the main thread. Each thread takes a block, finds the complete
//! records in it, and computes the answers for their keys.
//!
//! These threads do not change the order: blocks are passed on in the order of reading, each as
//! soon as it is ready. The main thread handles records that span two blocks. With CSV, a thread
//! cannot know whether its block starts within a quoted field. The thread assumes that the block
//! does not, and its work is discarded if this was wrong.

use super::answers::{Answers, Work};
use super::csv::Columns;
use super::feed::Block;
use super::found::{Batch, Found};
use super::split::Ends;
use super::splitter::Splitter;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The smallest length of a text that is handed to another thread.
const WORTH_IT: usize = 4 << 10;

/// The threads, and the channel through which they get work.
pub(super) struct Ahead {
    ends: Ends,
    threads: usize,
    jobs: Sender<Job>,
    cut: Cut,
}

/// The columns of the current input; `None` until the main thread has read them. The other threads
/// need the columns to find keys.
pub(super) type Shared = Arc<Mutex<Option<Columns>>>;

/// The results of these threads for a part of a block.
#[derive(Default)]
pub(super) struct Done {
    /// The part of the block that a thread processes; it may be empty.
    pub(super) part: Range<usize>,
    /// The columns that the thread assumed the input to have.
    pub(super) columns: Columns,
    pub(super) records: u64,
    pub(super) found: Found,
    pub(super) answers: Answers,
}

struct Job {
    block: Block,
    ready: SyncSender<Block>,
}

/// The next block in order, and whether it is ready.
pub(super) enum Next {
    Plain(Block),
    Promised(Receiver<Block>),
}

impl Ahead {
    /// Starts the threads, each with its own splitter.
    pub(super) fn start(splitters: Vec<Splitter>, ends: Ends, columns: &Shared, passing: bool, work: &Arc<Work>) -> io::Result<Ahead> {
        let threads = splitters.len();
        let (to_threads, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        for splitter in splitters {
            let mut worker = Worker { splitter, columns: Arc::clone(columns), passing, work: Arc::clone(work) };
            let jobs = Arc::clone(&jobs);
            std::thread::Builder::new().name("ahead".to_owned()).spawn(move || worker.work_off(&jobs))?;
        }
        Ok(Ahead { ends, threads, jobs: to_threads, cut: Cut::new(ends) })
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Prepares for the next input.
    pub(super) fn begin_input(&mut self) {
        self.cut = Cut::new(self.ends);
    }

    /// Hands over the next block, so that the complete records in it are found. The channel needs
    /// no bound, because the caller limits the number of blocks.
    pub(super) fn hand_over(&mut self, mut block: Block) -> Next {
        block.done.part = self.cut.whole(&block.bytes[..block.length]);
        if block.done.part.len() < WORTH_IT {
            return Next::Plain(block.undone());
        }
        let (ready, promised) = sync_channel(1);
        match self.jobs.send(Job { block, ready }) {
            Ok(()) => Next::Promised(promised),
            Err(unsent) => Next::Plain(unsent.0.block.undone()),
        }
    }
}

impl Block {
    fn undone(mut self) -> Block {
        self.done.part = 0..0;
        self
    }
}

struct Worker {
    splitter: Splitter,
    columns: Shared,
    passing: bool,
    work: Arc<Work>,
}

impl Worker {
    /// Processes blocks until the sender is dropped.
    fn work_off(&mut self, jobs: &Mutex<Receiver<Job>>) {
        loop {
            // The lock is held while waiting: one thread waits for a block, the others for their
            // turn.
            let job = lock(jobs).recv();
            let Ok(Job { mut block, ready }) = job else { return };
            let all = self.work_ahead(&mut block);
            // The receiver may be gone by now.
            let _ = ready.send(if all { block } else { block.undone() });
        }
    }

    /// Processes one block; returns whether its part consists of complete records only.
    fn work_ahead(&mut self, block: &mut Block) -> bool {
        let Some(columns) = *lock(&self.columns) else { return false };
        let done = &mut *block.done;
        done.found.passing = self.passing;
        let text = &block.bytes[done.part.clone()];
        if !done.find(&mut self.splitter, columns, text) {
            done.found = Found::default();
            return false;
        }
        (self.work)(Batch { spans: &done.found.spans, text, keys: &done.found.keys, numbers: &done.found.numbers }, &mut done.answers);
        true
    }
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Done {
    /// Finds the records of a text, given the columns. The splitter must not be in use for another
    /// text. Returns whether the whole text consists of complete records.
    pub(super) fn find(&mut self, splitter: &mut Splitter, columns: Columns, text: &[u8]) -> bool {
        self.columns = columns;
        self.found.clear();
        // Problems found before may have been discarded without being reported.
        self.found.troubles.clear();
        self.found.passed.clear();
        self.found.more_troubles = 0;
        splitter.resume(columns);
        let used = splitter.split(text, &mut self.found);
        let all = used == Ok(text.len()) && splitter.is_between_records() && self.found.again.take().is_none();
        self.records = splitter.abandon();
        all
    }

    /// Whether a splitter that has reached the beginning of this part would have found the same
    /// records.
    pub(super) fn follows(&self, splitter: &Splitter) -> bool {
        splitter.is_between_records() && splitter.columns() == Some(self.columns)
    }
}

/// Finds out where records end, block after block of an input.
pub(super) struct Cut {
    ends: Ends,
    /// The number of bytes of a record whose end was not found yet. For records that end with a
    /// given byte, the value is only 0 or 1, which says whether there is such a record.
    open: usize,
}

impl Cut {
    pub(super) fn new(ends: Ends) -> Cut {
        Cut { ends, open: 0 }
    }

    /// The part of the next block that begins and ends at record boundaries.
    pub(super) fn whole(&mut self, text: &[u8]) -> Range<usize> {
        match self.ends {
            Ends::Byte { byte, .. } => {
                let first = if self.open == 0 { 0 } else { memchr::memchr(byte, text).map_or(text.len(), |end| end + 1) };
                let last = memchr::memrchr(byte, &text[first..]).map_or(first, |end| first + end + 1);
                self.open = usize::from(text.last() != Some(&byte));
                first..last
            }
            Ends::Length(length) => {
                let first = ((length - self.open) % length).min(text.len());
                let last = text.len() - (text.len() - first) % length;
                self.open = (self.open + text.len()) % length;
                first..last
            }
        }
    }
}
