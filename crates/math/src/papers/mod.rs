//! Formulas from the papers, for comparison: approximations, bounds and efficiencies. No plan
//! depends on these formulas.

mod approximation;
pub mod bounds;
mod efficiency;

pub use approximation::Approximation;
pub use efficiency::{
    MOST_BITS_SEARCHED, Peak, best_probes_approximation, crossover, efficiency, half_full_items, max_efficiency, peak_efficiency,
    peak_items_approximation, standard_limit, valley_efficiency,
};
