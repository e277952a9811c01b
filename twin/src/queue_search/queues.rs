//! The values of single queues by the classes in them, and of all queues together.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use super::class_set::ClassSet;
use super::criterion::{Criterion, QueueUse};

/// What a class demands of its queue.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Parts of the link, one at each rate.
    pub shares: Vec<f64>,
    pub alone: bool,
    pub kinds: ClassSet,
    pub labels: Vec<i64>,
}

/// What the criteria come to, in the order of preference.
pub type Values = Vec<f64>;

/// One queue: its values, and the sum of its shares at the first rate.
#[derive(Debug)]
pub struct Queue {
    pub values: Values,
    pub total: f64,
    sums: Option<Sums>,
}

/// What classes come to together: at each rate the sum of their shares and the least.
#[derive(Clone, Debug)]
struct Sums {
    shares: Vec<f64>,
    least: Vec<f64>,
    classes: u32,
    parted: u32,
    alone: bool,
    kinds: ClassSet,
    common: ClassSet,
}

/// The queues that were asked for so far.
pub struct Queues<'a> {
    pub demands: &'a [Demand],
    pub preference: Vec<Criterion>,
    /// Whether errors are rounded, so that the noise of sums decides nothing.
    rounded: bool,
    /// Of each demand the earlier ones that have a label in common with it.
    earlier: Vec<ClassSet>,
    known: HashMap<ClassSet, Rc<Queue>>,
}

impl<'a> Queues<'a> {
    pub fn new(demands: &'a [Demand], preference: &[Criterion], rounded: bool) -> Self {
        let earlier = demands.iter().enumerate().map(|(place, demand)| {
            let alike =
                |other: &Demand| other.labels.iter().any(|each| demand.labels.contains(each));
            (0..place).filter(|at| alike(&demands[*at])).collect()
        });
        let nothing = Queue {
            values: vec![0.0; preference.len()],
            total: 0.0,
            sums: None,
        };
        Self {
            demands,
            preference: preference.to_vec(),
            rounded,
            earlier: earlier.collect(),
            known: HashMap::from([(ClassSet::default(), Rc::new(nothing))]),
        }
    }

    /// The queue that serves these classes.
    pub fn of(&mut self, group: ClassSet) -> Rc<Queue> {
        if let Some(found) = self.known.get(&group) {
            return Rc::clone(found);
        }
        // The empty set is known.
        let at = group.last().unwrap_or_default();
        let last = ClassSet::one(at);
        let before = group.without(last);
        let parted = self.earlier[at].without(before).len();
        let earlier = self.of(before);
        let sums = joined_by(earlier.sums.as_ref(), &self.demands[at], parted);
        let made = Rc::new(self.measured(sums));
        self.known.insert(group, Rc::clone(&made));
        made
    }

    fn measured(&self, sums: Sums) -> Queue {
        let errors = sums
            .shares
            .iter()
            .zip(&sums.least)
            .map(|(sum, least)| sum - least);
        let error = errors.fold(f64::NEG_INFINITY, f64::max);
        let queue = QueueUse {
            classes: sums.classes,
            error: if self.rounded { round(error) } else { error },
            errors: f64::from(sums.classes - 1) * sums.shares.iter().sum::<f64>(),
            parted: sums.parted,
            alone: sums.alone,
            kinds: sums.kinds.len(),
            related: !sums.common.is_empty(),
        };
        Queue {
            values: self
                .preference
                .iter()
                .map(|each| each.measure(&queue))
                .collect(),
            total: sums.shares[0],
            sums: Some(sums),
        }
    }

    /// The criteria that are something for a class alone or for all in one queue; the error where none is.
    pub fn telling(&mut self) -> Vec<Criterion> {
        let count = self.demands.len();
        let mut extremes: Vec<ClassSet> = (0..count).map(ClassSet::one).collect();
        extremes.push((0..count).collect());
        let queues: Vec<Rc<Queue>> = extremes.into_iter().map(|each| self.of(each)).collect();
        let telling = |at: &usize| queues.iter().any(|queue| queue.values[*at] != 0.0);
        let found: Vec<Criterion> = (0..self.preference.len())
            .filter(telling)
            .map(|at| self.preference[at])
            .collect();
        if found.is_empty() {
            vec![Criterion::Error]
        } else {
            found
        }
    }

    /// The values of all queues when one queue gets others than `old`, none of which is lower than before.
    pub fn exchange(&self, values: &[f64], old: &[f64], new: &[f64]) -> Values {
        let exchanged = self.preference.iter().enumerate().map(|(at, criterion)| {
            if criterion.largest() {
                values[at].max(new[at])
            } else {
                values[at] + new[at] - old[at]
            }
        });
        exchanged.collect()
    }

    /// Values of all queues to compare, without the noise of sums.
    pub fn key(&self, values: &[f64]) -> Values {
        let mut key = values.to_vec();
        if self.preference.last() == Some(&Criterion::Errors) {
            let last = key.len() - 1;
            key[last] = round(key[last]);
        }
        key
    }
}

fn joined_by(before: Option<&Sums>, demand: &Demand, parted: u32) -> Sums {
    let Some(before) = before else {
        return Sums {
            shares: demand.shares.clone(),
            least: demand.shares.clone(),
            classes: 1,
            parted,
            alone: demand.alone,
            kinds: demand.kinds,
            common: demand.kinds,
        };
    };
    let rates = || demand.shares.iter();
    Sums {
        shares: before
            .shares
            .iter()
            .zip(rates())
            .map(|(sum, share)| sum + share)
            .collect(),
        least: before
            .least
            .iter()
            .zip(rates())
            .map(|(least, share)| least.min(*share))
            .collect(),
        classes: before.classes + 1,
        parted: before.parted + parted,
        alone: before.alone || demand.alone,
        kinds: before.kinds.union(demand.kinds),
        common: before.common.intersection(demand.kinds),
    }
}

/// Which of two values is preferred: the first criterion that tells them decides.
pub fn compare(one: &[f64], other: &[f64]) -> Ordering {
    let differing = one.iter().zip(other).find(|(a, b)| a != b);
    differing.map_or(Ordering::Equal, |(a, b)| a.total_cmp(b))
}

const NINTH: f64 = 1e9;

/// The nearest number with nine decimal places; of two as near the one with the even last place.
pub fn round(value: f64) -> f64 {
    let scaled = value * NINTH;
    let whole = scaled.round();
    // Away from the middle between two of them, and small enough, the product's own error changes nothing.
    if ((scaled - whole).abs() - 0.5).abs() > 1e-3 && scaled.abs() < 1e12 {
        return whole / NINTH;
    }
    format!("{value:.9}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn rounds_to_nine_places_by_the_number_itself() {
        assert_eq!(round(0.1 + 0.2), 0.3);
        assert_eq!(round(0.12), 0.12);
        // Exactly in the middle, as a binary number can be: to the even place.
        assert_eq!(round(1.0 / 1024.0), 0.000_976_562);
        assert_eq!(round(3.0 / 1024.0), 0.002_929_688);
        // The decimal number is in the middle, the binary one above it, and below it.
        assert_eq!(round(1.000_000_000_5), 1.000_000_001);
        assert_eq!(round(1.000_000_001_5), 1.000_000_001);
        assert_eq!(round(1e300), 1e300);
    }
}
