//! The receiving half: order, delayed acknowledgements (RFC 1122, 5681), selective ones (RFC
//! 2018) and the timestamp to echo (RFC 7323).

use super::segment::{MAX_RANGES, Range};
use super::spec::Options;
use super::timer::Timer;

#[derive(Debug)]
pub struct Receiver {
    /// Delayed acknowledgement.
    pub timer: Timer,
    next: u64,
    /// Held beyond holes, the one that grew last first.
    held: Vec<Range>,
    /// Segments that no acknowledgement has covered yet.
    waiting: u32,
    /// Still to be acknowledged at once.
    quick: u32,
    echo_ps: Option<u64>,
    /// Congestion was experienced and the sender has not said that it knows.
    congested: bool,
    delay_ps: u64,
    every: u32,
    quick_ack: u32,
}

/// Whether a segment asks for an acknowledgement at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Now,
    Later,
}

impl Receiver {
    pub fn new(options: &Options) -> Self {
        Self {
            timer: Timer::default(),
            next: 0,
            held: Vec::new(),
            waiting: 0,
            quick: options.quick_ack,
            echo_ps: None,
            congested: false,
            delay_ps: options.delayed_ack_ps,
            every: options.ack_every,
            quick_ack: options.quick_ack,
        }
    }

    pub fn reset(&mut self) {
        self.timer.clear();
        self.next = 0;
        self.held.clear();
        self.waiting = 0;
        self.quick = self.quick_ack;
        self.echo_ps = None;
        self.congested = false;
    }

    /// The segment expected next.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn echo_ps(&self) -> Option<u64> {
        self.echo_ps
    }

    /// The marks of a segment with data (RFC 3168 §6.1.3).
    pub fn notice(&mut self, ce: bool, cwr: bool) {
        self.congested = ce || self.congested && !cwr;
    }

    pub fn saw_congestion(&self) -> bool {
        self.congested
    }

    /// A segment came that was sent at `sent_ps`.
    pub fn received(&mut self, segment: u64, sent_ps: u64, now_ps: u64) -> Reply {
        let in_order = segment == self.next;
        let whole = self.held.is_empty();
        // RFC 7323 §4.3: the oldest segment not yet acknowledged is the one to echo.
        if segment <= self.next && self.waiting == 0 || self.echo_ps.is_none() {
            self.echo_ps = Some(sent_ps);
        }
        if in_order {
            self.next += 1;
            if !whole {
                self.close_hole();
            }
        } else if segment > self.next {
            self.hold(segment);
        }
        let may_wait = in_order && whole && self.delay_ps > 0 && self.quick == 0;
        self.quick = self.quick.saturating_sub(1);
        self.waiting += 1;
        if !may_wait || self.waiting >= self.every {
            return Reply::Now;
        }
        if !self.timer.is_set() {
            self.timer.set(now_ps.saturating_add(self.delay_ps));
        }
        Reply::Later
    }

    /// An acknowledgement leaves, alone or with data.
    pub fn acknowledged(&mut self) {
        self.waiting = 0;
        self.timer.clear();
    }

    fn close_hole(&mut self) {
        if let Some(place) = self.held.iter().position(|(from, _)| *from == self.next) {
            self.next = self.held.remove(place).1;
        }
    }

    fn hold(&mut self, segment: u64) {
        let mut range = (segment, segment + 1);
        self.held.retain(|&(from, end)| {
            let touches = from <= range.1 && range.0 <= end;
            if touches {
                range = (from.min(range.0), end.max(range.1));
            }
            !touches
        });
        self.held.insert(0, range);
    }

    /// Up to `most` ranges to report, the newest first, and how many.
    pub fn ranges(&self, most: usize) -> ([Range; MAX_RANGES], u8) {
        let mut ranges = [(0, 0); MAX_RANGES];
        let count = self.held.len().min(most);
        ranges[..count].copy_from_slice(&self.held[..count]);
        (ranges, count as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(options: Options) -> Receiver {
        Receiver::new(&options)
    }

    #[test]
    fn every_second_segment_or_the_timer() {
        let mut receiver = receiver(Options::default());
        assert_eq!(receiver.received(0, 0, 5), Reply::Later);
        assert_eq!(receiver.timer.next_event(), Some(200_000_000_005));
        assert_eq!(receiver.received(1, 0, 6), Reply::Now);
        receiver.acknowledged();
        assert!(!receiver.timer.fired(200_000_000_005));
    }

    #[test]
    fn the_first_segments_may_be_answered_quickly() {
        let mut receiver = receiver(Options {
            quick_ack: 1,
            ..Options::default()
        });
        assert_eq!(receiver.received(0, 0, 0), Reply::Now);
        receiver.acknowledged();
        assert_eq!(receiver.received(1, 0, 0), Reply::Later);
    }

    #[test]
    fn holes_are_reported_newest_first_and_closed_at_once() {
        let mut receiver = receiver(Options::default());
        for segment in [2, 3, 6, 9, 8] {
            assert_eq!(receiver.received(segment, 0, 0), Reply::Now);
            receiver.acknowledged();
        }
        let (ranges, count) = receiver.ranges(MAX_RANGES);
        assert_eq!(&ranges[..count.into()], &[(8, 10), (6, 7), (2, 4)]);
        assert_eq!(receiver.ranges(2).1, 2);
        for (segment, next) in [(0, 1), (1, 4), (5, 4), (4, 7), (7, 10)] {
            assert_eq!(receiver.received(segment, 0, 0), Reply::Now);
            receiver.acknowledged();
            assert_eq!(receiver.next(), next);
        }
        assert_eq!(receiver.ranges(MAX_RANGES).1, 0);
        // Old ones are answered too, so that the sender learns.
        assert_eq!(receiver.received(3, 0, 0), Reply::Now);
    }

    #[test]
    fn the_oldest_unanswered_timestamp_is_echoed() {
        let mut receiver = receiver(Options::default());
        receiver.received(0, 10, 20);
        receiver.received(1, 11, 21);
        assert_eq!(receiver.echo_ps(), Some(10));
        receiver.acknowledged();
        receiver.received(3, 13, 23);
        assert_eq!(receiver.echo_ps(), Some(10));
        receiver.acknowledged();
        receiver.received(2, 30, 40);
        assert_eq!(receiver.echo_ps(), Some(30));
    }
}
