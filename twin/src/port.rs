//! An egress port: discipline, hardware FIFO, line.

mod fragments;

use std::collections::VecDeque;

use crate::admission::{Loss, Verdict};
use crate::counters::{Counters, QueueState, Waits};
use crate::framing::Clock;
use crate::item::Item;
use crate::line::Line;
use crate::packet::PacketId;
use crate::queue::ClassQueue;
use crate::rng::Stream;
use crate::sched::{Discipline, FairQueue, Offer, Pick, Scheduler};
use fragments::Fragmenting;

/// What the hardware sends at one go: a frame or one fragment.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    pub packet: PacketId,
    /// IP bytes, after header compression.
    carried: u32,
    frame_bytes: u32,
    wire_bytes: u32,
    /// The packet begins with it.
    pub first: bool,
    /// The packet is complete with it.
    pub last: bool,
}

/// The next unit, or why there is none.
#[derive(Debug)]
enum Next {
    Unit(Unit),
    Wait(u64),
    Empty,
}

/// A started transmission, or a time to look again.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    Transmit { unit: Unit, end_ps: u64 },
    WakeAt(u64),
}

/// What the line carried inside the measured window; frames across its edges count in part.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    pub busy_ps: u64,
    pub ip_bytes: u64,
    pub frame_bytes: u64,
    pub wire_bytes: u64,
}

impl Usage {
    fn add(&mut self, unit: Unit, time_ps: u64, inside_ps: u64) {
        if inside_ps != time_ps {
            self.add_part(unit, time_ps, inside_ps);
            return;
        }
        self.busy_ps += time_ps;
        self.ip_bytes += u64::from(unit.carried);
        self.frame_bytes += u64::from(unit.frame_bytes);
        self.wire_bytes += u64::from(unit.wire_bytes);
    }

    #[cold]
    fn add_part(&mut self, unit: Unit, time_ps: u64, inside_ps: u64) {
        let part =
            |bytes: u32| (u128::from(bytes) * u128::from(inside_ps) / u128::from(time_ps)) as u64;
        self.busy_ps += inside_ps;
        self.ip_bytes += part(unit.carried);
        self.frame_bytes += part(unit.frame_bytes);
        self.wire_bytes += part(unit.wire_bytes);
    }
}

#[derive(Debug)]
pub struct Port {
    pub line: Line,
    pub queues: Vec<ClassQueue>,
    pub discipline: Discipline,
    pub usage: Usage,
    window: (u64, u64),
    clock: Clock,
    hardware: VecDeque<Unit>,
    hardware_bytes: u64,
    /// `Framing::overhead` of packets sent whole.
    whole: (u32, u32),
    /// The most urgent last: the others wait for it.
    fragmenting: Vec<Fragmenting>,
    wake_at: Option<u64>,
    arrivals: u64,
    stream: Stream,
}

impl Port {
    pub fn new(
        line: Line,
        queues: Vec<ClassQueue>,
        discipline: Discipline,
        window: (u64, u64),
        stream: Stream,
    ) -> Self {
        Self {
            clock: Clock::new(line.rate_bps),
            line,
            queues,
            discipline,
            usage: Usage::default(),
            window,
            hardware: VecDeque::new(),
            hardware_bytes: 0,
            // Without classes of their own, whole packets pass beside the fragments' sequence.
            whole: (line.framing).overhead(line.interleave && !line.multiclass),
            fragmenting: Vec::new(),
            wake_at: None,
            arrivals: 0,
            stream,
        }
    }

    fn is_priority(&self, queue: usize) -> bool {
        match &self.discipline {
            Discipline::Classes(scheduler) => scheduler.is_priority(queue),
            Discipline::Fair(_) => false,
        }
    }

    /// Takes an arrival into its queue or says what is lost instead.
    #[inline]
    pub fn offer(&mut self, mut item: Item, now_ps: u64) -> Offer {
        item.order = self.arrivals;
        self.arrivals += 1;
        let congested = self.hardware_full();
        match &mut self.discipline {
            Discipline::Classes(scheduler) => {
                let index = usize::from(item.queue);
                let queue = &mut self.queues[index];
                queue.counters.packets_in += 1;
                let verdict = if scheduler.admits(index, &item, now_ps, congested) {
                    queue.judge(&item, now_ps, &mut self.stream)
                } else {
                    Verdict::Lose(Loss::Police)
                };
                let mut offer = match verdict {
                    Verdict::Mark => Offer::Marked,
                    _ => Offer::Kept,
                };
                if let Verdict::Lose(loss) = verdict {
                    let displaced = match loss {
                        Loss::Tail => queue.displace(&item, now_ps),
                        _ => None,
                    };
                    let Some(displaced) = displaced else {
                        queue.counters.lost(loss);
                        return Offer::Refused;
                    };
                    offer = Offer::Displaced(displaced);
                }
                queue.push(item);
                queue.counters.ecn_marked += u64::from(verdict == Verdict::Mark);
                scheduler.entered(index, &self.queues);
                offer
            }
            Discipline::Fair(fair) => {
                fair.counters.packets_in += 1;
                let offer = fair.offer(item);
                if !matches!(offer, Offer::Kept) {
                    fair.counters.lost(Loss::Tail);
                }
                if let Offer::Displaced(old) = &offer {
                    fair.counters.displaced_ps += u128::from(now_ps - old.entered_ps);
                }
                offer
            }
        }
    }

