//! A set of places, as bits.

/// One more than the highest place.
pub const CAPACITY: usize = WORDS * 64;
const WORDS: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassSet([u64; WORDS]);

impl ClassSet {
    /// The set of one place, below [`CAPACITY`].
    pub fn one(place: usize) -> Self {
        let mut words = [0; WORDS];
        words[place / 64] = 1 << (place % 64);
        Self(words)
    }

    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    pub fn intersection(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    pub fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    /// The highest place, none of the empty set.
    pub fn last(self) -> Option<usize> {
        let at = self.0.iter().rposition(|word| *word != 0)?;
        Some(at * 64 + 63 - self.0[at].leading_zeros() as usize)
    }

    /// The places in ascending order.
    pub fn places(self) -> impl Iterator<Item = usize> {
        (0..CAPACITY).filter(move |place| self.0[place / 64] >> (place % 64) & 1 == 1)
    }
}

impl FromIterator<usize> for ClassSet {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        places
            .into_iter()
            .fold(Self::default(), |set, place| set.union(Self::one(place)))
    }
}
