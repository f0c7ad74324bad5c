//! Scheme 3, the partitioned scheme: an independent position in each of k slices.

use super::stream::WordStream;
use super::{Scheme, SchemeId, check_probes};
use crate::error::BuildError;
use crate::hash::KeyHash;
use truebloom_math::law;

/// The partitioned scheme divides the filter into k slices, where k is the number of probes, and
/// gives each key one position in every slice. The key's hash is expanded into a stream of 64-bit
/// words, from which the positions are drawn. If the words are independent and uniform, the
/// positions are independent and exactly uniform in their slices. If the bits cannot be divided
/// equally, each of the first `bits mod probes` slices has one more bit than the other slices.
///
/// At the same size, this scheme has slightly more false positives than
/// [`Standard`](super::Standard). The scheme has two advantages: the probes of a key never
/// coincide, and each slice can be in a separate part of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioned {
    law: law::Partitioned,
    bits: u64,
    probes: u32,
}

impl Scheme for Partitioned {
    const ID: SchemeId = SchemeId::Partitioned;

    /// Returns an error if `bits` or `probes` is out of range, or if there are more probes than
    /// bits.
    fn new(bits: u64, probes: u32) -> Result<Partitioned, BuildError> {
        check_probes(probes)?;
        Ok(Partitioned { law: law::Partitioned::new(bits, probes)?, bits, probes })
    }

    #[inline]
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        let (short, longer) = (self.bits / u64::from(self.probes), self.bits % u64::from(self.probes));
        let (mut words, mut start) = (WordStream::new(hash), 0);
        (0..u64::from(self.probes)).map(move |slice| {
            let length = short + u64::from(slice < longer);
            let position = start + words.below(length);
            start += length;
            position
        })
    }

    fn slices(&self) -> u32 {
        self.probes
    }

    of_fields!();
}
