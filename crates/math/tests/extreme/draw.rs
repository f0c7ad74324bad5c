//! Random extreme arguments from a fixed seed, with a record of the values that were drawn.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use truebloom_math::law::simulation::SplitMix64;
use truebloom_math::law::{Double, Offsets, Step};
use truebloom_math::recycling::{BlockedDesign, Counting, Design, Gaps, Mode, Phases, Seeds, Trigger};
use truebloom_math::{Layout, Rate, SchemeId, Target, Variant};

/// The source of random words: a seed, or the bytes of a fuzzer, followed by the words of a seed of
/// zeros.
struct Words {
    bytes: std::vec::IntoIter<u8>,
    random: SplitMix64,
}

impl Words {
    fn byte(&mut self) -> u64 {
        self.bytes.next().map_or_else(|| self.random.word() >> 56, u64::from)
    }

    /// Returns a number below `range`. It takes only as many bytes as the range needs, so that a
    /// fuzzer can control many numbers with few bytes.
    fn below(&mut self, range: u64) -> u64 {
        if self.bytes.len() == 0 {
            return self.random.below(range);
        }
        if range <= 1 << 8 { self.byte() % range } else { self.word() % range }
    }

    fn word(&mut self) -> u64 {
        if self.bytes.len() == 0 {
            return self.random.word();
        }
        (0..8).fold(0, |word, _| word << 8 | self.byte())
    }

    fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Draws arguments and records them for the message about a failing call.
pub(crate) struct Draw {
    random: Words,
    drawn: Arc<Mutex<String>>,
}

impl Draw {
    pub(crate) fn new(seed: &[u64], drawn: Arc<Mutex<String>>) -> Draw {
        Draw { random: Words { bytes: Vec::new().into_iter(), random: SplitMix64::of(seed) }, drawn }
    }

    #[allow(dead_code, reason = "for the fuzzer")]
    pub(crate) fn from_bytes(bytes: &[u8], drawn: Arc<Mutex<String>>) -> Draw {
        Draw { random: Words { bytes: Vec::from(bytes).into_iter(), random: SplitMix64::of(&[]) }, drawn }
    }

    pub(crate) fn note<T: Debug>(&self, value: T) -> T {
        let mut drawn = self.drawn.lock().expect("nobody panics while writing");
        drawn.push_str(&format!("{value:?}, "));
        value
    }

    pub(crate) fn below(&mut self, range: u64) -> u64 {
        self.random.below(range)
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.below(all.len() as u64) as usize]
    }

    /// Returns a size: 0, 1, 2, a power of two or its neighbour, a decimal size, the largest size,
    /// or any number in between.
    fn any_size(&mut self) -> u64 {
        match self.random.below(8) {
            0 => self.one_of(&[0, 1, 2, 3, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 62, (1 << 62) + 1]),
            1 => (1 << self.random.below(63)) - 1,
            2 => 1 << self.random.below(63),
            3 => (1 << self.random.below(63)) + 1,
            4 => 10u64.pow(self.random.below(19) as u32),
            5 => self.random.below(2_000),
            _ => self.random.word() >> self.random.below(64),
        }
    }

    pub(crate) fn size(&mut self) -> u64 {
        let size = self.any_size();
        self.note(size)
    }

    /// Returns a number of items or bits for a filter that has another given size. The result is
    /// unrelated to that size, or within a few octaves of it, as in realistic filters.
    pub(crate) fn beside(&mut self, size: u64) -> u64 {
        if self.random.below(3) == 0 {
            return self.size();
        }
        let octaves = 12.0 * self.random.unit() - 8.0;
        self.note((size as f64 * octaves.exp2()) as u64)
    }

    pub(crate) fn probes(&mut self) -> u32 {
        let probes = match self.random.below(8) {
            0 => self.one_of(&[0, 1, 2, 3, 64, 65, 1_000, 100_000, 100_001, u32::MAX]),
            1..4 => 1 + self.random.below(64) as u32,
            _ => 1 + self.random.below(1_000) as u32,
        };
        self.note(probes)
    }

    /// Returns a rate, from the smallest that can be written to nearly 1.
    pub(crate) fn rate(&mut self) -> Rate {
        let text = match self.random.below(6) {
            0 => self.one_of(&["1e-340", "1e-308", "1/3", "0.5", "0.999999", "1e-18", "1e-4000"]).to_owned(),
            1 => format!("0.{}", 1 + self.random.below(999_998)),
            _ => format!("{}e-{}", 1 + self.random.below(9), 1 + self.random.below(340)),
        };
        self.note(text).parse().expect("a rate")
    }

