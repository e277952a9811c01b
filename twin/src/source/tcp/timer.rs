//! A timer that is moved far more often than it runs out.

/// Its event is scheduled once and, if it comes before the deadline, again: moving the deadline
/// costs no event.
#[derive(Debug, Default)]
pub struct Timer {
    deadline_ps: Option<u64>,
    /// Time of the earliest event under way.
    armed_ps: Option<u64>,
}

impl Timer {
    pub fn set(&mut self, at_ps: u64) {
        self.deadline_ps = Some(at_ps);
    }

    pub fn clear(&mut self) {
        self.deadline_ps = None;
    }

    pub fn is_set(&self) -> bool {
        self.deadline_ps.is_some()
    }

    /// When to be called back, unless that is settled already.
    pub fn next_event(&mut self) -> Option<u64> {
        let deadline = self.deadline_ps?;
        if self.armed_ps.is_some_and(|armed| armed <= deadline) {
            return None;
        }
        self.armed_ps = Some(deadline);
        Some(deadline)
    }

    /// An event came; true, and cleared, if the deadline is reached. Afterwards `next_event` again.
    pub fn fired(&mut self, now_ps: u64) -> bool {
        self.armed_ps = self.armed_ps.filter(|armed| *armed > now_ps);
        let due = self.deadline_ps.is_some_and(|at| at <= now_ps);
        if due {
            self.deadline_ps = None;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_event_is_followed_by_another() {
        let mut timer = Timer::default();
        timer.set(10);
        assert_eq!(timer.next_event(), Some(10));
        timer.set(25);
        assert_eq!(timer.next_event(), None);
        assert!(!timer.fired(10));
        assert_eq!(timer.next_event(), Some(25));
        timer.set(20);
        assert_eq!(timer.next_event(), Some(20));
        assert!(timer.fired(20));
        assert!(!timer.fired(25));
        assert_eq!(timer.next_event(), None);
    }
}
