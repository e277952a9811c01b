//! Figures of the measured window: what the counters of a run gain while it is open.
//!
//! Counters run all the time; they are read when the window opens, at the ends of intervals and
//! when it closes, so that packets pay nothing for it.

use crate::counters::{FlowCounters, QueueState};
use crate::error::ScenarioError;
use crate::filters::{Filter, Filters};
use crate::hops::Hop;
use crate::named::NamedPort;

/// Counts that a series may hold, over all intervals and queues of its port.
const MAX_COUNTS: u64 = 1 << 22;

/// All counters at one instant.
#[derive(Debug)]
pub struct Snapshot {
    /// By port and queue.
    pub queues: Vec<Vec<QueueState>>,
    pub hops: Vec<FlowCounters>,
    pub filters: Vec<FlowCounters>,
}

/// Frame bytes that left each queue of a port, interval by interval.
#[derive(Debug)]
pub struct Series {
    pub port: usize,
    pub every_ps: u64,
    next_ps: u64,
    before: Option<Vec<u64>>,
    /// By interval and queue.
    pub bytes_out: Vec<Vec<u64>>,
}

#[derive(Debug)]
pub struct Observer {
    /// Nothing is read before this time.
    boundary_ps: u64,
    /// First and last instant that is measured.
    pub window: (u64, u64),
    pub opened: Option<Snapshot>,
    pub closed: Option<Snapshot>,
    pub series: Vec<Series>,
}

impl Observer {
    pub fn new(window: (u64, u64)) -> Self {
        Self {
            boundary_ps: window.0,
            window,
            opened: None,
            closed: None,
            series: Vec::new(),
        }
    }

    /// Adds a series of a port with so many queues; refuses what would not fit at `path`.
    pub fn add_series(
        &mut self,
        port: usize,
        every_ps: u64,
        queues: usize,
        path: &str,
    ) -> Result<(), ScenarioError> {
        let at = format!("{path}.every_ps");
        if every_ps == 0 {
            return Err(ScenarioError::new(at, "is 0", "give the interval's length"));
        }
        let (open, close) = self.window;
        let counts = u128::from((close - open) / every_ps) * queues as u128;
        if counts > u128::from(MAX_COUNTS) {
            let problem = format!("makes {counts} counts");
            let hint = format!("use intervals long enough for at most {MAX_COUNTS}");
            return Err(ScenarioError::new(at, problem, hint));
        }
        self.series.push(Series {
            port,
            every_ps,
            next_ps: open,
            before: None,
            bytes_out: Vec::new(),
        });
        Ok(())
    }

    /// Reads what is due until `now_ps`, before anything happens then; returns when next to.
    #[cold]
    pub fn advance(
        &mut self,
        now_ps: u64,
        ports: &mut [NamedPort],
        hops: &[Hop],
        filters: &Filters,
    ) -> u64 {
        let (open, close) = self.window;
        while self.boundary_ps <= now_ps && self.closed.is_none() {
            let at = self.boundary_ps;
            if at == open {
                self.opened = Some(snapshot(at, ports, hops, filters));
                ports.iter_mut().for_each(|p| p.port.record_waits(true));
            }
            if at > close {
                self.closed = Some(snapshot(close, ports, hops, filters));
                ports.iter_mut().for_each(|p| p.port.record_waits(false));
                self.boundary_ps = u64::MAX;
                break;
            }
            for series in self.series.iter_mut().filter(|s| s.next_ps == at) {
                series.tick(&ports[series.port]);
            }
            let ticks = self.series.iter().map(|s| s.next_ps);
            // The window holds what happens at its very end.
            self.boundary_ps = ticks.min().map_or(close + 1, |t| t.min(close + 1));
        }
        self.boundary_ps
    }
}

impl Series {
    fn tick(&mut self, port: &NamedPort) {
        let now: Vec<u64> = port.port.counters().map(|c| c.bytes_out).collect();
        // The first look only sets the counts to start from.
        if let Some(before) = &self.before {
            let gained = now.iter().zip(before).map(|(n, b)| n - b);
            self.bytes_out.push(gained.collect());
        }
        self.before = Some(now);
        self.next_ps = self.next_ps.saturating_add(self.every_ps);
    }
}

fn snapshot(at_ps: u64, ports: &[NamedPort], hops: &[Hop], filters: &Filters) -> Snapshot {
    let queues = |named: &NamedPort| named.port.queue_states(at_ps);
    Snapshot {
        queues: ports.iter().map(queues).collect(),
        hops: hops.iter().map(Hop::state).collect(),
        filters: filters.filters.iter().map(Filter::state).collect(),
    }
}
