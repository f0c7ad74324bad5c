//! Parsing arguments.

use crate::answer::Failure;
use crate::settings::{MOST_EXPANSION, MOST_ITEMS};
use crate::turning::Window;
use truebloom::{HasherId, Seed};
use truebloom_math::Rate;

/// A rate: a decimal number, which is used exactly, or another form that the library accepts (`1%`,
/// `1/1000`).
pub(crate) fn rate(bytes: &[u8]) -> Result<Rate, Failure> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.parse::<Rate>().map_err(|_| match text.parse::<f64>() {
        Ok(number) if number <= 0.0 || number >= 1.0 => Failure::text("ERR error rate must be in the range (0.000000, 1.000000)"),
        _ => Failure::text("ERR bad error rate"),
    })
}

/// A number of items.
pub(crate) fn items(bytes: &[u8]) -> Result<u64, Failure> {
    let number: i128 = number(bytes).ok_or_else(|| Failure::text("ERR bad capacity"))?;
    u64::try_from(number)
        .ok()
        .filter(|items| (1..=MOST_ITEMS).contains(items))
        .ok_or_else(|| Failure::text(format!("ERR capacity must be in the range [1, {MOST_ITEMS}]")))
}

/// A whole number in decimal digits.
pub(crate) fn number<N: std::str::FromStr>(bytes: &[u8]) -> Option<N> {
    let is_plain = bytes.iter().enumerate().all(|(at, byte)| byte.is_ascii_digit() || (at == 0 && *byte == b'-'));
    std::str::from_utf8(bytes).ok().filter(|_| is_plain)?.parse().ok()
}

fn expansion(bytes: &[u8]) -> Result<u32, Failure> {
    let number: i64 = number(bytes).ok_or_else(|| Failure::text("ERR bad expansion"))?;
    u32::try_from(number)
        .ok()
        .filter(|expansion| *expansion <= MOST_EXPANSION)
        .ok_or_else(|| Failure::text(format!("ERR expansion must be in the range [0, {MOST_EXPANSION}]")))
}

/// The parameters of a filter that were given as options.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) rate: Option<Rate>,
    pub(crate) items: Option<u64>,
    pub(crate) expansion: Option<u32>,
    pub(crate) nonscaling: bool,
    pub(crate) blocked: bool,
    pub(crate) recycle: bool,
    pub(crate) phases: Option<u64>,
    pub(crate) every: Option<u64>,
    pub(crate) hasher: Option<HasherId>,
    pub(crate) seed: Option<Seed>,
    /// The primary server's time, in milliseconds since 1970.
    pub(crate) clock: Option<u64>,
}

/// The longest duration of a phase, in milliseconds: a hundred years.
const MOST_EVERY: u64 = 100 * 366 * 86_400_000;

impl Options {
    /// Reads an option and its value; returns false if there is no option with this name.
    pub(crate) fn take<'a>(&mut self, name: &[u8], rest: &mut impl Iterator<Item = &'a [u8]>) -> Result<bool, Failure> {
        let name = name.to_ascii_uppercase();
        if matches!(&name[..], b"NONSCALING" | b"BLOCKED" | b"RECYCLE") {
            match &name[..] {
                b"NONSCALING" => self.nonscaling = true,
                b"BLOCKED" => self.blocked = true,
                _ => self.recycle = true,
            }
            return Ok(true);
        }
        if !matches!(&name[..], b"EXPANSION" | b"PHASES" | b"EVERY" | b"HASHER" | b"SEED" | b"CLOCK") {
            return Ok(false);
        }
        let value = rest.next().ok_or_else(|| Failure::text(format!("ERR {} needs a value", String::from_utf8_lossy(&name))))?;
        let bad =
            |what: &str| Failure::text(format!("ERR bad {} {}: {what}", String::from_utf8_lossy(&name), String::from_utf8_lossy(value)));
        match &name[..] {
            b"EXPANSION" => self.expansion = Some(expansion(value)?),
            b"PHASES" => self.phases = Some(number(value).filter(|phases| (1..=2).contains(phases)).ok_or_else(|| bad("1 or 2"))?),
            b"EVERY" => self.every = Some(milliseconds(value).ok_or_else(|| bad("seconds, from 0.001 to a hundred years"))?),
            b"HASHER" => {
                let found =
                    [HasherId::Xxh3, HasherId::Sip13].into_iter().find(|id| hasher_name(*id).as_bytes().eq_ignore_ascii_case(value));
                self.hasher = Some(found.ok_or_else(|| bad("xxh3 or sip13"))?);
            }
            b"SEED" => {
                let text = std::str::from_utf8(value).unwrap_or_default();
                self.seed = Some(text.parse().map_err(|_| bad("1 to 32 hexadecimal digits"))?);
            }
            _ => {
                self.clock =
                    Some(number(value).filter(|clock| *clock < u64::MAX / 2_000_000).ok_or_else(|| bad("milliseconds since 1970"))?)
            }
        }
        Ok(true)
    }

    /// When the filter forgets, if it forgets at all.
    pub(crate) fn window(&self) -> Option<Window> {
        let every = self.every.unwrap_or(0);
        // If phases end by time, the previous phase is kept unless one phase is requested, because
        // otherwise too much would be forgotten at once.
        let two = self.phases.map_or(every > 0, |phases| phases == 2);
        (self.recycle || every > 0 || self.phases.is_some()).then_some(Window { two, every })
    }
}

/// Parses seconds with at most three decimals, and returns milliseconds.
fn milliseconds(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let is_short = !rest.is_empty() && rest.len() <= 3;
    let rest: u64 = number(format!("{rest:0<3}").as_bytes()).filter(|_| is_short)?;
    let total = number::<u64>(whole.as_bytes())?.checked_mul(1000)?.checked_add(rest)?;
    Some(total).filter(|total| (1..=MOST_EVERY).contains(total))
}

/// The name of a hasher in options.
pub(crate) fn hasher_name(hasher: HasherId) -> &'static str {
    if hasher == HasherId::Sip13 { "sip13" } else { "xxh3" }
}
