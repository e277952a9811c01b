//! Units of classes, each of which is in one queue, onto queues of fixed weights with the least largest error.

const SAME: f64 = 1e-9;

/// Classes that must be in one queue, by their shares.
#[derive(Clone, Debug)]
pub struct Unit {
    pub shares: Vec<f64>,
    /// Whether they have a label already.
    pub bound: bool,
}

/// The error of an assignment, and the place of the queue of each unit.
pub type Found = (f64, Vec<usize>);

impl Unit {
    fn total(&self) -> f64 {
        self.shares.iter().sum()
    }

    fn least(&self) -> f64 {
        self.shares.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// One queue for each unit, of which there are no more: every choice of queues with every order of the units in them.
///
/// Of assignments as good, those with the smallest sum of errors are taken, and of these the largest weights. `left` is
/// what the queues share.
pub fn apart(units: &[Unit], weights: &[u32], left: f64) -> Found {
    let count = units.len();
    let mut best: Option<((f64, f64, f64), Found)> = None;
    for queues in choices(weights.len(), count) {
        let serving: u32 = queues.iter().map(|at| weights[*at]).sum();
        let errors: Vec<Vec<f64>> = queues
            .iter()
            .map(|at| errors_with(units, left * f64::from(weights[*at]) / f64::from(serving)))
            .collect();
        // Of orders alike the first one is taken: the last queue has the last of the units.
        let mut order: Vec<usize> = (0..count).collect();
        loop {
            let unit_at = |place: usize| count - 1 - order[count - 1 - place];
            let most = best.as_ref().map_or(f64::INFINITY, |(least, _)| least.0);
            let in_order = errors
                .iter()
                .enumerate()
                .map(|(place, of)| of[unit_at(place)]);
            if let Some((worst, sum)) = worst_and_sum(in_order, most) {
                let key = (nine_places(worst), nine_places(sum), -f64::from(serving));
                if best.as_ref().is_none_or(|(least, _)| key < *least) {
                    let mut places = vec![0; count];
                    for (place, queue) in queues.iter().enumerate() {
                        places[unit_at(place)] = *queue;
                    }
                    best = Some((key, (worst, places)));
                }
            }
            if !next_order(&mut order) {
                break;
            }
        }
    }
    best.map_or((f64::INFINITY, vec![0; count]), |(_, found)| found)
}

/// The error of each unit in a queue of its own with this share.
fn errors_with(units: &[Unit], share: f64) -> Vec<f64> {
    let error = |unit: &Unit| (share - unit.total()).abs() + (unit.total() - unit.least());
    units.iter().map(error).collect()
}

/// The largest error and the sum of all; none as soon as one is above `most`, whatever was rounded of that.
fn worst_and_sum(errors: impl Iterator<Item = f64>, most: f64) -> Option<(f64, f64)> {
    let (mut worst, mut sum) = (0.0_f64, 0.0);
    for error in errors {
        if error > most + SAME {
            return None;
        }
        worst = worst.max(error);
        sum += error;
    }
    Some((worst, sum))
}

/// Every choice of so many of `of` places, ascending, in the order of the places.
fn choices(of: usize, count: usize) -> Vec<Vec<usize>> {
    let Some(rest) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let mut found = Vec::new();
    for last in rest..of {
        for mut chosen in choices(last, rest) {
            chosen.push(last);
            found.push(chosen);
        }
    }
    found.sort();
    found
}

/// The next order of places, ascending; false after the last one.
fn next_order(order: &mut [usize]) -> bool {
    let Some(pivot) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        return false;
    };
    if let Some(with) = order.iter().rposition(|place| *place > order[pivot]) {
        order.swap(pivot, with);
    }
    order[pivot + 1..].reverse();
    true
}

fn nine_places(value: f64) -> f64 {
    (value * 1e9).round_ties_even() / 1e9
}

/// Queues that all serve: of each the part of the link, and how many may hold units alone that are not bound.
#[derive(Clone, Debug)]
pub struct FixedQueues {
    pub shares: Vec<f64>,
    pub spare: usize,
    /// An error above it is as good as no assignment.
    pub bearable: f64,
}

/// Units share queues, each of which serves one or more: the best way to serve a set of units with the first queues,
/// queue by queue. The error is infinite where no way has a bearable one. There are at most 20 units.
pub fn merged(units: &[Unit], queues: &FixedQueues) -> Found {
    let none = (f64::INFINITY, vec![0; units.len()]);
    let bound = units.iter().filter(|unit| unit.bound).count();
    if queues.shares.len() > queues.spare + bound || units.is_empty() {
        return none; // each queue beyond the spare ones needs a bound unit
    }
    let sets = Sets::new(units, queues);
    for most in rising(sets.least_error(), sets.highest_error(queues.bearable)) {
        let worst = sets.steps(f64::max, most);
        let error = sets.least_of_all(&worst);
        if error < f64::INFINITY {
            let steps = sets.steps(|one, other| one + other, error + SAME);
            return (error, sets.traced(&steps, error + SAME));
        }
    }
    none
}

/// Bounds to try one after the other: a low one leaves few sets to look at, and is soon found too low.
fn rising(least: f64, most: f64) -> impl Iterator<Item = f64> {
    let mut next = (least <= most).then_some(least);
    std::iter::from_fn(move || {
        let bound = next?;
        next = (bound < most).then(|| (1.25 * bound + 0.005).min(most));
        Some(bound)
    })
}

/// After a queue, the least combined error by the number of queues that hold unbound units alone, and by the set of
/// units that are served.
type Step = Vec<Vec<f64>>;

/// The sets of units, as bits, and their errors in each queue.
struct Sets {
    count: usize,
    spare: usize,
    bound: Vec<bool>,
    costs: Vec<Vec<f64>>,
}

impl Sets {
    fn new(units: &[Unit], queues: &FixedQueues) -> Self {
        let size = 1 << units.len();
        let (mut total, mut least) = (vec![0.0; size], vec![f64::INFINITY; size]);
        let mut bound = vec![false; size];
        for set in 1_usize..size {
            let last = set.ilog2() as usize;
            let before = set ^ 1 << last;
            total[set] = total[before] + units[last].total();
            least[set] = least[before].min(units[last].least());
            bound[set] = bound[before] || units[last].bound;
        }
        let cost = |share: f64| {
            let errors = (1..size).map(|set| (share - total[set]).abs() + total[set] - least[set]);
            std::iter::once(f64::INFINITY).chain(errors).collect() // no queue is without units
        };
        Self {
            count: units.len(),
            spare: queues.spare.min(queues.shares.len()),
            bound,
            costs: queues.shares.iter().copied().map(cost).collect(),
        }
    }

