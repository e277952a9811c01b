//! What is to be small about the queues.

const SAME: f64 = 1e-9;

/// What the classes of one queue come to together.
#[derive(Clone, Copy, Debug)]
pub struct QueueUse {
    pub classes: u32,
    /// The largest error of their shares, as a part of the link.
    pub error: f64,
    /// The sum of their errors.
    pub errors: f64,
    /// Pairs with an earlier class in another queue that has a label in common.
    pub parted: u32,
    /// Whether one of them should be alone.
    pub alone: bool,
    /// How many kinds they have together, and whether each of them has one of these.
    pub kinds: u32,
    pub related: bool,
}

/// A measure of each queue, of which the sum over all queues should be small, or the largest. It does not fall when
/// another class joins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// Queues that a class shares which should be alone.
    Alone,
    /// Queues of classes without a kind in common.
    Unrelated,
    /// Classes in such queues.
    Misplaced,
    /// Pairs with a label in common that are in different queues.
    Parted,
    /// Kinds in each queue.
    Kinds,
    /// Classes that share a queue.
    Merged,
    /// The largest error of a share.
    Error,
    /// By how much the largest error of a share is above a bound, and more than the noise of sums.
    ErrorAbove(f64),
    /// The sum of the errors of all shares; it is the last criterion.
    Errors,
}

impl Criterion {
    /// The criterion of this name; `bound` is of `error-above` alone.
    pub fn named(name: &str, bound: f64) -> Option<Self> {
        Some(match name {
            "alone" => Self::Alone,
            "unrelated" => Self::Unrelated,
            "misplaced" => Self::Misplaced,
            "parted" => Self::Parted,
            "kinds" => Self::Kinds,
            "merged" => Self::Merged,
            "error" => Self::Error,
            "error-above" => Self::ErrorAbove(bound),
            "errors" => Self::Errors,
            _ => return None,
        })
    }

    /// Whether the largest of all queues counts, instead of their sum.
    pub fn largest(self) -> bool {
        matches!(self, Self::Error | Self::ErrorAbove(_))
    }

    pub fn measure(self, queue: &QueueUse) -> f64 {
        let crowded = queue.alone && queue.classes > 1;
        let unrelated = !queue.related && queue.classes > 1;
        match self {
            Self::Alone => f64::from(u8::from(crowded)),
            Self::Unrelated => f64::from(u8::from(unrelated)),
            Self::Misplaced if crowded || unrelated => f64::from(queue.classes),
            Self::Misplaced => 0.0,
            Self::Parted => f64::from(queue.parted),
            Self::Kinds => f64::from(queue.kinds),
            Self::Merged if queue.classes > 1 => f64::from(queue.classes),
            Self::Merged => 0.0,
            Self::Error => queue.error,
            Self::ErrorAbove(bound) => (queue.error - bound - SAME).max(0.0),
            Self::Errors => queue.errors,
        }
    }
}
