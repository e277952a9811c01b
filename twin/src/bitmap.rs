//! A set of small numbers that finds its next member in a few steps.

const WORD: usize = 64;

#[derive(Debug)]
pub struct Bitmap {
    words: Vec<u64>,
    /// Which words are not 0.
    summary: Vec<u64>,
}

impl Bitmap {
    /// For members below `size`.
    pub fn new(size: usize) -> Self {
        let words = size.div_ceil(WORD).max(1);
        Self {
            words: vec![0; words],
            summary: vec![0; words.div_ceil(WORD)],
        }
    }

    #[inline]
    pub fn set(&mut self, member: usize) {
        let word = member / WORD;
        self.words[word] |= 1 << (member % WORD);
        self.summary[word / WORD] |= 1 << (word % WORD);
    }

    #[inline]
    pub fn clear(&mut self, member: usize) {
        let word = member / WORD;
        self.words[word] &= !(1 << (member % WORD));
        if self.words[word] == 0 {
            self.summary[word / WORD] &= !(1 << (word % WORD));
        }
    }

    /// The first member at `from` or after it, else the first of all.
    #[inline]
    pub fn next_from(&self, from: usize) -> Option<usize> {
        let word = from / WORD;
        let here = self.words[word] & (u64::MAX << (from % WORD));
        if here != 0 {
            return Some(word * WORD + here.trailing_zeros() as usize);
        }
        let word = self.word_from(word + 1).or_else(|| self.word_from(0))?;
        Some(word * WORD + self.words[word].trailing_zeros() as usize)
    }

    fn word_from(&self, from: usize) -> Option<usize> {
        let mut at = from / WORD;
        let mut here = self.summary.get(at)? & (u64::MAX << (from % WORD));
        while here == 0 {
            at += 1;
            here = *self.summary.get(at)?;
        }
        Some(at * WORD + here.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_around_the_ring() {
        for size in [64, 128, 4096, 1 << 15] {
            let mut bitmap = Bitmap::new(size);
            assert_eq!(bitmap.next_from(size - 1), None);
            let members = [0, 5, 63, size / 2 + 1, size - 1];
            for member in members {
                bitmap.set(member);
            }
            for from in 0..size {
                let after = members.iter().copied().filter(|m| *m >= from).min();
                assert_eq!(bitmap.next_from(from), Some(after.unwrap_or(0)));
            }
            for member in members {
                bitmap.clear(member);
            }
            assert_eq!(bitmap.next_from(0), None);
        }
    }
}
