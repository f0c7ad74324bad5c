//! The value of a key.

use crate::answer::Failure;
use crate::compact::{Compact, MOST_WORDS, SEED_WORDS};
use crate::file;
use crate::imported::Imported;
use crate::large::{self, Large};
use crate::loading::Loading;
use crate::memory;
use crate::plans;
use crate::sketch::Sketch;
use crate::turning::Turning;
use truebloom::AnyFilter;

/// The value of a key. This type is as small as the smallest filters, because a server can have
/// millions of them. Larger values are in separate allocations.
#[derive(Clone)]
pub(crate) enum Value {
    Compact(Compact),
    Large(Box<Large>),
    Turning(Box<Turning>),
    Sketch(Box<Sketch>),
    Loading(Box<Loading>),
    Imported(Box<Imported>),
}

const _: () = assert!(size_of::<Value>() <= 32);

const LOADING: Failure =
    Failure::Text(std::borrow::Cow::Borrowed("ERR the filter is incomplete: BF.LOADCHUNK has not yet received all of its chunks"));

const FOREIGN: Failure = Failure::Text(std::borrow::Cow::Borrowed(
    "ERR a filter imported from RedisBloom cannot be merged or saved as a truebloom file, because it keeps RedisBloom's bit positions",
));

impl Value {
    /// The number of bytes that the value takes, as the allocator counts them.
    pub(crate) fn bytes(&self) -> usize {
        memory::class(size_of::<Value>())
            + match self {
                Value::Compact(filter) => filter.bytes(),
                Value::Large(filter) => filter.bytes(),
                Value::Turning(filter) => filter.bytes(),
                Value::Sketch(sketch) => sketch.bytes(),
                Value::Loading(loading) => loading.size(),
                Value::Imported(filter) => filter.bytes(),
            }
    }

    /// Makes a value from a filter of the library, in compact form if possible.
    pub(crate) fn of(filter: AnyFilter, expansion: u32) -> Value {
        match file::to_compact(&filter, expansion) {
            Some(compact) => Value::Compact(compact),
            None => Value::Large(Box::new(Large::new(filter, expansion))),
        }
    }

    /// Returns an error unless the value is a filter that can be queried.
    pub(crate) fn check_filter(&self) -> Result<(), Failure> {
        match self {
            Value::Sketch(_) => Err(Failure::WrongType),
            Value::Loading(_) => Err(LOADING),
            _ => Ok(()),
        }
    }

    /// The sketch, or an error if the value is not one.
    pub(crate) fn sketch(&self) -> Result<&Sketch, Failure> {
        if let Value::Sketch(sketch) = self { Ok(sketch) } else { Err(Failure::WrongType) }
    }

    pub(crate) fn sketch_mut(&mut self) -> Result<&mut Sketch, Failure> {
        if let Value::Sketch(sketch) = self { Ok(sketch) } else { Err(Failure::WrongType) }
    }

