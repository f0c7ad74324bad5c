//! Operations on the keys of a list or another iterable, which are Python objects.

use super::{BLOCK, BLOCK_BYTES, Outcome, Refusal, Run, Work};
use crate::arrow::{Nulls, Span};
use crate::errors::{Kind, no_memory, raise};
use crate::key::{NoMemory, RawKey, extend, with_key};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use truebloom::{Answers, KeyHash, PortableHasher};

pub(super) fn run_objects(keys: &Bound<'_, PyAny>, work: &Work<'_>) -> PyResult<Outcome> {
    let py = keys.py();
    let Ok(mut objects) = keys.try_iter() else {
        let name = keys.get_type().qualname()?;
        return Err(raise(
            py,
            Kind::KeyType,
            &format!("{name} does not hold keys; give a list, an iterator, a numpy array or an Arrow column"),
        ));
    };
    let mut outcome = Outcome::new(work.keep);
    let mut block = Objects { hasher: work.hasher, ..Objects::default() };
    loop {
        let end = block.fill(py, &mut objects);
        // If an object is not a key, the keys before it are still processed, as `set.update` does.
        let answers = py.detach(|| block.ask(work));
        outcome.push(&answers.map_err(|refusal| refusal.into_error(py))?, &Nulls::default());
        if let Some(end) = end {
            return end.map(|()| outcome);
        }
        py.check_signals()?;
    }
}

/// A block of keys from objects: their hashes, or copies of the keys if hashes are not enough.
#[derive(Default)]
struct Objects {
    hasher: Option<PortableHasher>,
    hashes: Vec<KeyHash>,
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Objects {
    /// Takes the next objects. Returns `None` if there may be more; otherwise, returns whether the
    /// iteration ended normally or with an error.
    fn fill(&mut self, py: Python<'_>, objects: &mut Bound<'_, PyIterator>) -> Option<PyResult<()>> {
        self.hashes.clear();
        self.bytes.clear();
        self.spans.clear();
        while self.hashes.len().max(self.spans.len()) < BLOCK && self.bytes.len() <= BLOCK_BYTES {
            let Some(object) = objects.next() else { return Some(Ok(())) };
            match object.and_then(|object| with_key(&object, |key| self.push(key))) {
                Ok(Ok(())) => {}
                Ok(Err(NoMemory { bytes })) => return Some(Err(no_memory(py, bytes))),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    #[inline]
    fn push(&mut self, key: RawKey<'_>) -> Result<(), NoMemory> {
        match (&self.hasher, key) {
            (Some(hasher), key) => self.hashes.push(hasher.hash_key(&key)),
            (None, RawKey::Number(number)) => self.spans.push(Span::Number(number)),
            (None, RawKey::Bytes(key)) => {
                let from = self.bytes.len();
                extend(&mut self.bytes, key)?;
                self.spans.push(Span::Bytes(from, self.bytes.len()));
            }
        }
        Ok(())
    }

    fn ask(&self, work: &Work<'_>) -> Result<Answers, Refusal> {
        if self.hasher.is_some() {
            return (work.ask)(Run::Hashes(&self.hashes));
        }
        let keys: Vec<RawKey<'_>> = self.spans.iter().map(|span| span.key(&self.bytes)).collect();
        (work.ask)(Run::Keys(&keys))
    }
}
