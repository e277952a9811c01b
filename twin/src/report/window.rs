//! What queues and lines did while the measured window was open.

use schemars::JsonSchema;
use serde::Serialize;

use crate::counters::{FlowCounters, QueueState, Waits};
use crate::observe::{Series, Snapshot};
use crate::port::{Port, Usage};
use crate::sim::Simulation;

/// A queue's counters gained in the window.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueueWindow {
    packets_in: u64,
    packets_out: u64,
    bytes_out: u64,
    dropped_tail: u64,
    dropped_red: u64,
    dropped_police: u64,
    dropped_pool: u64,
    ecn_marked: u64,
    /// Packets waiting, averaged over time.
    mean_length: f64,
    wait_ps: WaitReport,
    fairness: Fairness,
}

/// Time from arrival to leaving the queue, of those that left.
#[derive(Debug, Serialize, JsonSchema)]
struct WaitReport {
    mean: Option<f64>,
    max: Option<u64>,
    histogram: Option<Vec<(u64, u64)>>,
}

/// How evenly a queue served the flows that offered it packets.
#[derive(Debug, Serialize, JsonSchema)]
struct Fairness {
    flows: usize,
    /// Jain's index of the bytes served: 1 is even.
    jain: Option<f64>,
    /// (largest - smallest) / mean.
    spread: Option<f64>,
}

/// What one flow got from a queue in the window; bytes are IP bytes.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct FlowWindow {
    packets_in: u64,
    packets_out: u64,
    bytes_out: u64,
    dropped: u64,
}

impl FlowWindow {
    /// Adds what hop `index` gained.
    pub fn add_hop(&mut self, simulation: &Simulation, index: usize) {
        self.add(simulation, |snapshot| snapshot.hops[index]);
    }

    /// Adds what filter `index` gained.
    pub fn add_filter(&mut self, simulation: &Simulation, index: usize) {
        self.add(simulation, |snapshot| snapshot.filters[index]);
    }

    fn add(&mut self, simulation: &Simulation, state: impl Fn(&Snapshot) -> FlowCounters) {
        let observer = &simulation.observer;
        if let (Some(opened), Some(closed)) = (&observer.opened, &observer.closed) {
            let (before, after) = (state(opened), state(closed));
            self.packets_in += after.packets_in - before.packets_in;
            self.packets_out += after.packets_out - before.packets_out;
            self.bytes_out += after.bytes_out - before.bytes_out;
            self.dropped += after.dropped - before.dropped;
        }
    }
}

/// How the line's capacity was used in the window, in bits per second; `ip` + `framing` +
/// `idle` make the line rate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineReport {
    rate_bps: u64,
    ip_bps: f64,
    frame_bps: f64,
    wire_bps: f64,
    /// Headers, trailers, preambles and gaps.
    framing_bps: f64,
    idle_bps: f64,
}

impl LineReport {
    pub fn new(port: &Port, measured_ps: u64) -> Self {
        let Usage {
            ip_bytes,
            frame_bytes,
            wire_bytes,
            ..
        } = port.usage;
        let rate = |bytes: u64| bytes as f64 * 8.0 * 1e12 / measured_ps as f64;
        let line = port.line.rate_bps;
        let (ip, wire) = (rate(ip_bytes), rate(wire_bytes));
        Self {
            rate_bps: line,
            ip_bps: ip,
            frame_bps: rate(frame_bytes),
            wire_bps: wire,
            framing_bps: wire - ip,
            idle_bps: line as f64 - wire,
        }
    }
}

/// Frame bytes that left each queue, by interval.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeriesReport<'a> {
    every_ps: u64,
    bytes_out: &'a [Vec<u64>],
}

impl<'a> From<&'a Series> for SeriesReport<'a> {
    fn from(series: &'a Series) -> Self {
        Self {
            every_ps: series.every_ps,
            bytes_out: &series.bytes_out,
        }
    }
}

/// The window of queue `queue` of port `port`, whose flows got `shares`.
pub fn queue_window(
    simulation: &Simulation,
    port: usize,
    queue: usize,
    waits: &Waits,
    shares: &[FlowWindow],
) -> Option<QueueWindow> {
    let observer = &simulation.observer;
    let state = |s: &Snapshot| -> QueueState { s.queues[port][queue].clone() };
    let before = state(observer.opened.as_ref()?);
    let after = state(observer.closed.as_ref()?);
    let (open, close) = simulation.window;
    let (old, new) = (&before.counters, &after.counters);
    let packets_out = new.packets_out - old.packets_out;
    let waited = (new.waited_ps - old.waited_ps) as f64;
    Some(QueueWindow {
        packets_in: new.packets_in - old.packets_in,
        packets_out,
        bytes_out: new.bytes_out - old.bytes_out,
        dropped_tail: new.dropped_tail - old.dropped_tail,
        dropped_red: new.dropped_red - old.dropped_red,
        dropped_police: new.dropped_police - old.dropped_police,
        dropped_pool: new.dropped_pool - old.dropped_pool,
        ecn_marked: new.ecn_marked - old.ecn_marked,
        mean_length: (after.packet_ps - before.packet_ps) as f64 / (close - open) as f64,
        wait_ps: WaitReport {
            mean: (packets_out > 0).then(|| waited / packets_out as f64),
            max: (packets_out > 0).then_some(waits.longest_ps),
            histogram: waits.histogram.as_ref().map(|h| h.buckets()),
        },
        fairness: fairness(shares),
    })
}

/// R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984:
/// (sum of x)² over n times the sum of x².
fn fairness(shares: &[FlowWindow]) -> Fairness {
    let offered = shares.iter().filter(|share| share.packets_in > 0);
    let got: Vec<f64> = offered.map(|share| share.bytes_out as f64).collect();
    let sum: f64 = got.iter().sum();
    let squares: f64 = got.iter().map(|x| x * x).sum();
    let largest = got.iter().copied().fold(0.0, f64::max);
    let smallest = got.iter().copied().fold(f64::INFINITY, f64::min);
    let flows = got.len() as f64;
    Fairness {
        flows: got.len(),
        jain: (sum > 0.0).then(|| sum * sum / (flows * squares)),
        spread: (sum > 0.0).then(|| (largest - smallest) * flows / sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_served_bytes() {
        let share = |packets_in, bytes_out| FlowWindow {
            packets_in,
            bytes_out,
            ..FlowWindow::default()
        };
        // A flow that offered nothing does not count.
        let even = fairness(&[share(3, 100), share(9, 100), share(0, 0)]);
        assert_eq!(
            (even.flows, even.jain, even.spread),
            (2, Some(1.0), Some(0.0))
        );
        let skewed = fairness(&[share(1, 300), share(1, 100)]);
        assert_eq!((skewed.jain, skewed.spread), (Some(0.8), Some(1.0)));
        assert_eq!(fairness(&[share(1, 0)]).jain, None);
    }
}
