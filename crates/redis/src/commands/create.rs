//! Making filters: BF.RESERVE, and the filters that BF.ADD and BF.INSERT make for missing keys.

use super::parse::{self, Options};
use super::verb;
use crate::answer::{EXISTS, Failure, Reply};
use crate::compact::Compact;
use crate::ffi::{self, Call};
use crate::large::Large;
use crate::memory;
use crate::plans;
use crate::settings;
use crate::turning::{Turning, Window};
use crate::value::{self, Value};
use truebloom::{AnyFilter, HasherId, PortableHasher, ScalableFilter, Seed};
use truebloom_math::{Plan, Rate};

verb!(
    /// BF.RESERVE key error_rate capacity [options]
    Reserve,
    c"BF.RESERVE",
    Insert,
    -4,
    c"Makes a filter",
    c"O(1), plus the time to plan the first filter with these parameters",
    reserve
);

/// The complete parameters of a new filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) rate: Rate,
    pub(crate) items: u64,
    pub(crate) form: Form,
    hasher: HasherId,
    seed: Seed,
    clock: u64,
}

/// The kind of filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    Growing { expansion: u32 },
    Fixed,
    Blocked,
    Turning(Window),
}

impl Request {
    /// The parameters from these options; missing options come from the settings.
    pub(crate) fn of(options: &Options) -> Result<Request, Failure> {
        let form = form(options)?;
        let seed = match options.seed {
            Some(seed) => seed,
            None => Seed::random().map_err(Failure::of)?,
        };
        Ok(Request {
            rate: options.rate.unwrap_or_else(settings::rate),
            items: options.items.unwrap_or_else(settings::capacity),
            form,
            hasher: options.hasher.unwrap_or(HasherId::Xxh3),
            seed,
            clock: options.clock.unwrap_or_else(ffi::now),
        })
    }

    /// A filter that grows by this expansion, or a filter of fixed size if the expansion is 0.
    pub(crate) fn growing_or_fixed(rate: Rate, items: u64, expansion: u32, seed: Seed) -> Request {
        let form = if expansion == 0 { Form::Fixed } else { Form::Growing { expansion } };
        Request { rate, items, form, hasher: HasherId::Xxh3, seed, clock: 0 }
    }

    /// Makes the empty filter. Limits of memory are checked before any memory is allocated.
    pub(crate) fn make(&self, is_limited: bool) -> Result<Value, Failure> {
        let hasher = PortableHasher::new(self.hasher, self.seed);
        let check = |bytes: u64| if is_limited { memory::check(bytes, 0) } else { Ok(()) };
        match self.form {
            Form::Growing { expansion } => {
                let growth = plans::growth(self.rate, self.items, expansion)?;
                let shape = plans::growing(growth, expansion, self.hasher)?;
                let layer = shape.layer(0).ok_or_else(|| Failure::text("ERR the filter would have more than 2^62 bits"))?;
                check(value::bytes_of(Some(&shape), layer.scheme.bits()))?;
                if let Some(filter) = Compact::new(&shape, self.seed)? {
                    return Ok(Value::Compact(filter));
                }
                let filter = ScalableFilter::with_growth(growth, hasher).map_err(Failure::of)?;
                Ok(Value::Large(Box::new(Large::new(filter.into(), expansion))))
            }
            Form::Fixed => {
                let plan = plans::plan(self.rate, self.items, false)?;
                let shape = plans::fixed(plan.bits, plan.probes, plan.rate, Some(plan.items), self.hasher)?;
                check(value::bytes_of(Some(&shape), plan.bits))?;
                match Compact::new(&shape, self.seed)? {
                    Some(filter) => Ok(Value::Compact(filter)),
                    None => planned(&plan, hasher),
                }
            }
            Form::Blocked => {
                let plan = plans::plan(self.rate, self.items, true)?;
                check(value::bytes_of(None, plan.bits))?;
                planned(&plan, hasher)
            }
            Form::Turning(window) => {
                let design = Turning::design(&self.rate, self.items, window)?;
                check(Turning::bytes_of(&design) as u64)?;
                Ok(Value::Turning(Box::new(Turning::new(&design, window, hasher, self.clock)?)))
            }
        }
    }

    /// The arguments, after the key, with which BF.RESERVE makes the same filter on another server,
    /// whatever that server's settings are.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec![self.rate.to_string(), self.items.to_string()];
        let mut say = |said: &[&str]| words.extend(said.iter().map(|word| (*word).to_owned()));
        match self.form {
            Form::Growing { expansion } => say(&["EXPANSION", &expansion.to_string()]),
            Form::Fixed => say(&["NONSCALING"]),
            Form::Blocked => say(&["BLOCKED"]),
            Form::Turning(Window { two, every }) => {
                say(&["RECYCLE", "PHASES", if two { "2" } else { "1" }]);
                if every > 0 {
                    say(&["EVERY", &format!("{}.{:03}", every / 1000, every % 1000)]);
                }
                say(&["CLOCK", &self.clock.to_string()]);
            }
        }
        say(&["HASHER", parse::hasher_name(self.hasher), "SEED", &self.seed.to_string()]);
        words
    }
}

fn planned(plan: &Plan, hasher: PortableHasher) -> Result<Value, Failure> {
    let filter = AnyFilter::from_plan_with_hasher(plan, hasher).map_err(Failure::of)?;
    Ok(Value::Large(Box::new(Large::new(filter, 0))))
}

/// Returns the kind of filter that the options request; contradictory options are refused.
pub(crate) fn form(options: &Options) -> Result<Form, Failure> {
    let window = options.window();
    let is_fixed = options.nonscaling || options.blocked || window.is_some();
    if options.expansion.is_some_and(|expansion| expansion > 0) && is_fixed {
        return Err(Failure::text("Nonscaling filters cannot expand"));
    }
    if options.blocked && window.is_some() {
        return Err(Failure::text("ERR BLOCKED and RECYCLE cannot be combined"));
    }
    let expansion = options.expansion.unwrap_or_else(settings::expansion);
    Ok(match window {
        Some(window) => Form::Turning(window),
        None if options.blocked => Form::Blocked,
        None if options.nonscaling || expansion == 0 => Form::Fixed,
        None => Form::Growing { expansion },
    })
}

/// Reads the options of a command from its remaining arguments.
pub(crate) fn options<'a>(rest: &mut impl Iterator<Item = &'a [u8]>, mut options: Options) -> Result<Options, Failure> {
    while let Some(name) = rest.next() {
        if !options.take(name, rest)? {
            return Err(Failure::text(format!("ERR unknown option {}", String::from_utf8_lossy(name))));
        }
    }
    Ok(options)
}

fn reserve(call: &mut Call<'_>) -> Result<Reply, Failure> {
    let args = call.args();
    let given = Options { rate: Some(parse::rate(args.get(2))?), items: Some(parse::items(args.get(3))?), ..Options::default() };
    let request = Request::of(&options(&mut args.from(4), given)?)?;
    let is_limited = !call.is_replicated();
    call.change(1, |slot| if slot.value()?.is_some() { Err(EXISTS) } else { slot.set(request.make(is_limited)?) })?;
    call.replicate_as(c"BF.RESERVE", &request.words());
    call.notify(c"bf.reserve", 1);
    Ok(Reply::Ok)
}
