//! Serde support for designs, with the feature `serde`. Deserializing a design checks it.

use super::{Design, Mode};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The serialized fields of a design. All other values are derived from them.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Design")]
struct DesignData {
    bits: u64,
    probes: u32,
    sigma: u64,
    mode: Mode,
}

impl Serialize for Design {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DesignData { bits: self.bits(), probes: self.probes(), sigma: self.sigma(), mode: self.mode() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Design {
    /// Fails for every design that [`Design::new`] rejects.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Design, D::Error> {
        let DesignData { bits, probes, sigma, mode } = DesignData::deserialize(deserializer)?;
        Design::new(bits, probes, sigma, mode).map_err(D::Error::custom)
    }
}