    /// Every queue serves some set, and every unit is in one.
    fn least_error(&self) -> f64 {
        let least = |errors: &mut dyn Iterator<Item = f64>| errors.fold(f64::INFINITY, f64::min);
        let of_queue = self
            .costs
            .iter()
            .map(|costs| least(&mut costs.iter().copied()));
        let of_unit = (0..self.count).map(|unit| {
            let with = (0..self.bound.len()).filter(|set| set >> unit & 1 == 1);
            least(&mut with.flat_map(|set| self.costs.iter().map(move |costs| costs[set])))
        });
        of_queue.chain(of_unit).fold(0.0, f64::max)
    }

    fn highest_error(&self, bearable: f64) -> f64 {
        let errors = self
            .costs
            .iter()
            .flat_map(|costs| costs[1..].iter().copied());
        errors.fold(0.0, f64::max).min(bearable + SAME)
    }

    /// The least combined errors, each of at most `most`, at first and after each queue. After the last queue only that
    /// of all units together is made: no other is asked for.
    fn steps(&self, combine: impl Fn(f64, f64) -> f64, most: f64) -> Vec<Step> {
        let nothing = || vec![vec![f64::INFINITY; self.bound.len()]; self.spare + 1];
        let mut start = nothing();
        start[0][0] = 0.0;
        let mut steps = vec![start];
        for (number, costs) in self.costs.iter().enumerate() {
            let (before, mut found) = (&steps[number], nothing());
            let last = number + 1 == self.costs.len();
            let parts: Vec<usize> = (1..costs.len())
                .filter(|part| costs[*part] <= most)
                .collect();
            for served in 0..self.bound.len() {
                if before.iter().all(|errors| errors[served] == f64::INFINITY) {
                    continue;
                }
                let mut take = |part: usize| {
                    let taken = usize::from(!self.bound[part]);
                    for used in taken..=self.spare {
                        let error = combine(before[used - taken][served], costs[part]);
                        let least = &mut found[used][served | part];
                        *least = least.min(error);
                    }
                };
                let rest = (self.bound.len() - 1) ^ served;
                if last {
                    if costs[rest] <= most {
                        take(rest);
                    }
                } else if parts.len() >> rest.count_ones() == 0 {
                    parts
                        .iter()
                        .copied()
                        .filter(|part| part & served == 0)
                        .for_each(&mut take);
                } else {
                    subsets(rest)
                        .filter(|part| costs[*part] <= most)
                        .for_each(&mut take);
                }
            }
            steps.push(found);
        }
        steps
    }

    fn least_of_all(&self, steps: &[Step]) -> f64 {
        let last = steps
            .last()
            .into_iter()
            .flatten()
            .filter_map(|errors| errors.last());
        last.copied().fold(f64::INFINITY, f64::min)
    }

    /// The queue of each unit where the errors, each of at most `most`, sum up to the least.
    fn traced(&self, steps: &[Step], most: f64) -> Vec<usize> {
        let mut queue_of = vec![0; self.count];
        let mut whole = self.bound.len() - 1;
        let mut used = 0;
        for (number, errors) in steps[self.costs.len()].iter().enumerate() {
            if errors[whole] < steps[self.costs.len()][used][whole] {
                used = number;
            }
        }
        for (queue, costs) in self.costs.iter().enumerate().rev() {
            let target = steps[queue + 1][used][whole] + SAME;
            for part in subsets(whole).filter(|part| costs[*part] <= most) {
                let Some(previous) = used.checked_sub(usize::from(!self.bound[part])) else {
                    continue;
                };
                if steps[queue][previous][whole ^ part] + costs[part] <= target {
                    (0..self.count)
                        .filter(|unit| part >> unit & 1 == 1)
                        .for_each(|unit| queue_of[unit] = queue);
                    (whole, used) = (whole ^ part, previous);
                    break;
                }
            }
        }
        queue_of
    }
}

/// The sets that a set contains, without the empty one, the highest number first.
fn subsets(of: usize) -> impl Iterator<Item = usize> {
    let mut next = of;
    std::iter::from_fn(move || {
        let set = next;
        next = set.wrapping_sub(1) & of;
        (set != 0).then_some(set)
    })
}
