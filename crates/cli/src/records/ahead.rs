//! Threads that work ahead of whoever uses the records: each takes a block, finds the whole records in it and answers their keys.
//!
//! They change no order: blocks are handed on as they were read, each when it is ready. What lies over two blocks is left to the one who uses them.

use super::answers::{Answers, Work};
use super::feed::Block;
use super::found::{Batch, Found};
use super::split::{Ends, Form};
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Less text is not worth handing over.
const WORTH_IT: usize = 4 << 10;

/// The threads, and where they are told what to do.
pub(super) struct Ahead {
    form: Form,
    threads: usize,
    jobs: Sender<Job>,
    cut: Cut,
}

/// What these threads have worked out about a part of a block.
#[derive(Default)]
pub(super) struct Done {
    /// Empty if there is none.
    pub(super) part: Range<usize>,
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
    pub(super) fn start(threads: usize, form: &Form, passing: bool, work: &Arc<Work>) -> io::Result<Ahead> {
        let (to_threads, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 1..=threads {
            let (jobs, form, work) = (Arc::clone(&jobs), form.clone(), Arc::clone(work));
            std::thread::Builder::new().name(format!("ahead-{number}")).spawn(move || work_off(&jobs, &form, passing, &*work))?;
        }
        Ok(Ahead { form: form.clone(), threads, jobs: to_threads, cut: Cut::new(form.ends()) })
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Another input begins.
    pub(super) fn begin_input(&mut self) {
        self.cut = Cut::new(self.form.ends());
    }

    /// Has the whole records of the next block found. The channel has no bound of its own: whoever calls this holds no more than so many blocks.
    pub(super) fn hand_over(&mut self, mut block: Block) -> Next {
        block.done.part = self.cut.whole(&block.bytes[..block.length]);
        if block.done.part.len() < WORTH_IT {
            return Next::undone(block);
        }
        let (ready, promised) = sync_channel(1);
        match self.jobs.send(Job { block, ready }) {
            Ok(()) => Next::Promised(promised),
            Err(unsent) => Next::undone(unsent.0.block),
        }
    }
}

impl Next {
    fn undone(mut block: Block) -> Next {
        block.done.part = 0..0;
        Next::Plain(block)
    }
}

/// Until there is nobody left to ask for more.
fn work_off(jobs: &Mutex<Receiver<Job>>, form: &Form, passing: bool, work: &Work) {
    loop {
        // The lock is held while waiting: one thread waits for a block, the others for their turn.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { mut block, ready }) = job else { return };
        work_ahead(&mut block, form, passing, work);
        // Whoever asked may have had enough by now.
        let _ = ready.send(block);
    }
}

fn work_ahead(block: &mut Block, form: &Form, passing: bool, work: &Work) {
    let Done { part, records, found, answers } = &mut *block.done;
    let text = &block.bytes[part.clone()];
    found.clear();
    found.passing = passing;
    *records = 0;
    form.split(text, records, found);
    let keys = if form.copies_keys() { &found.keys } else { text };
    work(Batch { spans: &found.spans, text, keys }, answers);
}

/// Knows where records end, block after block of an input.
pub(super) struct Cut {
    ends: Ends,
    /// Bytes of a record whose end was not seen yet; of one that ends with a byte, whether there are any.
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
