//! Whole numbers for schedulers that hold no others: those that come nearest to exact shares.

use std::cmp::Ordering;

/// Errors that differ by less are alike.
const SAME: f64 = 1e-9;

/// Whole numbers of at least 1 with the sum `total` that come nearest to `exact` ones with the same sum.
///
/// What is left goes where it brings most, of places alike to the first ones. `total` is not smaller than the number of
/// places, else the numbers come to more.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
pub fn whole_numbers(exact: &[f64], total: u32) -> Vec<u32> {
    let mut whole: Vec<u32> = exact.iter().map(|value| (*value as u32).max(1)).collect();
    let sum: u32 = whole.iter().sum();
    if let Some(left) = total.checked_sub(sum).filter(|left| *left > 0) {
        let gain = |at: usize| {
            let below = f64::from(whole[at]);
            (below - exact[at]).abs() - (below + 1.0 - exact[at]).abs()
        };
        let mut places: Vec<usize> = (0..exact.len()).collect();
        places.sort_by(|a, b| gain(*b).total_cmp(&gain(*a)));
        for place in places.into_iter().take(left as usize) {
            whole[place] += 1;
        }
    }
    for _ in total..sum {
        // Numbers below 1 took more than theirs: the one that is most above its exact value is lowered.
        let above = |at: usize| f64::from(whole[at]) - exact[at];
        let mut most: Option<usize> = None;
        for at in (0..whole.len()).filter(|at| whole[*at] > 1) {
            if most.is_none_or(|best| above(at).total_cmp(&above(best)) == Ordering::Greater) {
                most = Some(at);
            }
        }
        let Some(most) = most else { break };
        whole[most] -= 1;
    }
    whole
}

/// The first of the whole numbers near to `shares` of the sums `totals` whose largest error of a share is smallest.
///
/// Errors are against all of the `targets`. It ends before numbers above `highest`.
pub fn nearest_whole(
    targets: &[Vec<f64>],
    shares: &[f64],
    totals: impl Iterator<Item = u32>,
    highest: u32,
) -> Vec<u32> {
    let (mut best, mut least) = (vec![1; shares.len()], f64::INFINITY);
    for total in totals {
        let exact: Vec<f64> = shares
            .iter()
            .map(|share| f64::from(total) * share)
            .collect();
        let whole = whole_numbers(&exact, total);
        if whole.iter().any(|number| *number > highest) {
            break;
        }
        let sum = f64::from(whole.iter().sum::<u32>());
        let errors = targets.iter().flat_map(|target| {
            let of = target.iter().zip(&whole);
            of.map(|(share, number)| (f64::from(*number) / sum - share).abs())
        });
        let error = errors.fold(0.0, f64::max);
        if error < least - SAME {
            (best, least) = (whole, error);
        }
        if least < SAME {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_where_it_brings_most() {
        assert_eq!(whole_numbers(&[1.5, 2.6, 5.9], 10), [1, 3, 6]);
        assert_eq!(whole_numbers(&[2.5, 2.5], 5), [3, 2]); // alike: the first
    }

    #[test]
    fn numbers_below_one_are_taken_from_the_one_most_above_its_own() {
        assert_eq!(whole_numbers(&[0.1, 0.2, 9.7], 10), [1, 1, 8]);
        assert_eq!(whole_numbers(&[0.2, 0.3], 1), [1, 1]); // no place is without one
    }

    #[test]
    fn the_smallest_numbers_in_the_ratio_are_found() {
        let shares = [0.25, 0.25, 0.5];
        assert_eq!(
            nearest_whole(&[shares.to_vec()], &shares, 3..=765, 255),
            [1, 1, 2]
        );
    }

    #[test]
    fn numbers_above_the_highest_end_it() {
        let shares = [0.99, 0.01];
        assert_eq!(
            nearest_whole(&[shares.to_vec()], &shares, 2..=30, 15),
            [15, 1]
        );
    }
}
