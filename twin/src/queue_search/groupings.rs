//! Branch and bound over all groupings.

use std::rc::Rc;

use super::class_set::ClassSet;
use super::criterion::Criterion;
use super::join::join;
use super::queues::{Queue, Queues, Values, compare, round};

const SAME: f64 = 1e-9;

struct Search<'a, 'b> {
    queues: &'a mut Queues<'b>,
    most: usize,
    most_steps: usize,
    steps: usize,
    by_largest: bool,
    merged_at: Option<usize>,
    error_at: Option<usize>,
    /// What is still to be placed from each class on: together, and at most in one.
    left: Vec<(f64, f64)>,
    least: Values,
    best: Vec<ClassSet>,
}

/// Where the next class goes: what all queues come to then as it is compared, the queue, its classes, the values.
struct Way {
    key: Values,
    number: usize,
    joined: ClassSet,
    then: Values,
}

/// The best grouping of all into at most `most` queues, unless `most_steps` end the search.
pub fn search(queues: &mut Queues, most: usize, most_steps: usize) -> Vec<ClassSet> {
    let (best, values) = join(queues, most, false);
    let least = queues.key(&values);
    let preference = &queues.preference;
    let place = |wanted: Criterion| preference.iter().position(|each| *each == wanted);
    // As the last criterion, the error decides too seldom to look ahead for it.
    let error_at = place(Criterion::Error).filter(|at| at + 1 < preference.len());
    let one: Vec<f64> = queues
        .demands
        .iter()
        .map(|demand| demand.shares[0])
        .collect();
    let left = (0..=one.len()).map(|at| {
        (
            one[at..].iter().sum(),
            one[at..].iter().copied().reduce(f64::max).unwrap_or(0.0),
        )
    });
    let start = vec![0.0; preference.len()];
    let mut search = Search {
        most,
        most_steps,
        steps: 0,
        by_largest: preference[0].largest(),
        merged_at: place(Criterion::Merged),
        error_at,
        left: left.collect(),
        least,
        best,
        queues,
    };
    search.place(&[], &[], &start, 0);
    search.best
}

impl Search<'_, '_> {
    /// Look at every way to go on from the first `at` classes in their queues that may come to less than the best.
    fn place(&mut self, groups: &[ClassSet], served: &[Rc<Queue>], values: &[f64], at: usize) {
        if at == self.queues.demands.len() {
            self.least = self.queues.key(values);
            self.best = groups.to_vec();
            return;
        }
        for way in self.ways(groups, values, at) {
            if compare(&way.key, &self.least).is_ge() || self.steps >= self.most_steps {
                return;
            }
            let (mut groups, mut served) = (groups.to_vec(), served.to_vec());
            let queue = self.queues.of(way.joined);
            if way.number == groups.len() {
                groups.push(way.joined);
                served.push(queue);
            } else {
                groups[way.number] = way.joined;
                served[way.number] = queue;
            }
            let bound = self.at_least(way.key, &served, at + 1);
            if compare(&bound, &self.least).is_lt() {
                self.steps += 1;
                self.place(&groups, &served, &way.then, at + 1);
            }
        }
    }

    /// The queues for the next class with which all come to less than the best, by what they come to.
    fn ways(&mut self, groups: &[ClassSet], values: &[f64], at: usize) -> Vec<Way> {
        let free = (groups.len() < self.most).then(ClassSet::default);
        let mut ways = Vec::new();
        for (number, group) in groups.iter().copied().chain(free).enumerate() {
            let joined = group.union(ClassSet::one(at));
            let (old, new) = (self.queues.of(group), self.queues.of(joined));
            let first = if self.by_largest {
                new.values[0]
            } else {
                values[0] + new.values[0] - old.values[0]
            };
            if first > self.least[0] {
                continue; // soon told, and true of most
            }
            let then = self.queues.exchange(values, &old.values, &new.values);
            let key = self.queues.key(&then);
            if compare(&key, &self.least).is_lt() {
                ways.push(Way {
                    key,
                    number,
                    joined,
                    then,
                });
            }
        }
        // Of ways that come to the same the one with the first queue: the sort is stable.
        ways.sort_by(|one, other| compare(&one.key, &other.key));
        ways
    }

    /// What no grouping comes below that goes on from the first classes in their queues.
    fn at_least(&self, mut key: Values, served: &[Rc<Queue>], placed: usize) -> Values {
        let free = self.most - served.len();
        if let Some(at) = self.merged_at {
            // Whoever finds no free queue any more joins another class.
            let joining = (self.queues.demands.len() - placed).saturating_sub(free);
            key[at] += joining as f64;
        }
        if let Some(at) = self.error_at {
            let mut totals: Vec<f64> = served.iter().map(|queue| queue.total).collect();
            totals.resize(self.most, 0.0);
            let error = least_error(totals, self.left[placed]);
            if error > key[at] {
                key[at] = round(error);
            }
        }
        key
    }
}

/// The least largest error of queues with these sums of shares, if what is left fills them evenly at best.
///
/// A queue that gets another class may hold no more than the largest error and that class.
fn least_error(mut totals: Vec<f64>, (mut rest, largest): (f64, f64)) -> f64 {
    if rest == 0.0 {
        return 0.0;
    }
    totals.sort_by(f64::total_cmp);
    let mut level = 0.0;
    for (before, total) in totals.into_iter().enumerate() {
        if before > 0 && total >= level {
            break;
        }
        rest += total;
        level = rest / (before + 1) as f64;
    }
    level - largest - SAME
}
