//! What is reported of flows that are answered.

use schemars::JsonSchema;
use serde::Serialize;

use super::{DelayReport, delay_report};
use crate::source::Source;
use crate::source::tcp::Population;
use crate::state::Flow;

/// Packets on the way back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReturnedReport {
    sent: u64,
    delivered: u64,
    lost: u64,
    unfinished: u64,
    bytes_delivered: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TcpReport {
    retransmits: u64,
    timeouts: u64,
    acks_sent: u64,
    acks_lost: u64,
    ecn_reductions: u64,
    connections: u64,
    aborted: u64,
    rtt_ps: PopulationReport,
}

/// Requests and responses, or probes and answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TransactionReport {
    count: u64,
    failed: u64,
    unfinished: u64,
    timed_out: u64,
    rtt_ps: PopulationReport,
    /// Absent for probes, which have neither connection nor timer.
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_without_timeout_ps: Option<PopulationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_ps: Option<PopulationReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PopulationReport {
    count: u64,
    #[serde(flatten)]
    moments: DelayReport,
    histogram: Vec<(u64, u64)>,
}

fn population(of: &Population) -> PopulationReport {
    PopulationReport {
        count: of.count,
        moments: delay_report(&of.moments, &of.histogram),
        histogram: of.histogram.buckets(),
    }
}

pub fn returned(flow: &Flow) -> Option<ReturnedReport> {
    let returned = &flow.returned;
    flow.back.map(|_| ReturnedReport {
        sent: returned.sent,
        delivered: returned.delivered,
        lost: returned.lost,
        unfinished: returned.sent - returned.delivered - returned.lost,
        bytes_delivered: returned.bytes_delivered,
    })
}

pub fn tcp(flow: &Flow) -> Option<TcpReport> {
    let Source::Tcp(tcp) = &flow.source else {
        return None;
    };
    let record = &tcp.record;
    Some(TcpReport {
        retransmits: record.retransmits,
        timeouts: record.timeouts,
        acks_sent: record.acks_sent,
        acks_lost: record.acks_lost,
        ecn_reductions: record.ecn_reductions,
        connections: record.connections,
        aborted: record.aborted,
        rtt_ps: population(&record.rtt),
    })
}

pub fn transactions(flow: &Flow) -> Option<TransactionReport> {
    match &flow.source {
        Source::Open { .. } => None,
        Source::Echo(echo) => Some(TransactionReport {
            count: echo.rtt.count,
            failed: flow.meter.lost + flow.returned.lost,
            unfinished: flow.meter.sent - echo.rtt.count - flow.meter.lost - flow.returned.lost,
            timed_out: 0,
            rtt_ps: population(&echo.rtt),
            rtt_without_timeout_ps: None,
            total_ps: None,
        }),
        Source::Tcp(tcp) => {
            let kept = tcp.record.transactions.as_ref()?;
            Some(TransactionReport {
                count: kept.rtt.count,
                failed: kept.failed,
                unfinished: kept.begun - kept.failed - kept.rtt.count,
                timed_out: kept.timed_out,
                rtt_ps: population(&kept.rtt),
                rtt_without_timeout_ps: Some(population(&kept.prompt)),
                total_ps: Some(population(&kept.total)),
            })
        }
    }
}