    /// Returns a number for any real parameter, such as a probability; it may be unreasonable.
    pub(crate) fn real(&mut self) -> f64 {
        let real = match self.random.below(3) {
            0 => self.one_of(&[
                0.0,
                -0.0,
                1.0,
                -1.0,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MIN_POSITIVE,
                5e-324,
                f64::MAX,
                f64::EPSILON,
                1.0 - f64::EPSILON / 2.0,
                1.0 + f64::EPSILON,
            ]),
            1 => self.random.unit(),
            _ => (self.random.unit() * 600.0 - 590.0).exp2(),
        };
        self.note(real)
    }

    /// Returns a confidence that is near 0, near 1, or out of range.
    pub(crate) fn confidence(&mut self) -> f64 {
        if self.random.below(3) == 0 {
            return self.real();
        }
        let confidence = self.one_of(&[0.5, 0.9, 0.99, 0.999, 1.0 - 1e-9, 1.0 - 1e-15, 1e-6, 1e-15, 1e-300]);
        self.note(confidence)
    }

    pub(crate) fn variant(&mut self) -> Variant {
        let variant = self.one_of(&Variant::ALL);
        self.note(variant)
    }

    pub(crate) fn scheme(&mut self) -> SchemeId {
        let scheme = self.one_of(&SchemeId::ALL);
        self.note(scheme)
    }

    pub(crate) fn mode(&mut self) -> Mode {
        let phases = self.one_of(&[Phases::One, Phases::Two(Trigger::Included), Phases::Two(Trigger::Excluded)]);
        let seeds = self.one_of(&[Seeds::Renewed, Seeds::Kept]);
        let mode = Mode { phases, colliding: self.below(2) == 0, retaining: phases == Phases::One && self.below(2) == 0, seeds };
        self.note(mode)
    }

    pub(crate) fn design(&mut self) -> Option<Design> {
        let (bits, probes, mode) = (self.size(), self.probes(), self.mode());
        let sigma = self.beside(bits);
        Design::new(bits, probes, sigma, mode).ok()
    }

    pub(crate) fn blocked_design(&mut self) -> Option<BlockedDesign> {
        let block = self.one_of(&[64, 512, 32_768]);
        let (blocks, probes, limit) = (self.size(), self.probes(), self.real());
        BlockedDesign::new(blocks.checked_mul(block)?, block, probes, limit).ok()
    }

    pub(crate) fn double(&mut self) -> Option<Double> {
        let (bits, probes) = (self.size(), self.probes());
        let step = self.one_of(&[Step::Any, Step::NonZero]);
        let offsets = match self.below(5) {
            0 => Offsets::Linear,
            1 => Offsets::Square,
            2 => Offsets::Cube,
            3 => Offsets::Enhanced,
            _ => Offsets::Custom((0..i64::from(probes.min(1_000))).map(|i| i * i * i - 7 * i).collect()),
        };
        Double::new(bits, probes, step, self.note(offsets)).ok()
    }

    pub(crate) fn gaps(&mut self) -> Gaps {
        let gaps = match self.below(3) {
            0 => Gaps::Uniform { below: self.any_size() },
            1 => Gaps::Zipf { below: self.any_size(), exponent: self.real() },
            _ => Gaps::Fading { mean: self.real() },
        };
        self.note(gaps)
    }

    pub(crate) fn counting(&mut self) -> Counting {
        let counting = self.one_of(&[Counting::Worst, Counting::Oracle, Counting::Real]);
        self.note(counting)
    }

    /// Returns a target that may have too few or too many values.
    pub(crate) fn target(&mut self) -> Target {
        let mut target = Target::new().scheme(self.scheme()).hash_bits(self.one_of(&[128, 64, 1, 0, u32::MAX]));
        target = target.layout(self.one_of(&[Layout::Spread, Layout::Lines, Layout::Auto]));
        let open = self.below(8);
        if open != 0 {
            target = target.items(self.size());
        }
        if open != 1 {
            target = target.rate(self.rate());
        }
        if open <= 2 {
            target = target.bits(self.size());
        }
        if self.below(2) == 0 {
            target = target.probes(self.probes());
        }
        if self.below(4) == 0 {
            target = target.max_bits(self.size());
        }
        match self.below(3) {
            0 => target = target.mean(),
            1 => target = target.confidence(self.confidence()),
            _ => {}
        }
        self.note(target)
    }
}
