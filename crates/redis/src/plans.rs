//! Plans, computed once for all filters with the same parameters. Sharing plans matters because a
//! plan for few items takes milliseconds, and a server may hold a million such filters.

use crate::answer::Failure;
use crate::memory::class;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use truebloom::scheme::{Scheme as _, SchemeId, Standard};
use truebloom::{HasherId, Plan, Target};
use truebloom_math::recycling::Design;
use truebloom_math::{Growth, Rate};

/// The largest number of layers of a compact filter; a filter that needs more becomes a large one.
pub(crate) const MOST_LAYERS: usize = 24;

/// The number of unused plans that are kept in a cache.
const KEPT: usize = 4_096;

/// The values that compact filters with one plan share.
pub(crate) struct Shape {
    pub(crate) hasher: HasherId,
    pub(crate) rate: Option<Rate>,
    /// The requested expansion; 0 for none.
    pub(crate) expansion: u32,
    pub(crate) kind: Kind,
    layers: [OnceLock<Layer>; MOST_LAYERS],
}

/// Whether the filter grows.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Growing(Growth),
    /// The number of items for which the filter was made, if it is known.
    Fixed {
        capacity: Option<u64>,
    },
}

/// A layer of a growing filter, or the whole of a fixed one.
pub(crate) struct Layer {
    pub(crate) scheme: Standard,
    /// The largest number of set bits.
    pub(crate) limit: u64,
    /// Approximately how many items it can hold.
    pub(crate) items: u64,
}

impl Layer {
    /// The number of words for its bits.
    pub(crate) fn words(&self) -> usize {
        usize::try_from(self.scheme.bits().div_ceil(64)).unwrap_or(usize::MAX)
    }
}

impl Drop for Shape {
    fn drop(&mut self) {
        SHAPE_BYTES.fetch_sub(BYTES_OF_ONE, Ordering::Relaxed);
    }
}

impl Shape {
    fn new(hasher: HasherId, rate: Option<Rate>, expansion: u32, kind: Kind) -> Shape {
        SHAPE_BYTES.fetch_add(BYTES_OF_ONE, Ordering::Relaxed);
        Shape { hasher, rate, expansion, kind, layers: [const { OnceLock::new() }; MOST_LAYERS] }
    }

    /// The layer with this number; `None` if no compact filter can have it.
    pub(crate) fn layer(&self, number: usize) -> Option<&Layer> {
        let place = self.layers.get(number)?;
        if let Some(layer) = place.get() {
            return Some(layer);
        }
        let Kind::Growing(growth) = &self.kind else { return None };
        let planned = growth.layer(u32::try_from(number).ok()?).ok()?;
        let scheme = Standard::new(planned.layer.bits(), planned.layer.probes()).ok()?;
        Some(place.get_or_init(|| Layer { scheme, limit: planned.layer.limit(), items: planned.items }))
    }

    pub(crate) fn growth(&self) -> Option<&Growth> {
        match &self.kind {
            Kind::Growing(growth) => Some(growth),
            Kind::Fixed { .. } => None,
        }
    }
}

/// A rate, as the parts of a decimal number that `Rate::parts` returns.
type RateParts = (u64, i32, u64);

/// The key of a shape in its cache: hasher, rate, expansion, items, and either the ratio of growth
/// or the bits and probes.
type ShapeKey = (u16, Option<RateParts>, u32, Option<u64>, Result<u64, (u64, u32)>);

/// The properties that distinguish plans: rate, items, and the scheme.
type PlanKey = (RateParts, u64, bool);

/// The properties that distinguish growths: rate, items of the first layer, and expansion.
type GrowthKey = (RateParts, u64, u32);

/// A cache of computed values; the keys contain everything on which a value depends.
type Cache<K, V> = LazyLock<Mutex<HashMap<K, V>>>;

static SHAPES: Cache<ShapeKey, Arc<Shape>> = LazyLock::new(Mutex::default);
static PLANS: Cache<PlanKey, Plan> = LazyLock::new(Mutex::default);
static DESIGNS: Cache<(RateParts, u64, bool, bool), Design> = LazyLock::new(Mutex::default);
static KEPT_BY_ONE: Cache<(u16, u64, u32, u64), f64> = LazyLock::new(Mutex::default);
static GROWTHS: Cache<GrowthKey, Growth> = LazyLock::new(Mutex::default);

/// The number of plans that are kept. With `at_once`, the function does not wait: a cache that
/// another thread is changing counts as 0.
pub(crate) fn count(at_once: bool) -> u64 {
    count_of(&SHAPES, at_once) + count_of(&PLANS, at_once)
}

fn count_of<K, V>(cache: &Mutex<HashMap<K, V>>, at_once: bool) -> u64 {
    let cache = if at_once { cache.try_lock().ok() } else { Some(cache.lock().unwrap_or_else(PoisonError::into_inner)) };
    cache.map_or(0, |cache| cache.len() as u64)
}

/// The size in bytes of all shapes in use, and of their places in the cache. Threads of the server
/// can also drop shapes.
static SHAPE_BYTES: AtomicU64 = AtomicU64::new(0);

const BYTES_OF_ONE: u64 = (class(size_of::<Shape>() + 2 * size_of::<usize>()) + 2 * size_of::<(ShapeKey, Arc<Shape>)>()) as u64;

/// The size of all shapes in bytes. Filters share shapes, so no filter counts them as its own.
pub(crate) fn bytes() -> u64 {
    SHAPE_BYTES.load(Ordering::Relaxed)
}

