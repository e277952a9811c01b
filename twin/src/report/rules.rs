//! What rules and policers of a port met in the whole run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::counters::Hits;
use crate::named::PortPolicers;
use crate::police::Policer;

/// One entry per rule and a last one for `otherwise`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleReports {
    pub ingress: Vec<RuleReport>,
    pub egress: Vec<RuleReport>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct RuleReport {
    packets: u64,
    bytes: u64,
    /// Above its policer: what exceeded and what violated.
    exceeded: u64,
    /// What its policer found.
    police: Option<Outcomes>,
}

/// Packets by a policer's outcome.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Outcomes {
    conform: u64,
    exceed: u64,
    violate: u64,
}

/// Of the interface's own policers, in order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicerReports {
    ingress: Vec<Outcomes>,
    egress: Vec<Outcomes>,
}

impl RuleReport {
    pub fn add(&mut self, hits: Hits) {
        self.packets += hits.packets;
        self.bytes += hits.bytes;
    }
}

impl Outcomes {
    pub fn of(policer: &Policer) -> Self {
        let [conform, exceed, violate] = policer.counts;
        Self {
            conform,
            exceed,
            violate,
        }
    }
}

impl RuleReports {
    /// No packets yet, but what the rules' policers found.
    pub fn new(port: &PortPolicers, policers: &[Policer]) -> Self {
        let report = |policer: &Option<usize>| {
            let police = policer.map(|p| Outcomes::of(&policers[p]));
            RuleReport {
                exceeded: police.map_or(0, |p| p.exceed + p.violate),
                police,
                ..RuleReport::default()
            }
        };
        Self {
            ingress: port.ingress_rules.iter().map(report).collect(),
            egress: port.egress_rules.iter().map(report).collect(),
        }
    }
}

impl PolicerReports {
    pub fn new(port: &PortPolicers, policers: &[Policer]) -> Self {
        let found = |policer: &usize| Outcomes::of(&policers[*policer]);
        Self {
            ingress: port.ingress.iter().map(found).collect(),
            egress: port.egress.iter().map(found).collect(),
        }
    }
}