    /// A policer in front of the queue dropped an arrival.
    pub fn policed(&mut self, queue: u16) {
        let counters = match &mut self.discipline {
            Discipline::Classes(_) => &mut self.queues[usize::from(queue)].counters,
            Discipline::Fair(fair) => &mut fair.counters,
        };
        counters.packets_in += 1;
        counters.lost(Loss::Police);
    }

    /// The frame on the line is out; the next one in the hardware starts.
    #[inline]
    pub fn sent(&mut self, now_ps: u64) -> Option<Action> {
        if let Some(unit) = self.hardware.pop_front() {
            self.hardware_bytes -= u64::from(unit.wire_bytes);
        }
        let next = self.hardware.front().copied()?;
        Some(self.transmit(next, now_ps))
    }

    /// The hardware takes no more now.
    #[inline]
    pub fn hardware_full(&self) -> bool {
        self.hardware.len() >= self.line.tx_fifo && self.hardware_bytes >= self.line.tx_fifo_bytes
    }

    /// Fills the hardware; call until it returns None.
    #[inline]
    pub fn pump(&mut self, now_ps: u64) -> Option<Action> {
        while !self.hardware_full() {
            match self.next_unit(now_ps) {
                Next::Unit(unit) => {
                    self.hardware_bytes += u64::from(unit.wire_bytes);
                    self.hardware.push_back(unit);
                    if self.hardware.len() == 1 {
                        return Some(self.transmit(unit, now_ps));
                    }
                }
                Next::Wait(until) => {
                    let known = (self.wake_at).is_some_and(|at| at > now_ps && at <= until);
                    if known {
                        return None;
                    }
                    self.wake_at = Some(until);
                    return Some(Action::WakeAt(until));
                }
                Next::Empty => return None,
            }
        }
        None
    }

    #[inline]
    fn transmit(&mut self, unit: Unit, now_ps: u64) -> Action {
        let time = self.clock.serialisation_ps(unit.wire_bytes);
        let end_ps = now_ps.saturating_add(time);
        let (open, close) = self.window;
        let inside = end_ps.min(close).saturating_sub(now_ps.max(open));
        self.usage.add(unit, time, inside);
        Action::Transmit { unit, end_ps }
    }

    #[inline]
    fn next_unit(&mut self, now_ps: u64) -> Next {
        if let Some(partial) = self.fragmenting.last().copied() {
            if self.line.interleave
                && partial.class < self.highest_class()
                && let Some(item) = self.take_between(partial.class, now_ps)
            {
                return Next::Unit(self.begin(&item));
            }
            return match self.cut() {
                Some(unit) => Next::Unit(unit),
                None => Next::Empty,
            };
        }
        let item = match &mut self.discipline {
            Discipline::Classes(scheduler) => match scheduler.pick(&self.queues, now_ps) {
                Pick::Queue(queue) => self.queues[queue].pop(now_ps),
                Pick::Wait(until) => return Next::Wait(until),
                Pick::Empty => None,
            },
            Discipline::Fair(fair) => {
                if let Some(until) = fair.held_until(now_ps) {
                    return Next::Wait(until);
                }
                fair.take(now_ps)
            }
        };
        match item {
            Some(item) => Next::Unit(self.begin(&item)),
            None => Next::Empty,
        }
    }

    /// The conversation of a flow with this hash in `queue`.
    pub fn conversation(&self, queue: usize, hash: u64) -> u16 {
        match self.fair() {
            Some(fair) => fair.conversation(hash),
            None => self.queues.get(queue).map_or(0, |q| q.conversation(hash)),
        }
    }

    /// Counters of each queue; a flow-based discipline has one.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        let fair = self.fair().map(|fair| &fair.counters);
        self.queues.iter().map(|q| &q.counters).chain(fair)
    }

    /// Longest waits and histograms of each queue.
    pub fn waits(&self) -> impl Iterator<Item = &Waits> {
        let fair = self.fair().map(|fair| &fair.waits);
        self.queues.iter().map(|q| &q.waits).chain(fair)
    }

    pub fn waits_mut(&mut self) -> impl Iterator<Item = &mut Waits> {
        let fair = match &mut self.discipline {
            Discipline::Fair(fair) => Some(&mut fair.waits),
            Discipline::Classes(_) => None,
        };
        self.queues.iter_mut().map(|q| &mut q.waits).chain(fair)
    }

    /// While on, waits are recorded.
    pub fn record_waits(&mut self, on: bool) {
        self.waits_mut().for_each(|waits| waits.recording = on);
    }

    /// Each queue as it stands now.
    pub fn queue_states(&self, now_ps: u64) -> Vec<QueueState> {
        let state = |counters: &Counters, waiting: u128| QueueState {
            packet_ps: counters.waited_ps + counters.displaced_ps + waiting,
            counters: counters.clone(),
        };
        let since = |item: &Item| u128::from(now_ps - item.entered_ps);
        let classes = (self.queues.iter()).map(|q| state(&q.counters, q.items().map(since).sum()));
        let fair = (self.fair()).map(|f| state(&f.counters, f.items().map(since).sum()));
        classes.chain(fair).collect()
    }

    /// How often the scheduler looked at a class, if that is counted.
    pub fn class_visits(&self) -> Option<u64> {
        match &self.discipline {
            Discipline::Classes(scheduler) => scheduler.class_visits(),
            Discipline::Fair(_) => None,
        }
    }

    /// The flow-based discipline, if this port has it.
    pub fn fair(&self) -> Option<&FairQueue> {
        match &self.discipline {
            Discipline::Fair(fair) => Some(fair),
            Discipline::Classes(_) => None,
        }
    }
}
