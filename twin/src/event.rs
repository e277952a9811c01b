//! The event queue: by time, and at one instant in the order of scheduling.
//!
//! A calendar queue (Brown, Communications of the ACM 31(10), 1988): a ring of days, each with its
//! events in order, and a heap for what lies beyond a year. Days are made as long as keeps them
//! short, so that both ends cost the same for dozens of events under way and for thousands. Fewer
//! are kept in order in a ring.

mod small_queue;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::bitmap::Bitmap;
use crate::packet::{FlowId, PacketId};
use crate::source::tcp::TimerId;
use small_queue::{SMALL, SmallQueue};

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A source sends.
    Source(FlowId),
    /// A port has sent the last bit of a frame.
    Sent(u32),
    /// A packet is received, or as much of it as its forwarding waits for.
    Arrival(PacketId),
    /// A node's forwarding engine is done with a packet.
    Forwarded(PacketId),
    /// A shaped queue of a port becomes eligible.
    Wake(u32),
    /// A timer of a TCP connection may have run out.
    Tcp(TimerId),
    /// The far end of a probe sends its answer.
    Answer(PacketId),
}

const NONE: u32 = u32::MAX;
/// About a microsecond, to begin with.
const FIRST_SHIFT: u32 = 20;
const FIRST_DAYS: usize = 64;
const MOST_DAYS: usize = 1 << 18;
/// Pushes between two looks at how the days fit.
const REVIEW: u64 = 4096;

#[derive(Debug, Clone, Copy)]
struct Entry {
    at_ps: u64,
    event: Event,
    /// The next of its day, or of the free ones.
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct Day {
    first: u32,
    last: u32,
}

const EMPTY: Day = Day {
    first: NONE,
    last: NONE,
};

#[derive(Debug)]
pub struct EventQueue {
    /// All events, unless the calendar has them.
    small: SmallQueue,
    /// The calendar has them.
    many: bool,
    entries: Vec<Entry>,
    free: u32,
    /// As many as a power of two; day n of all time is at n modulo their number.
    days: Vec<Day>,
    busy: Bitmap,
    /// A day lasts 2^shift ps.
    shift: u32,
    /// The day of the last event popped.
    today: u64,
    /// Events in `days`.
    near: usize,
    /// Beyond the year that begins today, with the order of their scheduling.
    far: BinaryHeap<Reverse<(u64, u64, Event)>>,
    far_pushed: u64,
    fit: Fit,
}

/// How the days fit, since the last look.
#[derive(Debug, Default)]
struct Fit {
    pushed: u64,
    /// Entries passed by to find a place.
    passed: u64,
    far: u64,
    next_review: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            small: SmallQueue::default(),
            many: false,
            entries: Vec::new(),
            free: NONE,
            days: vec![EMPTY; FIRST_DAYS],
            busy: Bitmap::new(FIRST_DAYS),
            shift: FIRST_SHIFT,
            today: 0,
            near: 0,
            far: BinaryHeap::new(),
            far_pushed: 0,
            fit: Fit {
                next_review: 64,
                ..Fit::default()
            },
        }
    }
}

impl EventQueue {
    #[inline]
    pub fn push(&mut self, at_ps: u64, event: Event) {
        if !self.many && self.small.len() < SMALL {
            self.small.insert(at_ps, event);
        } else {
            self.push_to_many(at_ps, event);
        }
    }

    fn push_to_many(&mut self, at_ps: u64, event: Event) {
        if !self.many {
            self.spill();
        }
        self.fit.pushed += 1;
        if self.fit.pushed >= self.fit.next_review {
            self.review();
            if self.near + self.far.len() <= SMALL / 2 {
                self.gather();
                self.small.insert(at_ps, event);
                return;
            }
        }
        self.put(at_ps, event);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Event)> {
        if self.many {
            self.pop_of_many()
        } else {
            self.small.pop()
        }
    }

    /// Gives all events to the calendar, which is empty.
    #[cold]
    fn spill(&mut self) {
        self.many = true;
        let mut first = true;
        while let Some((at_ps, event)) = self.small.pop() {
            if std::mem::take(&mut first) {
                self.today = at_ps >> self.shift;
            }
            self.put(at_ps, event);
        }
    }

    /// Takes all events, a few, out of the calendar.
    #[cold]
    fn gather(&mut self) {
        while let Some((at_ps, event)) = self.pop_of_many() {
            self.small.insert(at_ps, event);
        }
        self.many = false;
    }

