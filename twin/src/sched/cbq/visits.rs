//! How often a scheduler looks at its classes: what it costs, whatever machine it runs on.

use std::cell::Cell;
use std::fmt::Debug;

/// Counts visits, or leaves it at no cost.
pub trait Visits: Debug + Default + Send {
    fn add(&self);

    /// None where nothing is counted.
    fn total(&self) -> Option<u64>;
}

#[derive(Debug, Default)]
pub struct Uncounted;

impl Visits for Uncounted {
    #[inline]
    fn add(&self) {}

    fn total(&self) -> Option<u64> {
        None
    }
}

#[derive(Debug, Default)]
pub struct Counted(Cell<u64>);

impl Visits for Counted {
    #[inline]
    fn add(&self) {
        self.0.set(self.0.get() + 1);
    }

    fn total(&self) -> Option<u64> {
        Some(self.0.get())
    }
}
