//! Nodes, ports and links by name, and the ports as they run.

use std::collections::HashMap;

use super::line::{read_framing, read_line};
use super::node::{NodeFacts, read_node};
use super::pools::NodePools;
use super::queues::{QueueContext, read_discipline};
use super::rules::{Policing, RuleReader, Rules};
use super::twice;
use crate::admission::Profiles;
use crate::error::ScenarioError;
use crate::filters::Side;
use crate::forward::Forwarder;
use crate::framing::Framing;
use crate::named::{NamedPool, NamedPort, PortPolicers};
use crate::observe::Observer;
use crate::police::Policer;
use crate::port::Port;
use crate::rng::Stream;
use crate::scenario::{
    COMPRESSED_HEADER, EgressOtherwise, EgressSpec, IngressSpec, LinkSpec, PortSpec, QueueSpec,
    Scenario, SeriesSpec,
};

/// A path longer than this is a mistake.
const MAX_HOPS: usize = 64;
/// 16 minutes: no line is longer.
const MAX_DELAY_PS: u64 = 1_000_000_000_000_000;
/// A plain host or port: FIFO of so many packets.
const DEFAULT_LIMIT: u64 = 1000;

/// What routes must know of a port.
#[derive(Debug)]
pub struct PortFacts {
    pub node: usize,
    pub name: String,
    /// The port at the other end of the link.
    pub peer: Option<usize>,
    pub ingress: Rules,
    pub egress: Rules,
    /// By queue.
    pub profiles: Vec<Profiles>,
    queue_policers: Vec<Option<Policing>>,
}

impl PortFacts {
    pub fn queue_police(&self, queue: usize) -> Option<&Policing> {
        self.queue_policers.get(queue)?.as_ref()
    }

    fn policers(&self) -> PortPolicers {
        let (ingress, ingress_rules) = self.ingress.policers();
        let (egress, egress_rules) = self.egress.policers();
        let queues = self.queue_policers.iter();
        PortPolicers {
            ingress,
            ingress_rules,
            egress,
            egress_rules,
            queues: queues.map(|q| q.as_ref().map(|p| p.policer)).collect(),
        }
    }
}

/// A checked path.
#[derive(Debug)]
pub struct Route {
    pub ports: Vec<usize>,
    pub from: usize,
    pub to: usize,
}

#[derive(Debug)]
pub struct Network<'a> {
    pub facts: Vec<PortFacts>,
    pub ports: Vec<NamedPort>,
    pub policers: Vec<Policer>,
    pub forwarders: Vec<Forwarder>,
    pub nodes: Vec<NodeFacts>,
    pub pools: Vec<NamedPool>,
    index: HashMap<(&'a str, &'a str), usize>,
    node_names: Vec<&'a str>,
    pub observer: Observer,
}

