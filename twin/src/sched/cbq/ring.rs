//! Weighted round robin among classes: those of one priority, or the children of one class.

/// A member's part of the bytes of a round.
#[derive(Debug)]
struct Slot {
    class: usize,
    quantum: i64,
    /// Bytes it may still send this round; below 0 it has sent ahead.
    balance: i64,
}

#[derive(Debug)]
pub struct Ring {
    slots: Vec<Slot>,
    at: usize,
    /// The member at `at` has had this round's quantum.
    granted: bool,
    /// As in ns-2: a class passed over without being served starts again from 0.
    forgets: bool,
}

impl Ring {
    /// Members with shares above 0; a round is `packet_bytes` for each on average.
    pub fn new(members: &[(usize, f64)], packet_bytes: u32, forgets: bool) -> Self {
        let all: f64 = members.iter().map(|(_, share)| share).sum();
        let round = members.len() as f64 * f64::from(packet_bytes) / all;
        let slots = members.iter().map(|(class, share)| Slot {
            class: *class,
            quantum: ((share * round).round() as i64).max(1),
            balance: 0,
        });
        Self {
            slots: slots.collect(),
            at: 0,
            granted: false,
            forgets,
        }
    }

    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().map(|s| s.class)
    }

    /// The next of the members that `may` send.
    pub fn pick(&mut self, may: impl Fn(usize) -> bool) -> Option<usize> {
        if !self.slots.iter().any(|s| may(s.class)) {
            return None;
        }
        loop {
            for _ in 0..=self.slots.len() {
                let slot = &mut self.slots[self.at];
                if may(slot.class) {
                    if !self.granted {
                        slot.balance += slot.quantum;
                        self.granted = true;
                    }
                    if slot.balance > 0 {
                        return Some(slot.class);
                    }
                }
                self.pass();
            }
            if self.forgets {
                return self.pick_in_debt(may);
            }
            self.skip_rounds(&may);
        }
    }

    /// The member picked last sends so many bytes.
    pub fn charge(&mut self, bytes: u32) {
        let slot = &mut self.slots[self.at];
        slot.balance -= i64::from(bytes);
        if slot.balance <= 0 {
            self.advance();
        }
    }

    fn pass(&mut self) {
        let slot = &mut self.slots[self.at];
        slot.balance = if self.forgets { 0 } else { slot.balance.min(0) };
        self.advance();
    }

    fn advance(&mut self) {
        self.at = (self.at + 1) % self.slots.len();
        self.granted = false;
    }

    /// ns-2's second look: whoever comes next, whatever its balance.
    fn pick_in_debt(&mut self, may: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.slots.len() {
            let slot = &self.slots[self.at];
            if may(slot.class) {
                self.granted = true;
                return Some(slot.class);
            }
            self.pass();
        }
        None
    }

    /// A whole round served nobody: grants at once all rounds but the last that would not
    /// either, so that small shares cost no time.
    fn skip_rounds(&mut self, may: impl Fn(usize) -> bool) {
        let able = self.slots.iter().filter(|s| may(s.class));
        // Balances are not above 0 here; one byte above it takes so many rounds.
        let rounds = able.map(|s| (s.quantum - s.balance) / s.quantum);
        let skipped = rounds.min().unwrap_or(1) - 1;
        for slot in self.slots.iter_mut().filter(|s| may(s.class)) {
            slot.balance += skipped * slot.quantum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(forgets: bool, shares: &[f64], sizes: &[u32], turns: usize) -> Vec<f64> {
        let members: Vec<_> = shares.iter().copied().enumerate().collect();
        let mut ring = Ring::new(&members, 1000, forgets);
        let mut sent = vec![0.0; sizes.len()];
        for _ in 0..turns {
            let class = ring.pick(|c| sizes[c] > 0).unwrap();
            ring.charge(sizes[class]);
            sent[class] += f64::from(sizes[class]);
        }
        let all: f64 = sent.iter().sum();
        sent.iter().map(|b| b / all).collect()
    }

    #[test]
    fn bytes_are_in_proportion_to_shares() {
        let got = bytes(false, &[0.01, 0.29, 0.7], &[1500, 1000, 64], 100_000);
        for (got, expected) in got.iter().zip([0.01, 0.29, 0.7]) {
            assert!((got / expected - 1.0).abs() < 0.02, "{got}");
        }
    }

    #[test]
    fn forgetting_debts_favours_small_shares() {
        let got = bytes(true, &[0.01, 0.99], &[1000, 1000], 10_000);
        assert!(got[0] > 0.02, "{got:?}");
    }

    #[test]
    fn who_may_not_send_gains_nothing() {
        let got = bytes(false, &[0.1, 0.2, 0.7], &[1000, 0, 1000], 10_000);
        assert!((got[0] - 0.125).abs() < 0.001, "{got:?}");
    }
}
