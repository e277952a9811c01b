//! A connection over a path of constant delay that drops what a test names.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde_json::Value;

use super::segment::{End, Segment};
use super::{Arrival, Connection, Output, Record, TcpFlow, TimerId, bulk, sessions};
use crate::framing::{Framing, SECOND_PS};
use crate::rng::Stream;
use crate::scenario::FramingSpec;
use crate::source::{Context, Groups, Source};

pub const MS: u64 = SECOND_PS / 1000;

/// A test's view of a run.
pub struct Run {
    /// Everything sent, and whether it was dropped.
    pub log: Vec<(u64, Segment, bool)>,
    pub record: Record,
}

impl Run {
    /// Times at which the client sent data segment `number`.
    pub fn sent(&self, number: u64) -> Vec<u64> {
        let data = self.data();
        data.filter(|(_, n, _)| *n == number)
            .map(|(at, ..)| at)
            .collect()
    }

    /// The client's data: time, number, dropped.
    pub fn data(&self) -> impl Iterator<Item = (u64, u64, bool)> {
        let client = (self.log.iter()).filter(|(_, s, _)| s.from == End::Client);
        client.filter_map(|(at, s, dropped)| Some((*at, s.number?, *dropped)))
    }

    /// One past the last segment of the client's stream that is acknowledged, by `at_ps`.
    pub fn acknowledged(&self, at_ps: u64) -> u64 {
        let acks = self
            .log
            .iter()
            .filter(|(at, s, dropped)| s.from == End::Server && !dropped && *at <= at_ps);
        acks.map(|(_, s, _)| s.ack).max().unwrap_or(0)
    }
}

/// Calls with what a source in a scenario of a second would get.
pub fn with_context<T>(call: impl FnOnce(Context) -> T) -> T {
    let groups = RefCell::new(Groups::new(1));
    call(Context {
        duration_ps: SECOND_PS,
        warmup_ps: 0,
        samples: false,
        framing: Framing {
            short_sequence: false,
            kind: FramingSpec::None,
            tagged: false,
        },
        groups: &groups,
        planned: &Cell::new(0),
        path: "source",
    })
}

/// Time, order, and a timer or the place of a packet in the log.
type Due = (u64, u64, Option<TimerId>, usize);

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    /// With congestion experienced.
    Marked,
    Dropped,
}

/// Runs a source (`tcp` or, with `request_bytes`, `tcp_session`) for `seconds`; `drops` is asked
/// of every packet at its sending.
pub fn run(
    written: Value,
    one_way_ps: u64,
    seconds: u64,
    mut drops: impl FnMut(u64, &Segment) -> bool,
) -> Run {
    let fate = |at, segment: &Segment| match drops(at, segment) {
        true => Fate::Dropped,
        false => Fate::Arrives,
    };
    run_with(written, one_way_ps, seconds, fate)
}

/// As `run`, with marks.
pub fn run_with(
    written: Value,
    one_way_ps: u64,
    seconds: u64,
    mut fate: impl FnMut(u64, &Segment) -> Fate,
) -> Run {
    let mut stream = Stream::new(1, "test");
    let read = if written.get("request_bytes").is_some() {
        sessions
    } else {
        bulk
    };
    let read = with_context(|context| {
        let duration_ps = seconds * SECOND_PS;
        let context = Context {
            duration_ps,
            ..context
        };
        read(written, context, &mut stream)
    });
    let Ok(Source::Tcp(flow)) = read else {
        panic!("not a source");
    };
    let TcpFlow {
        mut connections,
        mut record,
    } = *flow;
    let connection: &mut Connection = &mut connections[0];
    let mut out = Output::default();
    let mut log: Vec<(u64, Segment, bool)> = Vec::new();
    let mut marked: Vec<bool> = Vec::new();
    let mut heap: BinaryHeap<Reverse<Due>> = BinaryHeap::new();
    let mut order = 0;
    connection.enlist(0, &mut out);
    let mut now = 0;
    loop {
        for segment in out.segments.drain(..) {
            let fate = fate(now, &segment);
            marked.push(fate == Fate::Marked);
            let dropped = fate == Fate::Dropped;
            if !dropped {
                order += 1;
                heap.push(Reverse((now + one_way_ps, order, None, log.len())));
            }
            log.push((now, segment, dropped));
        }
        for (at, timer) in out.timers.drain(..) {
            assert!(at >= now, "a timer in the past");
            order += 1;
            heap.push(Reverse((at, order, Some(timer), 0)));
        }
        let Some(Reverse((at, _, timer, place))) = heap.pop() else {
            return Run { log, record };
        };
        now = at;
        match timer {
            Some(timer) => connection.fired(timer, now, &mut record, &mut out),
            None => {
                let segment = log[place].1;
                let arrival = Arrival {
                    now_ps: now,
                    ce: marked[place],
                };
                connection.received(&segment, arrival, &mut record, &mut out);
            }
        }
    }
}

/// Drops the first transmission of the client's data segments named.
pub fn dropping(numbers: &[u64]) -> impl FnMut(u64, &Segment) -> bool {
    let mut left = numbers.to_vec();
    move |_, segment| {
        let place =
            (left.iter()).position(|n| segment.from == End::Client && Some(*n) == segment.number);
        place.map(|place| left.remove(place)).is_some()
    }
}
