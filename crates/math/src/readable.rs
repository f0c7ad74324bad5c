//! Support for serde, with the feature `serde`. A rate is written as text, such as `0.001`, and a
//! scheme as its name.
//!
//! Values are always checked when they are read: a rate must be between 0 and 1, a design must be
//! possible, and a plan must meet its target.

use crate::{Plan, Rate, SchemeId, Target};
use core::fmt;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Rate {
    /// Writes text, such as `"0.001"`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    /// Reads a rate from text, such as `"0.001"`, `"1e-3"`, `"0.1%"` or `"1/1000"`. A number, such
    /// as `0.001` without quotes in JSON, is an error, because many formats round numbers.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        struct Written;

        impl Visitor<'_> for Written {
            type Value = Rate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate as text, such as \"0.1%\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Rate, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Written)
    }
}

impl Serialize for SchemeId {
    /// Writes the name of the scheme.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for SchemeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SchemeId, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = SchemeId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a scheme")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<SchemeId, E> {
                name.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Name)
    }
}

/// A plan without the values that are computed from it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Plan")]
struct PlanData {
    scheme: SchemeId,
    bits: u64,
    probes: u32,
    items: u64,
    target: Target,
}

impl Serialize for Plan {
    /// Writes the scheme, the bits, the probes, the items and the target, but no rates. The rates
    /// are computed again when the plan is read.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Plan { scheme, bits, probes, items, ref target, .. } = *self;
        PlanData { scheme, bits, probes, items, target: target.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Plan {
    /// Creates the plan from the scheme, bits, probes and items that were read, and proves its
    /// rates again. Returns an error if a filter with these values does not meet the target. This
    /// takes as long as [`Plan::new`] with a target that gives bits, probes and items.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
        let PlanData { scheme, bits, probes, items, target } = PlanData::deserialize(deserializer)?;
        Plan::of_size(scheme, bits, probes, items, target).map_err(D::Error::custom)
    }
}
