//! Settings for operators of the server: arguments of the module, lines of the server's
//! configuration file, or CONFIG SET.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use truebloom::Seed;
use truebloom_math::Rate;

/// A setting that is a number.
pub(crate) struct Number {
    pub(crate) name: &'static std::ffi::CStr,
    pub(crate) default: i64,
    pub(crate) lowest: i64,
    pub(crate) highest: i64,
    /// Whether the number is a size in bytes, which can be written as `1gb`.
    pub(crate) is_memory: bool,
    value: AtomicU64,
}

impl Number {
    const fn new(name: &'static std::ffi::CStr, default: i64, lowest: i64, highest: i64, is_memory: bool) -> Number {
        Number { name, default, lowest, highest, is_memory, value: AtomicU64::new(default as u64) }
    }

    pub(crate) fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed) as i64
    }

    pub(crate) fn set(&self, value: i64) {
        self.value.store(value as u64, Ordering::Relaxed);
    }
}

/// A setting that is a text.
pub(crate) struct Text {
    pub(crate) name: &'static std::ffi::CStr,
    pub(crate) default: &'static std::ffi::CStr,
    /// Whether the server keeps the text out of its logs.
    pub(crate) is_secret: bool,
    pub(crate) get: fn() -> String,
    pub(crate) set: fn(&str) -> Result<(), String>,
}

/// The largest number of items that a filter can be made for.
pub(crate) const MOST_ITEMS: u64 = 1_000_000_000_000;
/// The highest expansion.
pub(crate) const MOST_EXPANSION: u32 = 32_768;

/// The default expansion. Files do not store an expansion, so filters from files get this one, and
/// all replicas agree.
pub(crate) const USUAL_EXPANSION: u32 = 2;

static CAPACITY: Number = Number::new(c"bloom-capacity", 100, 1, MOST_ITEMS as i64, false);
static EXPANSION: Number = Number::new(c"bloom-expansion", USUAL_EXPANSION as i64, 0, MOST_EXPANSION as i64, false);
/// The largest size that DUMP, RESTORE and MIGRATE can carry, unless `proto-max-bulk-len` is
/// raised.
static KEY_BYTES: Number = Number::new(c"bloom-memory-usage-limit", 512 << 20, 0, i64::MAX, true);
static ALL_BYTES: Number = Number::new(c"bloom-total-memory-limit", 0, 0, i64::MAX, true);

pub(crate) static NUMBERS: [&Number; 4] = [&CAPACITY, &EXPANSION, &KEY_BYTES, &ALL_BYTES];

pub(crate) static TEXTS: [Text; 2] = [
    Text {
        name: c"bloom-fp-rate",
        default: c"0.01",
        is_secret: false,
        get: || rate().to_string(),
        set: |text| {
            let rate = text.parse().map_err(|error| format!("{error}"))?;
            *RATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(rate);
            Ok(())
        },
    },
    Text {
        name: c"cms-seed",
        default: c"0",
        is_secret: true,
        get: || sketch_seed().to_string(),
        set: |text| {
            let seed = text.parse().map_err(|error| format!("{error}"))?;
            *SKETCH_SEED.lock().unwrap_or_else(PoisonError::into_inner) = Some(seed);
            Ok(())
        },
    },
];

static RATE: Mutex<Option<Rate>> = Mutex::new(None);
static SKETCH_SEED: Mutex<Option<Seed>> = Mutex::new(None);

/// Returns the rate of filters that are created without an explicit rate.
pub(crate) fn rate() -> Rate {
    let set = *RATE.lock().unwrap_or_else(PoisonError::into_inner);
    set.or_else(|| "0.01".parse().ok()).unwrap_or_else(|| unreachable!("a hundredth is a rate"))
}

/// The seed of all sketches. All sketches share one seed, because only sketches with the same seed
/// can be merged.
pub(crate) fn sketch_seed() -> Seed {
    let set = *SKETCH_SEED.lock().unwrap_or_else(PoisonError::into_inner);
    set.unwrap_or_else(|| Seed::from(0))
}

/// Returns the planned number of items of filters that are created without an explicit number.
pub(crate) fn capacity() -> u64 {
    CAPACITY.get().unsigned_abs()
}

/// Returns the expansion of filters that are created without an explicit expansion; 0 stands for
/// filters that do not grow.
pub(crate) fn expansion() -> u32 {
    EXPANSION.get().clamp(0, MOST_EXPANSION.into()) as u32
}

/// The largest number of bytes for a key.
pub(crate) fn most_bytes_of_a_key() -> u64 {
    limit(&KEY_BYTES)
}

/// The largest number of bytes for all keys.
pub(crate) fn most_bytes_of_all() -> u64 {
    limit(&ALL_BYTES)
}

/// The value of a limit; 0 stands for no limit.
fn limit(number: &Number) -> u64 {
    match number.get().unsigned_abs() {
        0 => u64::MAX,
        bytes => bytes,
    }
}

/// Changes a setting that is given as an argument of the module. `name` is the setting's name here
/// or in RedisBloom.
pub(crate) fn set_argument(name: &str, value: &str) -> Result<(), String> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let name = match name.as_str() {
        "error-rate" | "bf-error-rate" => "bloom-fp-rate",
        "initial-size" | "bf-initial-size" => "bloom-capacity",
        "bf-expansion-factor" => "bloom-expansion",
        other => other,
    };
    if let Some(text) = TEXTS.iter().find(|text| text.name.to_bytes() == name.as_bytes()) {
        return (text.set)(value).map_err(|why| format!("{name} {value}: {why}"));
    }
    let Some(number) = NUMBERS.iter().find(|number| number.name.to_bytes() == name.as_bytes()) else {
        let names = NUMBERS.iter().map(|number| number.name).chain(TEXTS.iter().map(|text| text.name));
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        return Err(format!("{name} is not a setting; the settings are {}", names.join(", ")));
    };
    let parsed: i64 = value.parse().map_err(|_| format!("{name} is {value}, but must be a whole number"))?;
    if !(number.lowest..=number.highest).contains(&parsed) {
        return Err(format!("{name} is {parsed}, but must be from {} to {}", number.lowest, number.highest));
    }
    number.set(parsed);
    Ok(())
}
