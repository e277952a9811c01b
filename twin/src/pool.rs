//! Buffer that several queues share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A pool of packets or bytes. What is reserved for its queues lies apart.
///
/// A run is one thread; the counters are atomic because a run may be handed to another thread,
/// and are read and written one after the other.
#[derive(Debug)]
pub struct Pool {
    pub in_bytes: bool,
    pub size: u64,
    /// The size less all reservations.
    shared: u64,
    /// Of the shared part.
    used: AtomicU64,
    held: AtomicU64,
    /// The most that was held, reservations included.
    peak: AtomicU64,
}

impl Pool {
    /// `reserved`: of all queues together, no more than `size`.
    pub fn new(size: u64, in_bytes: bool, reserved: u64) -> Self {
        Self {
            in_bytes,
            size,
            shared: size.saturating_sub(reserved),
            used: AtomicU64::new(0),
            held: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        }
    }

    pub fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

/// One queue's part in a pool.
#[derive(Debug)]
pub struct PoolShare {
    pool: Arc<Pool>,
    reserved: u64,
    /// Choudhury and Hahne (1998): the queue may grow while it holds less than this times the
    /// free space.
    alpha: Option<f64>,
    held: u64,
}

impl PoolShare {
    pub fn new(pool: Arc<Pool>, reserved: u64, alpha: Option<f64>) -> Self {
        Self {
            pool,
            reserved,
            alpha,
            held: 0,
        }
    }

    /// Is there room for a packet of so many bytes?
    pub fn admits(&self, bytes: u32) -> bool {
        let before = self.held.saturating_sub(self.reserved);
        let after = (self.held + self.cost(bytes)).saturating_sub(self.reserved);
        if after == 0 {
            return true;
        }
        let free = self.pool.shared - self.pool.used.load(Relaxed);
        after - before <= free
            && (self.alpha).is_none_or(|alpha| (before as f64) < alpha * free as f64)
    }

    /// Only what was admitted.
    pub fn take(&mut self, bytes: u32) {
        let (before, cost) = (self.excess(), self.cost(bytes));
        self.held += cost;
        let pool = &*self.pool;
        add(&pool.used, self.excess() - before);
        let held = add(&pool.held, cost);
        pool.peak.store(held.max(pool.peak()), Relaxed);
    }

    pub fn give_back(&mut self, bytes: u32) {
        let (before, cost) = (self.excess(), self.cost(bytes));
        self.held -= cost;
        subtract(&self.pool.used, before - self.excess());
        subtract(&self.pool.held, cost);
    }

    /// Gives a packet's room back if there is room for the other then.
    pub fn exchange(&mut self, old_bytes: u32, new_bytes: u32) -> bool {
        self.give_back(old_bytes);
        let admitted = self.admits(new_bytes);
        if !admitted {
            self.take(old_bytes);
        }
        admitted
    }

    /// Held of the shared part.
    fn excess(&self) -> u64 {
        self.held.saturating_sub(self.reserved)
    }

    fn cost(&self, bytes: u32) -> u64 {
        if self.pool.in_bytes { bytes.into() } else { 1 }
    }
}

/// Plain read and write: cheaper than an atomic addition, and there is one thread.
fn add(counter: &AtomicU64, amount: u64) -> u64 {
    let sum = counter.load(Relaxed) + amount;
    counter.store(sum, Relaxed);
    sum
}

fn subtract(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed) - amount, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(share: &mut PoolShare, bytes: u32) -> u64 {
        let mut taken = 0;
        while share.admits(bytes) {
            share.take(bytes);
            taken += 1;
        }
        taken
    }

    #[test]
    fn reservations_are_kept_free() {
        let pool = Arc::new(Pool::new(100, false, 30));
        let mut greedy = PoolShare::new(pool.clone(), 10, None);
        let mut late = PoolShare::new(pool.clone(), 20, None);
        assert_eq!(fill(&mut greedy, 1500), 80);
        assert_eq!(fill(&mut late, 1500), 20);
        assert_eq!(pool.peak(), 100);
        greedy.give_back(1500);
        assert_eq!(fill(&mut late, 1500), 1);
        assert!(late.exchange(1500, 64));
        late.take(64);
        assert!(!greedy.admits(1500));
    }

    #[test]
    fn bytes_need_room_for_the_whole_packet() {
        let pool = Arc::new(Pool::new(3_000, true, 0));
        let mut share = PoolShare::new(pool.clone(), 0, None);
        assert_eq!(fill(&mut share, 1_000), 3);
        share.give_back(1_000);
        assert!(!share.admits(1_001));
        assert_eq!(pool.peak(), 3_000);
    }

    /// n queues that want more each get alpha·B/(1 + n·alpha).
    #[test]
    fn dynamic_thresholds_share_evenly() {
        let pool = Arc::new(Pool::new(1_200, false, 0));
        let mut shares: Vec<_> = (0..5)
            .map(|_| PoolShare::new(pool.clone(), 0, Some(1.0)))
            .collect();
        for _ in 0..1_200 {
            for share in &mut shares {
                if share.admits(64) {
                    share.take(64);
                }
            }
        }
        for share in &shares {
            assert!(share.held.abs_diff(200) <= 1, "{}", share.held);
        }
        // One alone gets half.
        let pool = Arc::new(Pool::new(1_200, false, 0));
        assert_eq!(fill(&mut PoolShare::new(pool, 0, Some(1.0)), 64), 600);
    }
}
