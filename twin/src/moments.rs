//! Exact count, mean, variance and extremes of a stream of times.

/// Sums are whole numbers: nothing is lost over any number of values, and a variance is the
/// exact one rounded once.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    count: u64,
    sum: u128,
    squares: Wide,
    min: u64,
    max: u64,
}

impl Moments {
    pub fn add(&mut self, value: u64) {
        if self.count == 0 {
            self.min = value;
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        self.squares.add(u128::from(value) * u128::from(value));
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| {
            // Whole and part apart: a sum beyond 2^53 would lose the part.
            let count = u128::from(self.count);
            (self.sum / count) as f64 + (self.sum % count) as f64 / self.count as f64
        })
    }

    /// Standard deviation of the values seen (divisor n).
    pub fn sd(&self) -> Option<f64> {
        (self.count > 0).then(|| {
            let count = u128::from(self.count);
            // About the whole part q of the mean, where nothing cancels: the sum of (v - q)²
            // is that of v² less 2 q times the sum plus n q².
            let (whole, rest) = (self.sum / count, self.sum % count);
            let about = (self.squares)
                .less(Wide::product(self.sum, whole as u64))
                .less(Wide::product(self.sum - count * whole, whole as u64));
            let mean_square = about.to_f64() / self.count as f64;
            let part = rest as f64 / self.count as f64;
            (mean_square - part * part).max(0.0).sqrt()
        })
    }

    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
}

/// 192 bits, enough for 2^64 squares of 64 bits each.
#[derive(Debug, Clone, Copy, Default)]
struct Wide {
    low: u128,
    high: u64,
}

impl Wide {
    fn add(&mut self, value: u128) {
        let (low, carried) = self.low.overflowing_add(value);
        self.low = low;
        self.high += u64::from(carried);
    }

    fn less(self, other: Self) -> Self {
        let (low, borrowed) = self.low.overflowing_sub(other.low);
        let high = self.high.wrapping_sub(other.high);
        Self {
            low,
            high: high.wrapping_sub(u64::from(borrowed)),
        }
    }

    fn product(a: u128, b: u64) -> Self {
        let b = u128::from(b);
        let mask = u128::from(u64::MAX);
        let (low, high) = ((a & mask) * b, (a >> 64) * b);
        let mut product = Self {
            low,
            high: (high >> 64) as u64,
        };
        product.add(high << 64);
        product
    }

    fn to_f64(self) -> f64 {
        self.high as f64 * (u128::MAX as f64) + self.low as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Moments {
        let mut moments = Moments::default();
        values.into_iter().for_each(|v| moments.add(v));
        moments
    }

    #[test]
    fn none_and_few() {
        let none = of([]);
        assert_eq!((none.mean(), none.sd(), none.min()), (None, None, None));
        let few = of([2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((few.mean(), few.sd()), (Some(5.0), Some(2.0)));
        assert_eq!((few.min(), few.max()), (Some(2), Some(9)));
        assert_eq!(of([u64::MAX; 3]).sd(), Some(0.0));
    }

    #[test]
    fn a_picosecond_of_spread_shows_in_a_second_of_delay() {
        // Squares of 10^12 need 80 bits: a float would have lost the spread.
        let values = (0..1_000_000u64).map(|i| 1_000_000_000_000 + i % 2);
        let moments = of(values);
        assert_eq!(moments.mean(), Some(1_000_000_000_000.5));
        assert_eq!(moments.sd(), Some(0.5));
    }

    #[test]
    fn an_outlier_first_takes_nothing_away() {
        let others = (0..9_999u64).map(|i| 1_000_000_000 + 3 * (i % 3));
        let moments = of([1_000_000_000_000_000_000].into_iter().chain(others));
        let n = 10_000.0f64;
        let far = 1e18 - 1e9 - 3.0;
        // Between one value and the rest: far² (n - 1) / n²; the rest adds 6 (n - 1) / n.
        let expected = (far * far * (n - 1.0) / n / n + 6.0 * (n - 1.0) / n).sqrt();
        let sd = moments.sd().unwrap_or_default();
        assert!((sd / expected - 1.0).abs() < 1e-12, "{sd} {expected}");
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let moments = of((0..1000).map(|i| if i % 2 == 0 { 0 } else { u64::MAX }));
        let half = u64::MAX as f64 / 2.0;
        assert_eq!(moments.mean(), Some(half));
        assert!((moments.sd().unwrap_or_default() / half - 1.0).abs() < 1e-12);
    }
}
