//! The result as JSON.

mod dialogue;
mod hop_delay;
mod rules;
mod window;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::counters::Counters;
use crate::filters::Side;
use crate::histogram::Histogram;
use crate::measure::{LayerBytes, Sample};
use crate::minimum::least_delay_ps;
use crate::moments::Moments;
use crate::named::NamedPort;
use crate::packet::FlowId;
use crate::scenario::VERSION;
use crate::sim::Simulation;
use crate::state::Flow;
use dialogue::{ReturnedReport, TcpReport, TransactionReport};
use hop_delay::HopsReport;
use rules::{Outcomes, PolicerReports, RuleReports};
use window::{FlowWindow, LineReport, QueueWindow, SeriesReport, queue_window};

const ARRIVAL: &str = "arrival to end of transmission";
const FIRST_BIT: &str = "first bit to first bit";

#[derive(Debug, Serialize, JsonSchema)]
pub struct Report<'a> {
    version: u32,
    seed: u64,
    delay_reference: &'static str,
    flows: Vec<FlowReport<'a>>,
    ports: Vec<PortReport<'a>>,
    pools: Vec<PoolReport<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FlowReport<'a> {
    name: &'a str,
    sent: u64,
    delivered: u64,
    lost: u64,
    unfinished: u64,
    bytes_delivered: u64,
    offered_by_layer_bps: LayerReport,
    throughput_bps: f64,
    throughput_by_layer_bps: LayerReport,
    delay_ps: DelayReport,
    minimum_delay_ps: Option<MinimumReport>,
    interarrival_ps: GapReport,
    reordered: u64,
    histogram: Option<Vec<(u64, u64)>>,
    samples: Option<&'a [Sample]>,
    hops: Option<HopsReport<'a>>,
    returned: Option<ReturnedReport>,
    tcp: Option<TcpReport>,
    transactions: Option<TransactionReport>,
}

/// On the first link (offered) or the last one (received).
#[derive(Debug, Serialize, JsonSchema)]
struct LayerReport {
    ip: f64,
    frame: f64,
    wire: f64,
}