    /// Reports which of the items the filter contains.
    pub(crate) fn contains<'a>(&self, items: impl Iterator<Item = &'a [u8]> + Clone) -> Result<Vec<bool>, Failure> {
        self.check_filter()?;
        Ok(match self {
            Value::Compact(filter) => {
                let asker = filter.asker();
                items.map(|item| filter.contains(&asker, asker.hash(item))).collect()
            }
            Value::Large(filter) => filter.contains_all(&items.map(|item| filter.hash(item)).collect::<Vec<_>>()),
            Value::Turning(filter) => items.map(|item| filter.contains(item)).collect(),
            Value::Imported(filter) => filter.contains(items)?,
            Value::Sketch(_) | Value::Loading(_) => Vec::new(),
        })
    }

    /// Adds items in order; returns true for those that were not contained.
    pub(crate) fn add<'a>(
        &mut self,
        items: impl Iterator<Item = &'a [u8]> + Clone,
        is_limited: bool,
    ) -> Result<Vec<Result<bool, Failure>>, Failure> {
        self.check_filter()?;
        let mut answers = Vec::new();
        if let Value::Compact(filter) = self {
            let mut asker = filter.asker();
            for item in items.clone() {
                let hash = asker.hash(item);
                if filter.contains(&asker, hash) {
                    answers.push(Ok(false));
                    continue;
                }
                match filter.insert(&mut asker, hash, is_limited) {
                    Ok(Ok(())) => answers.push(Ok(true)),
                    Ok(Err(_outgrown)) => break,
                    Err(failure) => answers.push(Err(failure)),
                }
            }
            if answers.len() == items.clone().count() {
                return Ok(answers);
            }
            // If the limits refuse all items, the filter stays unchanged, as on the replicas. If
            // there is no memory for the larger form, the filter keeps the items that it has taken
            // so far.
            let mut large = match file::to_filter(filter) {
                Ok(larger) => Large::new(larger, filter.shape().expansion),
                Err(failure) => {
                    answers.resize_with(items.count(), || Err(failure.clone()));
                    return Ok(answers);
                }
            };
            let hashes: Vec<_> = items.skip(answers.len()).map(|item| large.hash(item)).collect();
            let added = large.add(&hashes, is_limited);
            if added.contains(&Ok(true)) {
                *self = Value::Large(Box::new(large));
            }
            answers.extend(added);
            return Ok(answers);
        }
        let left = items.skip(answers.len());
        match self {
            Value::Large(filter) => {
                let hashes: Vec<_> = left.map(|item| filter.hash(item)).collect();
                answers.extend(filter.add(&hashes, is_limited));
            }
            Value::Turning(filter) => answers.extend(left.map(|item| Ok(filter.add(item)))),
            Value::Imported(filter) => answers = filter.add(left, is_limited)?,
            _ => {}
        }
        Ok(answers)
    }

    /// The filter as the library's type, for rare operations. Recycling filters cannot be
    /// converted.
    pub(crate) fn to_filter(&self) -> Result<AnyFilter, Failure> {
        match self {
            Value::Compact(filter) => file::to_filter(filter),
            Value::Large(filter) => Ok(filter.filter().clone()),
            Value::Turning(_) => Err(Failure::text("ERR this command does not support filters that recycle")),
            Value::Sketch(_) => Err(Failure::WrongType),
            Value::Loading(_) => Err(LOADING),
            Value::Imported(_) => Err(FOREIGN),
        }
    }

    /// This value as bytes in the file format.
    pub(crate) fn to_file(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        match self {
            Value::Compact(filter) => return file::to_bytes(filter),
            Value::Large(filter) => return filter.filter().to_bytes().map_err(Failure::of),
            Value::Turning(filter) => filter.write(&mut bytes).map_err(Failure::of)?,
            Value::Sketch(sketch) => return sketch.0.to_bytes().map_err(Failure::of),
            Value::Loading(_) => return Err(LOADING),
            Value::Imported(_) => return Err(FOREIGN),
        }
        Ok(bytes)
    }

    /// Returns the number of items that were not contained when they were added.
    pub(crate) fn items(&self) -> u64 {
        match self {
            Value::Compact(filter) => filter.changed().into(),
            Value::Large(filter) => filter.changed(),
            Value::Turning(filter) => filter.stats().items,
            Value::Imported(filter) => filter.items(),
            Value::Sketch(_) | Value::Loading(_) => 0,
        }
    }

    /// Returns approximately the number of items that the value can hold without growing.
    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Value::Compact(filter) => filter.capacity(),
            Value::Large(filter) => filter.capacity(),
            Value::Imported(filter) => filter.capacity(),
            _ => 0,
        }
    }

    pub(crate) fn layers(&self) -> u64 {
        match self {
            Value::Compact(filter) => filter.layers().count() as u64,
            Value::Large(filter) => filter.layers() as u64,
            Value::Turning(filter) => filter.phases(),
            Value::Imported(filter) => filter.chain().layers.len() as u64 + filter.own().map_or(0, Value::layers),
            Value::Sketch(_) | Value::Loading(_) => 0,
        }
    }

    /// The expansion; `None` for a filter that does not grow.
    pub(crate) fn expansion(&self) -> Option<u32> {
        let grows = match self {
            Value::Compact(filter) => filter.shape().growth().map(|_| filter.shape().expansion),
            Value::Large(filter) => matches!(filter.filter(), AnyFilter::Scalable(_)).then(|| filter.expansion()),
            Value::Imported(filter) => Some(filter.chain().growth).filter(|_| !filter.chain().is_fixed),
            _ => None,
        };
        grows.filter(|expansion| *expansion > 0)
    }
}

/// The number of bytes of an empty filter with this plan.
pub(crate) fn bytes_of(shape: Option<&plans::Shape>, bits: u64) -> u64 {
    let own = memory::class(size_of::<Value>());
    let compact = shape.and_then(|shape| shape.layer(0)).map(plans::Layer::words).filter(|words| *words < MOST_WORDS);
    let rest = match compact {
        Some(words) => memory::class(8 * (SEED_WORDS + 1 + words)),
        None => large::bytes_with(std::iter::once(bits)),
    };
    own.saturating_add(rest) as u64
}
