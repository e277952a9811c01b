//! The queue of each class where there are too few, or where they differ.
//!
//! Queues of free weights are alike: branch and bound over all groupings, or pair by pair. Queues of fixed weights
//! differ: every order, or a dynamic program over sets of classes. Schedulers hold whole weights.
//!
//! Beside the simulator because these, too, are loops over numbers for which an interpreter takes too long. Equal input
//! gives an equal answer: sums are taken in the order of the classes, and nothing depends on the order of a hash.

mod class_set;
mod criterion;
mod fixed_weights;
mod groupings;
mod join;
mod queues;
mod whole_weights;

pub use class_set::{CAPACITY, ClassSet};
pub use criterion::Criterion;
pub use fixed_weights::{FixedQueues, Unit, apart, merged};
pub use queues::Demand;
pub use whole_weights::{nearest_whole, whole_numbers};

use queues::Queues;

/// A question that has no answer, in words.
pub type Refused = String;

/// The preferred grouping into at most `most` queues, each as the places of its demands in ascending order.
///
/// The best of all, unless `most_steps` end the search. Large demands should come first: the search ends sooner. Of
/// equally good groupings it is always the same.
pub fn cheapest_groups(
    demands: &[Demand],
    most: usize,
    preference: &[Criterion],
    most_steps: usize,
) -> Result<Vec<Vec<usize>>, Refused> {
    check(demands, most, preference)?;
    let mut queues = Queues::new(demands, preference, true);
    // A criterion that is nothing for classes alone and for all in one queue is nothing for any grouping.
    let telling = queues.telling();
    let mut queues = Queues::new(demands, &telling, true);
    Ok(listed(&groupings::search(&mut queues, most, most_steps)))
}

/// The grouping into `most` queues by joining, again and again, the two that make the preferred queue.
pub fn pairwise_groups(
    demands: &[Demand],
    most: usize,
    preference: &[Criterion],
) -> Result<Vec<Vec<usize>>, Refused> {
    check(demands, most, preference)?;
    let mut queues = Queues::new(demands, preference, false);
    Ok(listed(&join::join(&mut queues, most, true).0))
}

fn check(demands: &[Demand], most: usize, preference: &[Criterion]) -> Result<(), Refused> {
    if demands.len() > CAPACITY {
        let count = demands.len();
        return Err(format!("{count} demands; at most {CAPACITY} are grouped"));
    }
    if most == 0 && !demands.is_empty() {
        return Err("no queue for the demands; most is 0".to_owned());
    }
    if preference.is_empty() {
        return Err("no criterion; give one or more".to_owned());
    }
    let rates = demands.first().map_or(0, |demand| demand.shares.len());
    if let Some(at) = demands
        .iter()
        .position(|d| d.shares.is_empty() || d.shares.len() != rates)
    {
        return Err(format!(
            "demand {at} has {} shares; give one for each rate",
            demands[at].shares.len()
        ));
    }
    Ok(())
}

fn listed(groups: &[ClassSet]) -> Vec<Vec<usize>> {
    groups
        .iter()
        .map(|group| group.places().collect())
        .collect()
}