impl<'a> Network<'a> {
    pub fn new(
        scenario: &'a Scenario,
        window: (u64, u64),
        seed: u64,
    ) -> Result<Self, ScenarioError> {
        let mut network = Self {
            facts: Vec::new(),
            ports: Vec::new(),
            policers: Vec::new(),
            forwarders: Vec::new(),
            nodes: Vec::new(),
            pools: Vec::new(),
            index: HashMap::new(),
            node_names: Vec::new(),
            observer: Observer::new(window),
        };
        let specs = network.index(scenario, seed)?;
        let ends = network.links(&scenario.links)?;
        let mut pools = Vec::with_capacity(scenario.nodes.len());
        for (n, node) in scenario.nodes.iter().enumerate() {
            let path = format!("nodes[{n}]");
            pools.push(NodePools::read(node, &path, &mut network.pools)?);
        }
        let mut place = 0;
        for (index, (spec, path)) in specs.iter().enumerate() {
            let node = network.facts[index].node;
            let same_node = index > 0 && network.facts[index - 1].node == node;
            place = if same_node { place + 1 } else { 0 };
            let ports = &scenario.nodes[node].ports;
            let ports: Vec<_> = ports.iter().map(|p| p.name.as_str()).collect();
            let name = format!("{}/{}", network.node_names[node], spec.name);
            let stream = Stream::new(seed, &format!("port {name}"));
            let fallback = default_egress();
            let egress = spec.egress.as_ref().unwrap_or(&fallback);
            let at = format!("{path}.egress");
            let end = ends.get(&index);
            let line = read_line(egress, end.copied(), &at)?;
            let context = QueueContext {
                line_bps: line.rate_bps,
                tagged: line.framing.tagged,
                pools: &pools[node],
                port: place,
                ports: &ports,
            };
            let (discipline, read) = read_discipline(egress, context, &at)?;
            let mut port = Port::new(line, read.queues, discipline, window, stream);
            if egress.wait_histogram {
                (port.waits_mut()).for_each(|w| w.histogram = Some(Box::default()));
            }
            if let Some(SeriesSpec { every_ps }) = egress.series {
                let observer = &mut network.observer;
                observer.add_series(index, every_ps, read.names.len(), &format!("{at}.series"))?;
            }
            let facts = &mut network.facts[index];
            facts.peer = end.map(|e| e.peer);
            facts.profiles = read.profiles;
            let mut reader = RuleReader {
                policers: &mut network.policers,
                ports: &ports,
                rate_bps: line.rate_bps,
            };
            facts.egress = reader.egress(egress, read.names.len(), &at)?;
            for (q, queue) in egress.queues.iter().enumerate() {
                let at = format!("{at}.queues[{q}]");
                let police = reader.police(queue.police.as_ref(), Side::Egress, &at)?;
                facts.queue_policers.push(police);
            }
            let none = IngressSpec::default();
            let ingress = spec.ingress.as_ref().unwrap_or(&none);
            facts.ingress = reader.ingress(ingress, &format!("{path}.ingress"))?;
            network.ports.push(NamedPort {
                node: network.node_names[node].to_owned(),
                name: spec.name.clone(),
                connected: end.is_some(),
                policers: facts.policers(),
                fair_name: read.names.into_iter().next().unwrap_or_default(),
                forwarded_ps: 0,
                dropped_input: 0,
                port,
            });
        }
        Ok(network)
    }

    fn index(
        &mut self,
        scenario: &'a Scenario,
        seed: u64,
    ) -> Result<Vec<(&'a PortSpec, String)>, ScenarioError> {
        let mut specs = Vec::new();
        for (n, node) in scenario.nodes.iter().enumerate() {
            if self.node_names.contains(&node.name.as_str()) {
                return Err(twice(&format!("nodes[{n}]"), &node.name));
            }
            let at = format!("nodes[{n}]");
            let facts = read_node(node, &at, seed, &mut self.forwarders)?;
            self.node_names.push(&node.name);
            self.nodes.push(facts);
            for (p, port) in node.ports.iter().enumerate() {
                let path = format!("nodes[{n}].ports[{p}]");
                let key = (node.name.as_str(), port.name.as_str());
                if self.index.insert(key, specs.len()).is_some() {
                    return Err(twice(&path, &port.name));
                }
                self.facts.push(PortFacts {
                    node: n,
                    name: port.name.clone(),
                    peer: None,
                    ingress: Rules::default(),
                    egress: Rules::default(),
                    profiles: Vec::new(),
                    queue_policers: Vec::new(),
                });
                specs.push((port, path));
            }
        }
        Ok(specs)
    }

    fn find(&self, name: &(String, String), path: &str) -> Result<usize, ScenarioError> {
        let (node, port) = name;
        if let Some(found) = self.index.get(&(node.as_str(), port.as_str())) {
            return Ok(*found);
        }
        let problem = if self.node_names.contains(&node.as_str()) {
            format!("node {node:?} has no port {port:?}")
        } else {
            format!("no node is called {node:?}")
        };
        Err(ScenarioError::new(
            path,
            problem,
            "declare it under nodes or correct the name",
        ))
    }