    fn pop_of_many(&mut self) -> Option<(u64, Event)> {
        if self.near == 0 {
            let Reverse((at_ps, ..)) = self.far.peek()?;
            self.today = at_ps >> self.shift;
            self.admit();
        }
        let mask = self.days.len() - 1;
        let place = self.today as usize & mask;
        let found = self.busy.next_from(place)?;
        let day = &mut self.days[found];
        let id = day.first;
        let entry = self.entries[id as usize];
        day.first = entry.next;
        if entry.next == NONE {
            self.busy.clear(found);
        }
        self.entries[id as usize].next = self.free;
        self.free = id;
        self.near -= 1;
        if found != place {
            self.today += (found.wrapping_sub(place) & mask) as u64;
            self.admit();
        }
        Some((entry.at_ps, entry.event))
    }

    /// Most events that waited at a time since the days were made anew, and what lies far off.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.small.len() + self.entries.len() + self.far.len()
    }

    #[inline]
    fn put(&mut self, at_ps: u64, event: Event) {
        let day = (at_ps >> self.shift).max(self.today);
        if day - self.today < self.days.len() as u64 {
            self.enter(at_ps, event, day);
        } else {
            self.fit.far += 1;
            self.far.push(Reverse((at_ps, self.far_pushed, event)));
            self.far_pushed += 1;
        }
    }

    /// Puts an event behind all that are not later.
    #[inline]
    fn enter(&mut self, at_ps: u64, event: Event, day: u64) {
        let id = self.allocate(at_ps, event);
        self.near += 1;
        let place = day as usize & (self.days.len() - 1);
        let Day { first, last } = self.days[place];
        if first == NONE {
            self.days[place] = Day {
                first: id,
                last: id,
            };
            self.busy.set(place);
        } else if self.entries[last as usize].at_ps <= at_ps {
            self.entries[last as usize].next = id;
            self.days[place].last = id;
        } else if self.entries[first as usize].at_ps > at_ps {
            self.entries[id as usize].next = first;
            self.days[place].first = id;
        } else {
            let mut before = first;
            let mut next = self.entries[first as usize].next;
            while self.entries[next as usize].at_ps <= at_ps {
                before = next;
                next = self.entries[next as usize].next;
                self.fit.passed += 1;
            }
            self.entries[id as usize].next = next;
            self.entries[before as usize].next = id;
            self.fit.passed += 1;
        }
    }

    #[inline]
    fn allocate(&mut self, at_ps: u64, event: Event) -> u32 {
        let entry = Entry {
            at_ps,
            event,
            next: NONE,
        };
        let id = self.free;
        if id == NONE {
            self.entries.push(entry);
            return (self.entries.len() - 1) as u32;
        }
        self.free = self.entries[id as usize].next;
        self.entries[id as usize] = entry;
        id
    }

    /// Takes in what the year has come to.
    #[inline]
    fn admit(&mut self) {
        if !self.far.is_empty() {
            self.admit_far();
        }
    }

    fn admit_far(&mut self) {
        let end = self.today + self.days.len() as u64;
        while let Some(Reverse((at_ps, _, event))) = self.far.peek().copied()
            && at_ps >> self.shift < end
        {
            self.far.pop();
            self.enter(at_ps, event, at_ps >> self.shift);
        }
    }

    /// Makes days shorter where events crowd, longer or more where too many lie beyond the year.
    fn review(&mut self) {
        let Fit {
            pushed,
            passed,
            far,
            ..
        } = self.fit;
        let days = self.days.len();
        let wanted = (4 * self.near).next_power_of_two().clamp(days, MOST_DAYS);
        let crowded = passed > pushed / 4;
        let beyond = far > pushed / 8;
        let (days, shift) = match (crowded, beyond) {
            (true, _) => (wanted, self.shift.saturating_sub(2)),
            (false, true) if passed < pushed / 32 => (wanted, (self.shift + 1).min(60)),
            (false, true) => ((2 * days).clamp(wanted, MOST_DAYS), self.shift),
            (false, false) => (wanted, self.shift),
        };
        if (days, shift) != (self.days.len(), self.shift) {
            self.rebuild(days, shift);
        }
        self.fit = Fit {
            next_review: REVIEW.max(self.near as u64),
            ..Fit::default()
        };
    }

    fn rebuild(&mut self, days: usize, shift: u32) {
        let mut events = Vec::with_capacity(self.near);
        let mask = self.days.len() - 1;
        for day in 0..self.days.len() {
            let mut id = self.days[(self.today as usize + day) & mask].first;
            while id != NONE {
                let entry = self.entries[id as usize];
                events.push((entry.at_ps, entry.event));
                id = entry.next;
            }
        }
        let now_ps = self.today << self.shift;
        self.today = now_ps >> shift;
        self.shift = shift;
        self.days.clear();
        self.days.resize(days, EMPTY);
        self.busy = Bitmap::new(days);
        self.entries.clear();
        self.free = NONE;
        self.near = 0;
        for (at_ps, event) in events {
            self.put(at_ps, event);
        }
        self.admit();
    }
}
