//! Threads that work ahead of the main thread: each takes a block, finds the whole records in it
//! and answers their keys.
//!
//! They change no order: blocks are handed on as they were read, each when it is ready. What lies
//! over two blocks is left to the main thread. Of CSV a thread cannot know whether a quote is open
//! where it begins, so it assumes that none is, and its work is thrown away if that was wrong.

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

/// Less text is not worth handing over.
const WORTH_IT: usize = 4 << 10;

/// The threads, and the channel that gives them work.
pub(super) struct Ahead {
    ends: Ends,
    threads: usize,
    jobs: Sender<Job>,
    cut: Cut,
}

/// The columns of the present input, as soon as they are known: the threads need them, and the main
/// thread is the first to see them.
pub(super) type Shared = Arc<Mutex<Option<Columns>>>;

/// What these threads have worked out about a part of a block.
#[derive(Default)]
pub(super) struct Done {
    /// Empty if there is none.
    pub(super) part: Range<usize>,
    /// They were found if the records have these columns.
    pub(super) columns: Columns,
    pub(super) records: u64,
    pub(super) found: Found,
    pub(super) answers: Answers,
}

struct Job {
    block: Block,
    ready: SyncSender<Block>,
}

/// A block that is used next in line, now or when it is ready.
pub(super) enum Next {
    Plain(Block),
    Promised(Receiver<Block>),
}

impl Ahead {
    /// Each thread has a splitter of its own.
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

    /// Another input begins.
    pub(super) fn begin_input(&mut self) {
        self.cut = Cut::new(self.ends);
    }

    /// Has the whole records of the next block found. The channel has no bound of its own: the
    /// caller holds no more than this many blocks.
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
    /// Until the sender is gone.
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

    /// Whether all of the part is whole records.
    fn work_ahead(&mut self, block: &mut Block) -> bool {
        let Some(columns) = *lock(&self.columns) else { return false };
        let done = &mut *block.done;
        done.found.passing = self.passing;
        let text = &block.bytes[done.part.clone()];
        if !done.find(&mut self.splitter, columns, text) {
            done.found = Found::default();
            return false;
        }
        let keys = if self.splitter.copies_keys() { &done.found.keys } else { text };
        (self.work)(Batch { spans: &done.found.spans, text, keys, numbers: &done.found.numbers }, &mut done.answers);
        true
    }
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Done {
    /// Finds the records of a text, if they have these columns, with a splitter that has nothing
    /// else to do; whether they are all there is.
    pub(super) fn find(&mut self, splitter: &mut Splitter, columns: Columns, text: &[u8]) -> bool {
        self.columns = columns;
        self.found.clear();
        // What was found before may have been thrown away untold.
        self.found.troubles.clear();
        self.found.passed.clear();
        self.found.more_troubles = 0;
        splitter.resume(columns);
        let used = splitter.split(text, &mut self.found);
        let all = used == Ok(text.len()) && splitter.is_between_records() && self.found.again.take().is_none();
        self.records = splitter.abandon();
        all
    }

    /// Whether a splitter that has come to this part would have found the same.
    pub(super) fn follows(&self, splitter: &Splitter) -> bool {
        splitter.is_between_records() && splitter.columns() == Some(self.columns)
    }
}

/// Knows where records end, block after block of an input.
pub(super) struct Cut {
    ends: Ends,
    /// Bytes of a record whose end was not seen yet; of one that ends with a byte, whether there
    /// are any.
    open: usize,
}

impl Cut {
    pub(super) fn new(ends: Ends) -> Cut {
        Cut { ends, open: 0 }
    }

    /// The part of the next block that begins and ends where records do.
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