    fn links(&self, links: &[LinkSpec]) -> Result<HashMap<usize, LinkEnd>, ScenarioError> {
        let mut ends = HashMap::new();
        for (i, link) in links.iter().enumerate() {
            let path = format!("links[{i}]");
            if link.rate_bps == 0 {
                let at = format!("{path}.rate_bps");
                return Err(ScenarioError::new(at, "is 0", "give the line rate"));
            }
            in_time(link.delay_ps, format!("{path}.delay_ps"))?;
            let framing = read_framing(link, &path)?;
            let a = self.find(&link.a, &format!("{path}.a"))?;
            let b = self.find(&link.b, &format!("{path}.b"))?;
            for (port, peer, end) in [(a, b, "a"), (b, a, "b")] {
                let far = LinkEnd {
                    peer,
                    rate_bps: link.rate_bps,
                    delay_ps: link.delay_ps,
                    framing,
                };
                if ends.insert(port, far).is_some() {
                    let at = format!("{path}.{end}");
                    let problem = "the port has a link already";
                    return Err(ScenarioError::new(
                        at,
                        problem,
                        "give each link its own ports",
                    ));
                }
            }
        }
        Ok(ends)
    }

    /// Checks that each hop's port is linked to the node of the next.
    pub fn route(&self, hops: &[(String, String)], path: &str) -> Result<Route, ScenarioError> {
        if hops.is_empty() || hops.len() > MAX_HOPS {
            let problem = format!("{} hops", hops.len());
            return Err(ScenarioError::new(
                path,
                problem,
                format!("use 1 to {MAX_HOPS}"),
            ));
        }
        let mut ports: Vec<usize> = Vec::with_capacity(hops.len());
        let mut at_node = None;
        for (i, hop) in hops.iter().enumerate() {
            let at = format!("{path}[{i}]");
            let port = self.find(hop, &at)?;
            let node = self.facts[port].node;
            if let Some(expected) = at_node.filter(|n| *n != node) {
                let problem = format!(
                    "the hop before leads to {:?}, not {:?}",
                    self.node_names[expected], hop.0
                );
                return Err(ScenarioError::new(at, problem, "follow the links"));
            }
            let Some(peer) = self.facts[port].peer else {
                let problem = format!("port {:?} of {:?} has no link", hop.1, hop.0);
                return Err(ScenarioError::new(at, problem, "add it under links"));
            };
            if ports.contains(&port) {
                let problem = format!("a loop: port {:?} of {:?} comes twice", hop.1, hop.0);
                let hint = "send packets through each egress once";
                return Err(ScenarioError::new(at, problem, hint));
            }
            at_node = Some(self.facts[peer].node);
            ports.push(port);
        }
        let from = self.facts[ports[0]].node;
        Ok(Route {
            to: at_node.unwrap_or(from),
            from,
            ports,
        })
    }
}

/// A link as one of its ports sees it.
#[derive(Debug, Clone, Copy)]
pub struct LinkEnd {
    peer: usize,
    pub rate_bps: u64,
    pub delay_ps: u64,
    pub framing: Framing,
}

pub fn in_time(value: u64, path: String) -> Result<(), ScenarioError> {
    if value <= MAX_DELAY_PS {
        return Ok(());
    }
    let hint = format!("use at most {MAX_DELAY_PS}");
    Err(ScenarioError::new(path, "is too long", hint))
}

fn default_egress() -> EgressSpec {
    EgressSpec {
        police: Vec::new(),
        rules: Vec::new(),
        otherwise: EgressOtherwise::default(),
        queues: vec![QueueSpec {
            name: "default".into(),
            limit_packets: Some(DEFAULT_LIMIT),
            ..QueueSpec::default()
        }],
        pools: Vec::new(),
        scheduler: serde_json::json!({"kind": "fifo"}),
        shape: None,
        tx_fifo_packets: 1,
        tx_fifo_bytes: 0,
        extra_gap_ps: 0,
        fragment_bytes: None,
        interleave: false,
        multiclass: false,
        header_compression: false,
        compressed_header_bytes: COMPRESSED_HEADER,
        ip_mtu: None,
        wait_histogram: false,
        series: None,
    }
}