impl LayerReport {
    fn new(bytes: LayerBytes, rate: impl Fn(u64) -> f64) -> Self {
        Self {
            ip: rate(bytes.ip),
            frame: rate(bytes.frame),
            wire: rate(bytes.wire),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct DelayReport {
    mean: Option<f64>,
    sd: Option<f64>,
    min: Option<u64>,
    max: Option<u64>,
    p50: Option<u64>,
    p90: Option<u64>,
    p95: Option<u64>,
    p99: Option<u64>,
    p999: Option<u64>,
}

/// What an empty network would take for the smallest and the largest packet sent.
#[derive(Debug, Serialize, JsonSchema)]
struct MinimumReport {
    smallest: u64,
    largest: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GapReport {
    mean: Option<f64>,
    sd: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PortReport<'a> {
    node: &'a str,
    port: &'a str,
    queues: Vec<QueueReport<'a>>,
    dropped_input: u64,
    line: LineReport,
    series: Option<SeriesReport<'a>>,
    busy_ps: u64,
    utilisation: f64,
    rules: RuleReports,
    policers: PolicerReports,
    by_flow: Vec<ShareReport<'a>>,
    /// Of the scheduler, in all of the run; left out unless counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    class_visits: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QueueReport<'a> {
    name: &'a str,
    packets_in: u64,
    packets_out: u64,
    bytes_out: u64,
    dropped_tail: u64,
    dropped_red: u64,
    dropped_police: u64,
    dropped_pool: u64,
    ecn_marked: u64,
    max_depth: u64,
    /// What its own policer found.
    police: Option<Outcomes>,
    window: Option<QueueWindow>,
}

/// A buffer that queues share.
#[derive(Debug, Serialize, JsonSchema)]
struct PoolReport<'a> {
    node: &'a str,
    port: Option<&'a str>,
    name: &'a str,
    unit: &'static str,
    size: u64,
    max_depth: u64,
}

/// What one flow (its acknowledgements included) offered to a queue and lost there.
#[derive(Debug, Serialize, JsonSchema)]
struct ShareReport<'a> {
    flow: &'a str,
    queue: &'a str,
    packets_in: u64,
    dropped: u64,
    window: FlowWindow,
}

/// Sums a finished run up.
pub fn report(simulation: &Simulation) -> Report<'_> {
    let (open, close) = simulation.window;
    let measured_ps = close - open;
    let flows = simulation.flows.iter();
    let ports = simulation.ports.iter().enumerate();
    let ports = ports.filter(|(_, port)| port.connected);
    let touching = touching(simulation);
    Report {
        version: VERSION,
        seed: simulation.seed,
        delay_reference: if simulation.first_bits.is_some() {
            FIRST_BIT
        } else {
            ARRIVAL
        },
        flows: flows
            .map(|f| flow_report(simulation, f, measured_ps))
            .collect(),
        ports: ports
            .map(|(i, p)| port_report(simulation, i, p, &touching[i], measured_ps))
            .collect(),
        pools: (simulation.pools.iter())
            .map(|named| PoolReport {
                node: &named.node,
                port: named.port.as_deref(),
                name: &named.name,
                unit: if named.pool.in_bytes {
                    "bytes"
                } else {
                    "packets"
                },
                size: named.pool.size,
                max_depth: named.pool.peak(),
            })
            .collect(),
    }
}

fn flow_report<'a>(simulation: &'a Simulation, flow: &'a Flow, measured_ps: u64) -> FlowReport<'a> {
    let meter = &flow.meter;
    let rate = |bytes: u64| bytes as f64 * 8.0 * 1e12 / measured_ps as f64;
    FlowReport {
        name: &flow.name,
        sent: meter.sent,
        delivered: meter.delivered,
        lost: meter.lost,
        unfinished: meter.sent - meter.delivered - meter.lost,
        bytes_delivered: meter.bytes_delivered,
        offered_by_layer_bps: LayerReport::new(meter.offered, rate),
        throughput_bps: rate(meter.window.ip),
        throughput_by_layer_bps: LayerReport::new(meter.window, rate),
        delay_ps: delay_report(&meter.delay, &meter.histogram),
        minimum_delay_ps: minimum_report(simulation, flow),
        interarrival_ps: GapReport {
            mean: meter.gaps.mean(),
            sd: meter.gaps.sd(),
        },
        reordered: meter.reordered,
        histogram: flow.histogram.then(|| meter.histogram.buckets()),
        samples: meter.samples.as_deref(),
        hops: (flow.hops.as_deref()).map(|hops| HopsReport::new(simulation, hops)),
        returned: dialogue::returned(flow),
        tcp: dialogue::tcp(flow),
        transactions: dialogue::transactions(flow),
    }
}

fn minimum_report(simulation: &Simulation, flow: &Flow) -> Option<MinimumReport> {
    if flow.sizes.largest == 0 {
        return None;
    }
    let least = |ip_bytes| least_delay_ps(simulation, flow.first, ip_bytes);
    Some(MinimumReport {
        smallest: least(flow.sizes.smallest)?,
        largest: least(flow.sizes.largest)?,
    })
}

fn delay_report(delay: &Moments, histogram: &Histogram) -> DelayReport {
    let quantiles = histogram.quantiles([500, 900, 950, 990, 999]);
    // No more than the largest delay, which is exact.
    let [p50, p90, p95, p99, p999] = quantiles.map(|q| q.min(delay.max()));
    DelayReport {
        mean: delay.mean(),
        sd: delay.sd(),
        min: delay.min(),
        max: delay.max(),
        p50,
        p90,
        p95,
        p99,
        p999,
    }
}

/// Of one port: the hops that leave or arrive there, and its filters.
#[derive(Debug, Clone, Default)]
struct Touching {
    hops: Vec<usize>,
    filters: Vec<usize>,
}

fn touching(simulation: &Simulation) -> Vec<Touching> {
    let mut touching = vec![Touching::default(); simulation.ports.len()];
    for (id, hop) in simulation.hops.iter().enumerate() {
        touching[hop.port].hops.push(id);
        if hop.reception.port != hop.port {
            touching[hop.reception.port].hops.push(id);
        }
    }
    for (id, filter) in simulation.filters.filters.iter().enumerate() {
        touching[filter.port].filters.push(id);
    }
    touching
}

fn port_report<'a>(
    simulation: &'a Simulation,
    index: usize,
    named: &'a NamedPort,
    touching: &Touching,
    measured_ps: u64,
) -> PortReport<'a> {
    let judged = &simulation.filters.policers;
    let mut queues: Vec<_> = match named.port.fair() {
        Some(fair) => vec![queue_report(&named.fair_name, &fair.counters)],
        None => {
            let queues = named.port.queues.iter();
            queues.map(|q| queue_report(&q.name, &q.counters)).collect()
        }
    };
    for (queue, policer) in queues.iter_mut().zip(&named.policers.queues) {
        queue.police = policer.map(|p| Outcomes::of(&judged[p]));
    }
    let mut rules = RuleReports::new(&named.policers, judged);
    let mut by_flow: BTreeMap<(FlowId, u16), (u64, u64, FlowWindow)> = BTreeMap::new();
    for (number, hop) in touching.hops.iter().map(|id| (*id, &simulation.hops[*id])) {
        if let Some(rule) = hop.reception.rule
            && hop.reception.port == index
        {
            rules.ingress[rule].add(hop.reception.hits);
        }
        if hop.port == index {
            if let Some(rule) = hop.rule {
                rules.egress[rule].add(hop.hits);
            }
            let entry = by_flow.entry((hop.flow, hop.queue)).or_default();
            entry.0 += hop.hits.packets;
            entry.1 += hop.dropped;
            entry.2.add_hop(simulation, number);
        }
    }
    for (number, filter) in touching
        .filters
        .iter()
        .map(|id| (*id, &simulation.filters.filters[*id]))
    {
        if let Some(rule) = filter.rule {
            match filter.side {
                Side::Ingress => rules.ingress[rule].add(filter.hits),
                Side::Egress => rules.egress[rule].add(filter.hits),
            }
        }
        if let Some(queue) = filter.queue {
            let entry = by_flow.entry((filter.flow, queue)).or_default();
            entry.0 += filter.hits.packets;
            entry.1 += filter.dropped;
            entry.2.add_filter(simulation, number);
        }
    }
    for (i, (report, waits)) in queues.iter_mut().zip(named.port.waits()).enumerate() {
        let of_queue = by_flow.iter().filter(|((_, q), _)| usize::from(*q) == i);
        let shares: Vec<_> = of_queue.map(|(_, (.., window))| *window).collect();
        report.window = queue_window(simulation, index, i, waits, &shares);
    }
    let mut series = simulation.observer.series.iter();
    let shares = by_flow
        .iter()
        .map(|((flow, queue), (packets, dropped, window))| ShareReport {
            flow: &simulation.flows[*flow as usize].name,
            queue: queues[usize::from(*queue)].name,
            packets_in: *packets,
            dropped: *dropped,
            window: *window,
        });
    PortReport {
        node: &named.node,
        port: &named.name,
        by_flow: shares.collect(),
        queues,
        dropped_input: named.dropped_input,
        policers: PolicerReports::new(&named.policers, judged),
        line: LineReport::new(&named.port, measured_ps),
        series: series.find(|s| s.port == index).map(SeriesReport::from),
        busy_ps: named.port.usage.busy_ps,
        utilisation: named.port.usage.busy_ps as f64 / measured_ps as f64,
        rules,
        class_visits: named.port.class_visits(),
    }
}

fn queue_report<'a>(name: &'a str, counters: &Counters) -> QueueReport<'a> {
    QueueReport {
        name,
        packets_in: counters.packets_in,
        packets_out: counters.packets_out,
        bytes_out: counters.bytes_out,
        dropped_tail: counters.dropped_tail,
        dropped_red: counters.dropped_red,
        dropped_police: counters.dropped_police,
        dropped_pool: counters.dropped_pool,
        ecn_marked: counters.ecn_marked,
        police: None,
        max_depth: counters.max_depth,
        window: None,
    }
}
