//! Queues of single classes that join.

use std::rc::Rc;

use super::class_set::ClassSet;
use super::queues::{Queues, Values, compare};

/// Queues of single classes join until there are `most`; what they come to then.
///
/// The next two are those with which all queues come to the least, or which come to the least alone (`by_pair`).
pub fn join(queues: &mut Queues, most: usize, by_pair: bool) -> (Vec<ClassSet>, Values) {
    let mut groups: Vec<ClassSet> = (0..queues.demands.len()).map(ClassSet::one).collect();
    let nothing = queues.of(ClassSet::default());
    let mut values = nothing.values.clone();
    for group in &groups {
        let queue = queues.of(*group);
        values = queues.exchange(&values, &nothing.values, &queue.values);
    }
    while groups.len() > most {
        let Some((one, other, then)) = next_pair(queues, &groups, &values, by_pair) else {
            break;
        };
        groups[one] = groups[one].union(groups[other]);
        groups.remove(other);
        values = then;
    }
    (groups, values)
}

/// The places of the two queues to join next, and what all come to then.
fn next_pair(
    queues: &mut Queues,
    groups: &[ClassSet],
    values: &[f64],
    by_pair: bool,
) -> Option<(usize, usize, Values)> {
    let mut best: Option<(Values, usize, usize, Values)> = None;
    for one in 0..groups.len() {
        let first = queues.of(groups[one]);
        for other in one + 1..groups.len() {
            let second = queues.of(groups[other]);
            let joined = queues.of(groups[one].union(groups[other]));
            let apart: Values = first
                .values
                .iter()
                .zip(&second.values)
                .map(|(a, b)| a + b)
                .collect();
            let then = queues.exchange(values, &apart, &joined.values);
            let key = if by_pair {
                Rc::clone(&joined).values.clone()
            } else {
                queues.key(&then)
            };
            if best
                .as_ref()
                .is_none_or(|(least, ..)| compare(&key, least).is_lt())
            {
                best = Some((key, one, other, then));
            }
        }
    }
    best.map(|(_, one, other, then)| (one, other, then))
}
