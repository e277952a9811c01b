//! A port's scheduler over class queues: the commonest kind is called directly.

use super::tiered::Tiered;
use super::{Gateable, Pick, Scheduler};
use crate::item::Item;
use crate::queue::ClassQueue;

/// A scheduler as it was read, before shapers.
pub enum Read {
    /// Strict queues and round robin, from FIFO to both together.
    Tiered(Tiered),
    Other(Box<dyn Gateable>),
}

impl Read {
    /// For shapers, which take any kind.
    pub fn boxed(self) -> Box<dyn Gateable> {
        match self {
            Self::Tiered(tiered) => Box::new(tiered),
            Self::Other(other) => other,
        }
    }
}

/// A scheduler at work.
#[derive(Debug)]
pub enum Classes {
    Tiered(Tiered),
    Other(Box<dyn Scheduler>),
}

impl From<Read> for Classes {
    fn from(read: Read) -> Self {
        match read {
            Read::Tiered(tiered) => Self::Tiered(tiered),
            Read::Other(other) => Self::Other(other),
        }
    }
}

impl Scheduler for Classes {
    #[inline]
    fn is_priority(&self, queue: usize) -> bool {
        match self {
            Self::Tiered(tiered) => Scheduler::<[ClassQueue]>::is_priority(tiered, queue),
            Self::Other(other) => other.is_priority(queue),
        }
    }

    #[inline]
    fn admits(&mut self, queue: usize, item: &Item, now_ps: u64, congested: bool) -> bool {
        match self {
            Self::Tiered(_) => true,
            Self::Other(other) => other.admits(queue, item, now_ps, congested),
        }
    }

    #[inline]
    fn entered(&mut self, queue: usize, queues: &[ClassQueue]) {
        if let Self::Other(other) = self {
            other.entered(queue, queues);
        }
    }

    #[inline]
    fn pick(&mut self, queues: &[ClassQueue], now_ps: u64) -> Pick {
        match self {
            Self::Tiered(tiered) => tiered.pick(queues, now_ps),
            Self::Other(other) => other.pick(queues, now_ps),
        }
    }

    fn pick_priority(&mut self, queues: &[ClassQueue], now_ps: u64) -> Option<usize> {
        match self {
            Self::Tiered(tiered) => tiered.pick_priority(queues, now_ps),
            Self::Other(other) => other.pick_priority(queues, now_ps),
        }
    }

    fn class_visits(&self) -> Option<u64> {
        match self {
            Self::Tiered(_) => None,
            Self::Other(other) => other.class_visits(),
        }
    }

    fn class(&self, queue: usize) -> u8 {
        match self {
            Self::Tiered(tiered) => Scheduler::<[ClassQueue]>::class(tiered, queue),
            Self::Other(other) => other.class(queue),
        }
    }

    fn pick_above(&mut self, class: u8, queues: &[ClassQueue], now_ps: u64) -> Option<usize> {
        match self {
            Self::Tiered(tiered) => tiered.pick_above(class, queues, now_ps),
            Self::Other(other) => other.pick_above(class, queues, now_ps),
        }
    }
}