/// Forgets shapes that no filter uses.
pub(crate) fn forget_unused() {
    SHAPES.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, shape| Arc::strong_count(shape) > 1);
}

/// The cached value for a key, or a newly computed one.
fn kept<K: Hash + Eq, V: Clone>(
    cache: &Mutex<HashMap<K, V>>,
    key: K,
    is_used: impl Fn(&V) -> bool,
    find: impl FnOnce() -> Result<V, Failure>,
) -> Result<V, Failure> {
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = cache.get(&key) {
        return Ok(found.clone());
    }
    let found = find()?;
    if cache.len() >= KEPT {
        cache.retain(|_, value| is_used(value));
    }
    // If all plans are in use, the cache stays full, and filters with the same parameters do not
    // share a plan.
    if cache.len() < 16 * KEPT {
        cache.insert(key, found.clone());
    }
    Ok(found)
}

/// Returns the growth of a filter with this rate whose first layer has approximately this number of
/// items. Consider the memory of the grown filter, divided by the memory of a filter that was
/// planned for the same number of items. The expansion is an upper bound on this ratio. If no
/// growth has such a low ratio, the result has a higher one.
pub(crate) fn growth(rate: Rate, items: u64, expansion: u32) -> Result<Growth, Failure> {
    let first = items.clamp(LEAST_FIRST, Growth::MOST_FIRST);
    kept(
        &GROWTHS,
        (rate.parts(), first, expansion),
        |_| false,
        || {
            let least = Growth::new(rate, first).map_err(Failure::of)?;
            let asked = f64::from(expansion);
            if asked > least.ratio() { Growth::with_ratio(rate, first, asked).map_err(Failure::of) } else { Ok(least) }
        },
    )
}

/// The smallest number of items in the first layer of a filter that grows.
const LEAST_FIRST: u64 = 64;

/// The shape of filters with this growth.
pub(crate) fn growing(growth: Growth, expansion: u32, hasher: HasherId) -> Result<Arc<Shape>, Failure> {
    growing_by(growth.rate(), growth.first(), growth.ratio(), expansion, hasher)
}

/// Returns the shape of growing filters with these parameters, which may come from untrusted data.
pub(crate) fn growing_by(rate: Rate, first: u64, ratio: f64, expansion: u32, hasher: HasherId) -> Result<Arc<Shape>, Failure> {
    let key = (hasher as u16, Some(rate.parts()), expansion, Some(first), Ok(ratio.to_bits()));
    kept(
        &SHAPES,
        key,
        |shape| Arc::strong_count(shape) > 1,
        || {
            let growth = Growth::with_ratio(rate, first, ratio).map_err(Failure::of)?;
            Ok(Arc::new(Shape::new(hasher, Some(growth.rate()), expansion, Kind::Growing(growth))))
        },
    )
}

/// The shape of filters with a fixed size.
pub(crate) fn fixed(bits: u64, probes: u32, rate: Option<Rate>, capacity: Option<u64>, hasher: HasherId) -> Result<Arc<Shape>, Failure> {
    let key = (hasher as u16, rate.map(|rate| rate.parts()), 0, capacity, Err((bits, probes)));
    kept(
        &SHAPES,
        key,
        |shape| Arc::strong_count(shape) > 1,
        || {
            let scheme = Standard::new(bits, probes).map_err(Failure::of)?;
            let shape = Shape::new(hasher, rate, 0, Kind::Fixed { capacity });
            shape.layers[0].get_or_init(|| Layer { scheme, limit: bits, items: capacity.unwrap_or(0) });
            Ok(Arc::new(shape))
        },
    )
}

/// Returns the design of a recycling filter with one or two phases. `rate` limits the filter's
/// worst rate if `highest` is set, and otherwise its average rate.
pub(crate) fn design(
    rate: Rate,
    items: u64,
    two: bool,
    highest: bool,
    find: impl FnOnce() -> Result<Design, Failure>,
) -> Result<Design, Failure> {
    kept(&DESIGNS, (rate.parts(), items, two, highest), |_| false, find)
}

/// The rate that one filter of this size keeps with a probability of 99.9% once it holds its
/// capacity, or 1 if nothing useful can be guaranteed. Returns an error for schemes without such a
/// guarantee.
pub(crate) fn kept_by_one(scheme: SchemeId, bits: u64, probes: u32, capacity: u64) -> Result<f64, Failure> {
    // A filter with less than a bit per item cannot keep a useful rate, and a forged capacity must
    // not cost a second per query.
    if capacity > bits {
        return Ok(1.0);
    }
    kept(
        &KEPT_BY_ONE,
        (scheme as u16, bits, probes, capacity),
        |_| false,
        || {
            let target = Target::new().items(capacity).bits(bits).probes(probes).scheme(scheme);
            Ok(Plan::new(&target).map_err(Failure::of)?.promised())
        },
    )
}

/// The plan of a filter that does not grow.
pub(crate) fn plan(rate: Rate, items: u64, blocked: bool) -> Result<Plan, Failure> {
    kept(
        &PLANS,
        (rate.parts(), items, blocked),
        |_| false,
        || {
            let scheme = if blocked { SchemeId::Blocked } else { SchemeId::Standard };
            Plan::new(&Target::new().items(items).rate(rate).scheme(scheme)).map_err(Failure::of)
        },
    )
}
