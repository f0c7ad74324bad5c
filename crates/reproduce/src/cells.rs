//! The work behind figures and claims, divided into cells. A cell has a name, can be computed alone
//! and on any thread, and always gives the same numbers. So a long run can continue where it was
//! stopped, and a result that both a figure and a claim need is computed only once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use truebloom_math::Result;

/// The known results of cells, by the name of the cell. A cell is one experiment, or one
/// computation by a formula.
pub type Known = BTreeMap<String, Vec<f64>>;

/// A function that returns whether the given numbers can be the results of a cell.
pub(crate) type Fits<'a> = Box<dyn Fn(&[f64]) -> bool + Send + Sync + 'a>;

/// A unit of work: one experiment, or one computation by a formula.
pub(crate) struct Cell<'a> {
    pub(crate) name: String,
    /// An estimate of the work of the cell, in any unit. This estimate is used to compute the
    /// remaining time.
    pub(crate) steps: f64,
    /// Returns whether the given numbers can be the results of the cell. Numbers from a file may be
    /// damaged.
    pub(crate) fits: Fits<'a>,
    /// Whether the numbers of the cell may be stored. Results of formulas are not stored, so that
    /// they always come from the program that prints them.
    pub(crate) is_experiment: bool,
    pub(crate) run: Box<dyn Fn() -> Result<Vec<f64>> + Send + Sync + 'a>,
}

/// Checks that there are `count` numbers between 0 and 1.
pub(crate) fn are_shares(count: usize) -> Fits<'static> {
    Box::new(move |values| values.len() == count && values.iter().all(|value| (0.0..=1.0).contains(value)))
}

impl Cell<'_> {
    /// Returns the numbers of the cell, and computes them if they are not known.
    pub(crate) fn value(&self, known: &Known) -> Result<Vec<f64>> {
        self.known(known).map_or_else(|| (self.run)(), |value| Ok(value.clone()))
    }

    fn known<'b>(&self, known: &'b Known) -> Option<&'b Vec<f64>> {
        known.get(&self.name).filter(|values| (self.fits)(values))
    }
}

/// The results of a cell that has just been run. A cell is one experiment, or one computation by a
/// formula.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Done<'a> {
    /// The name of the cell, which is also the key of the cell's numbers in [`Known`].
    pub name: &'a str,
    /// The numbers of the cell.
    pub values: &'a [f64],
    /// Whether the numbers should be stored for a later run. This is false for the results of
    /// formulas, so that these results always come from the program that prints them.
    pub is_experiment: bool,
    /// The share of all work that is done. This includes cells whose results were known at the
    /// start.
    pub share: f64,
}

/// Runs all cells whose numbers are not known, on `threads` threads, starting with the longest.
/// Cells with the same name run only once. The function calls `done` for each cell that ends, and
/// stops early if `done` returns false. Returns the first error.
pub(crate) fn run(cells: &[Cell<'_>], known: &mut Known, threads: usize, mut done: impl FnMut(&Done<'_>) -> bool) -> Result<()> {
    let mut names = BTreeSet::new();
    let cells: Vec<&Cell<'_>> = cells.iter().filter(|cell| names.insert(cell.name.as_str())).collect();
    let all: f64 = cells.iter().map(|cell| cell.steps).sum();
    let mut open: Vec<&Cell<'_>> = cells.into_iter().filter(|cell| cell.known(known).is_none()).collect();
    open.sort_by(|a, b| b.steps.total_cmp(&a.steps));
    let mut left: f64 = open.iter().map(|cell| cell.steps).sum();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // The channel has no buffer: a thread with a result waits until it is received, so after a stop
    // each thread runs at most one more cell.
    let (sender, receiver) = mpsc::sync_channel(0);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, 1_024).min(open.len()) {
            let (sender, next, stop, open) = (sender.clone(), &next, &stop, &open);
            scope.spawn(move || {
                while let Some(cell) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) || sender.send((*cell, (cell.run)())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut failure = Ok(());
        for (cell, values) in receiver {
            match values {
                Ok(values) => {
                    left -= cell.steps;
                    let share = if all > 0.0 { 1.0 - left / all } else { 1.0 };
                    if !done(&Done { name: &cell.name, values: &values, is_experiment: cell.is_experiment, share }) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    known.insert(cell.name.clone(), values);
                }
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    failure = failure.and(Err(error));
                }
            }
        }
        failure
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Vec<Cell<'static>> {
        let cell = |i: u32| Cell {
            name: format!("cell-{i}"),
            steps: f64::from(i),
            fits: Box::new(|values| values.len() == 1),
            is_experiment: true,
            run: Box::new(move || Ok(vec![f64::from(i * i)])),
        };
        // Each cell occurs twice, as if a figure and a claim need it.
        (1..=20).chain(1..=20).map(cell).collect()
    }

    #[test]
    fn threads_and_stops_change_nothing() {
        let run_all = |known: &mut Known, threads, most: usize| {
            let mut shares = Vec::new();
            run(&cells(), known, threads, |done| {
                shares.push(done.share);
                shares.len() < most
            })
            .expect("nothing fails");
            shares
        };
        let mut whole = Known::new();
        let shares = run_all(&mut whole, 1, usize::MAX);
        assert!(shares.len() == 20 && shares.windows(2).all(|pair| pair[0] < pair[1]) && (shares[19] - 1.0).abs() < 1e-12);
        let mut resumed = Known::new();
        let first = run_all(&mut resumed, 2, 5);
        // The cells that were running at the stop are completed.
        assert!(first.len() >= 5 && resumed.len() == first.len());
        let rest = run_all(&mut resumed, 3, usize::MAX);
        assert_eq!((rest.len(), &resumed), (20 - first.len(), &whole));
        assert!(rest.first().is_none_or(|next| *next > first[0]));
        assert_eq!(run_all(&mut resumed, 2, usize::MAX), [0.0; 0]);
        // Impossible numbers are treated as unknown.
        resumed.insert("cell-7".to_owned(), vec![49.0, 1.0]);
        assert_eq!(cells()[6].value(&resumed), Ok(vec![49.0]));
        assert_eq!(run_all(&mut resumed, 1, usize::MAX).len(), 1);
        assert_eq!(resumed, whole);
    }

    #[test]
    fn a_failure_is_given_and_ends_the_run() {
        let mut all = cells();
        all[19].run = Box::new(|| Err(truebloom_math::Error::out_of_range("x", 1, "another")));
        assert!(run(&all, &mut Known::new(), 1, |_| true).is_err());
    }
}
