//! Measures all filters in one setting. All filters are filled, and then queried in turn, one chunk
//! of keys at a time.

use crate::clock::{best, median, timed};
use crate::keys::{Chunk, Kind, scramble};
use crate::limit::Limit;
use crate::subjects::{self, Entry, Subject};
use truebloom_math::{Plan, Target};

/// Keys per chunk.
const CHUNK: u64 = 16_384;

/// The size of the largest filter that is measured in cache. Before the turn of such a filter,
/// enough of its lines are read at random to bring nearly the whole filter into cache. Otherwise,
/// the other filters would evict it between its turns, and the table for the third-level cache
/// would show the speed of main memory.
const CACHED: u64 = 16 << 20;

/// The number of random reads per line of the filter. With three reads per line, 5% of the lines
/// stay unread on average.
const WARMING: u64 = 3;

/// A small filter is filled repeatedly until this many keys have been inserted, because filling it
/// once is too fast to measure.
const FILLED: u64 = 2_000_000;

/// The number of the first key that is never inserted. All later keys are not inserted either.
const STRANGERS: u64 = 1 << 40;

pub(crate) struct Setting {
    pub(crate) size: u64,
    pub(crate) rate: f64,
    pub(crate) kind: Kind,
    pub(crate) rounds: usize,
    /// If true, filters are not brought into cache before their turn, even if they would fit.
    pub(crate) cold: bool,
}

/// Nanoseconds per key: the median of the rounds and the best round.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    pub(crate) median: f64,
    pub(crate) best: f64,
}

impl Time {
    fn of(times: &[f64]) -> Time {
        Time { median: median(times), best: best(times) }
    }
}

pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) bits: u64,
    pub(crate) insert: Time,
    pub(crate) hit: Time,
    pub(crate) miss: Time,
    /// The number of false positives.
    pub(crate) passed: u64,
    /// The number of inserted keys that did not pass. If it is not 0, the filter has an error.
    pub(crate) lost: u64,
    pub(crate) own_rate: Option<f64>,
    pub(crate) proven: Option<f64>,
}

pub(crate) struct Table {
    pub(crate) items: u64,
    pub(crate) strangers: u64,
    /// The time to read a random line, on small pages and on huge pages.
    pub(crate) limit: Time,
    pub(crate) limit_huge: Time,
    pub(crate) rows: Vec<Row>,
}

struct Measured {
    entry: &'static Entry,
    subject: Box<dyn Subject>,
    insert: Vec<f64>,
    hit: Vec<f64>,
    miss: Vec<f64>,
    passed: u64,
    lost: u64,
}

pub(crate) fn run(setting: &Setting, only: &[String]) -> Table {
    let rate = setting.rate.to_string().parse().expect("a rate");
    let target = Target::new().bits(8 * setting.size).rate(rate).mean();
    let items = Plan::new(&target).expect("a plan").items;
    let chosen = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let mut subjects: Vec<Measured> = subjects::ALL
        .iter()
        .filter(|entry| chosen(entry.name))
        .map(|entry| Measured {
            entry,
            subject: (entry.make)(items, setting.rate),
            insert: Vec::new(),
            hit: Vec::new(),
            miss: Vec::new(),
            passed: 0,
            lost: 0,
        })
        .collect();
    for _ in 1..FILLED.div_ceil(items) {
        fill(setting, items, &mut subjects);
        subjects.iter_mut().for_each(|measured| measured.subject = (measured.entry.make)(items, setting.rate));
    }
    fill(setting, items, &mut subjects);
    let (limit, limit_huge, strangers) = ask(setting, items, &mut subjects);
    let rows = subjects.into_iter().map(row).collect();
    Table { items, strangers, limit, limit_huge, rows }
}

/// Returns the number of keys to query to bring a filter of this size into cache.
fn warming(setting: &Setting) -> u64 {
    if setting.size <= CACHED && !setting.cold { WARMING * setting.size / 64 } else { 0 }
}

/// Fills all filters, in turns of many keys each. In every turn, only the second half of the keys
/// is measured, because the first half brings the filter into cache. The first half of the turns is
/// not measured at all, because it writes to new pages of memory.
fn fill(setting: &Setting, items: u64, subjects: &mut [Measured]) {
    let counts: Vec<usize> = subjects.iter().map(|measured| measured.insert.len()).collect();
    let turn = (2 * warming(setting)).clamp(CHUNK, items.div_ceil(8).max(CHUNK));
    for start in (0..items).step_by(turn as usize) {
        for measured in subjects.iter_mut() {
            let end = items.min(start + turn);
            for first in (start..end).step_by(CHUNK as usize) {
                let keys = Chunk::new(setting.kind, first..end.min(first + CHUNK));
                let (time, ()) = timed(|| measured.subject.insert(&keys));
                if start >= items / 2 && (turn == CHUNK || first >= start + turn / 2) {
                    measured.insert.push(time / keys.len() as f64);
                }
            }
        }
    }
    for (measured, count) in subjects.iter_mut().zip(counts) {
        let (time, ()) = timed(|| measured.subject.finish());
        // If a filter is built at the end, the time to build it is divided among all keys.
        measured.insert[count..].iter_mut().for_each(|each| *each += time / items as f64);
    }
}

fn ask(setting: &Setting, items: u64, subjects: &mut [Measured]) -> (Time, Time, u64) {
    let (small, huge) = (Limit::new(setting.size, false), Limit::new(setting.size, true));
    let (mut on_small, mut on_huge, mut sum) = (Vec::new(), Vec::new(), 0u64);
    for round in 0..setting.rounds as u64 {
        let start = STRANGERS + round * CHUNK;
        let strangers = Chunk::new(setting.kind, start..start + CHUNK);
        let members = Chunk::new(setting.kind, (0..CHUNK).map(|i| scramble(round * CHUNK + i) % items));
        // The order of the filters changes from round to round.
        let count = subjects.len();
        for i in 0..count {
            let measured = &mut subjects[(i + round as usize) % count];
            warm(setting, items, round, measured);
            let (time, hits) = timed(|| measured.subject.hits(&strangers));
            measured.miss.push(time / CHUNK as f64);
            measured.passed += hits;
            let (time, hits) = timed(|| measured.subject.hits(&members));
            measured.hit.push(time / CHUNK as f64);
            measured.lost += CHUNK - hits;
        }
        for (limit, times) in [(&small, &mut on_small), (&huge, &mut on_huge)] {
            sum = sum.wrapping_add(limit.run(start + CHUNK, warming(setting) as usize));
            let (time, read) = timed(|| limit.run(start, CHUNK as usize));
            times.push(time / CHUNK as f64);
            sum = sum.wrapping_add(read);
        }
    }
    std::hint::black_box(sum);
    (Time::of(&on_small), Time::of(&on_huge), CHUNK * setting.rounds as u64)
}

/// Brings a filter into cache, if it fits, by querying keys that were inserted.
fn warm(setting: &Setting, items: u64, round: u64, measured: &Measured) {
    for first in (0..warming(setting)).step_by(CHUNK as usize) {
        let members = Chunk::new(setting.kind, (0..CHUNK).map(|i| scramble((round << 40) + first + i) % items));
        std::hint::black_box(measured.subject.hits(&members));
    }
}

fn row(measured: Measured) -> Row {
    Row {
        name: measured.entry.name,
        bits: measured.subject.bits(),
        insert: Time::of(&measured.insert),
        hit: Time::of(&measured.hit),
        miss: Time::of(&measured.miss),
        passed: measured.passed,
        lost: measured.lost,
        own_rate: measured.subject.own_rate(),
        proven: measured.subject.proven(),
    }
}
