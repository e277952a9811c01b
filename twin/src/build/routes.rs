//! Resolves a flow's way into hops and filters: one per place and set of marks it can get there
//! with.

use std::collections::HashMap;

use super::network::{Network, PortFacts, Route};
use super::rules::{Policing, Rules};
use crate::admission::NO_PROFILE;
use crate::classify::{Header, Mark};
use crate::counters::Hits;
use crate::error::ScenarioError;
use crate::filters::{Filter, FrameBytes, Side};
use crate::hops::{Hop, Reception};
use crate::line::LineBytes;
use crate::packet::{FilterId, FlowId, HopId, Next};
use crate::police::Action;
use crate::rng::hash;
use crate::scenario::Colour;

/// Applications whose headers RTP header compression understands start so.
const RTP: &str = "rtp-";
const MAX_HOPS: usize = 1 << 22;

#[derive(Debug, Default)]
pub struct Routes {
    pub hops: Vec<Hop>,
    pub filters: Vec<Filter>,
    flows: FlowId,
}

/// Where a packet is on its way through one at_hop.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Before this policer of the interface, or a later one.
    List(Side, usize),
    Rules(Side),
    /// Before the queue's policer; `counts`: the rule is not counted yet.
    Queue {
        rule: usize,
        counts: bool,
    },
    /// Behind the ingress.
    Inside,
}

/// What a hop or filter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Listed(Side, usize),
    Rule(Side, usize),
    QueuePolicer { rule: usize, counts: bool },
    Queue { rule: usize, counts: bool },
}

/// A stage at a at_hop, and the marks it is met with (a rule's own set).
type Key = (usize, Stage, Mark);

/// One way of one flow while it is resolved.
struct Walk<'a, 'n> {
    flow: FlowId,
    network: &'a Network<'n>,
    route: &'a Route,
    header: &'a Header,
    known: HashMap<Key, Next>,
    /// Made, but what follows is open; a list, as a long way would exhaust the stack.
    open: Vec<(Next, Key)>,
}

impl<'n> Walk<'_, 'n> {
    /// The port of a side at a at_hop, and the port of its node that packets came in by.
    fn port(&self, at_hop: usize, side: Side) -> (usize, Option<&str>) {
        let facts = &self.network.facts;
        // A route's ports are all linked.
        let peer = |at_hop: usize| {
            let port = self.route.ports[at_hop];
            facts[port].peer.unwrap_or(port)
        };
        match side {
            Side::Ingress => (peer(at_hop), Some(&facts[peer(at_hop)].name)),
            Side::Egress => {
                let input = at_hop.checked_sub(1).map(|h| facts[peer(h)].name.as_str());
                (self.route.ports[at_hop], input)
            }
        }
    }

    fn facts(&self, at_hop: usize, side: Side) -> (&PortFacts, &Rules) {
        let facts = &self.network.facts[self.port(at_hop, side).0];
        match side {
            Side::Ingress => (facts, &facts.ingress),
            Side::Egress => (facts, &facts.egress),
        }
    }

    /// Bytes that the flow's RTP headers lose to compression on the line of a at_hop.
    fn saved_header(&self, at_hop: usize) -> u32 {
        let rtp = (self.header.application.as_ref()).is_some_and(|a| a.starts_with(RTP));
        let port = self.route.ports[at_hop];
        let saved = self.network.ports[port].port.line.saved_header;
        if rtp { saved } else { 0 }
    }
}

impl Routes {
    pub fn next_flow(&mut self) -> FlowId {
        self.flows += 1;
        self.flows - 1
    }

    /// Adds the hops and filters of a route; returns what comes first.
    pub fn add(
        &mut self,
        flow: FlowId,
        network: &Network,
        route: &Route,
        header: &Header,
        mark: Mark,
    ) -> Result<Next, ScenarioError> {
        let mut walk = Walk {
            flow,
            network,
            route,
            header,
            known: HashMap::new(),
            open: Vec::new(),
        };
        let first = self.at(&mut walk, 0, Place::List(Side::Egress, 0), mark);
        while let Some((made, key)) = walk.open.pop() {
            match made {
                Next::Hop(hop) => self.finish_hop(&mut walk, hop, key),
                Next::Filter(filter) => self.finish_filter(&mut walk, filter, key),
                Next::Deliver | Next::Drop => {}
            }
            if self.hops.len() + self.filters.len() > MAX_HOPS {
                let problem = "too many flows, hops and marks together";
                return Err(ScenarioError::new("flows", problem, "split the scenario"));
            }
        }
        Ok(first)
    }

    /// What a packet meets next from `place` on.
    fn at(&mut self, walk: &mut Walk, at_hop: usize, place: Place, mark: Mark) -> Next {
        let (mut at_hop, mut place, mut mark) = (at_hop, place, mark);
        loop {
            place = match place {
                Place::List(side, from) => {
                    let (_, input) = walk.port(at_hop, side);
                    let rules = walk.facts(at_hop, side).1;
                    match rules.listed(from, walk.header, input, mark) {
                        Some(index) => {
                            return self.stage(walk, (at_hop, Stage::Listed(side, index), mark));
                        }
                        None => Place::Rules(side),
                    }
                }
                Place::Rules(side) => {
                    let (_, input) = walk.port(at_hop, side);
                    let rules = walk.facts(at_hop, side).1;
                    let (index, rule) = rules.classify(walk.header, input, mark);
                    mark = rule.mark(mark);
                    if side == Side::Ingress || rule.police.is_some() {
                        return self.stage(walk, (at_hop, Stage::Rule(side, index), mark));
                    }
                    Place::Queue {
                        rule: index,
                        counts: true,
                    }
                }
                Place::Queue { rule, counts } => {
                    let (facts, rules) = walk.facts(at_hop, Side::Egress);
                    let stage = match facts.queue_police(rules.rules[rule].queue) {
                        Some(_) => Stage::QueuePolicer { rule, counts },
                        None => Stage::Queue { rule, counts },
                    };
                    return self.stage(walk, (at_hop, stage, mark));
                }
                Place::Inside if at_hop + 1 < walk.route.ports.len() => {
                    at_hop += 1;
                    Place::List(Side::Egress, 0)
                }
                Place::Inside => return Next::Deliver,
            };
        }
    }

    fn stage(&mut self, walk: &mut Walk, key: Key) -> Next {
        if let Some(known) = walk.known.get(&key) {
            return *known;
        }
        let (at_hop, stage, mark) = key;
        let next = match stage {
            Stage::Queue { rule, counts } => {
                self.hops.push(new_hop(walk, at_hop, (rule, counts), mark));
                Next::Hop((self.hops.len() - 1) as HopId)
            }
            _ => {
                self.filters.push(new_filter(walk, at_hop, stage, mark));
                Next::Filter((self.filters.len() - 1) as FilterId)
            }
        };
        walk.known.insert(key, next);
        walk.open.push((next, key));
        next
    }

    fn finish_filter(&mut self, walk: &mut Walk, filter: FilterId, (at_hop, stage, mark): Key) {
        let behind = |go_on: bool| match stage {
            Stage::Listed(side, index) if go_on => Place::List(side, index + 1),
            Stage::Listed(side, _) => Place::Rules(side),
            Stage::Rule(Side::Ingress, _) => Place::Inside,
            Stage::Rule(Side::Egress, rule) => Place::Queue {
                rule,
                counts: false,
            },
            Stage::QueuePolicer { rule, .. } | Stage::Queue { rule, .. } => Place::Queue {
                rule,
                counts: false,
            },
        };
        let network = walk.network;
        let mut next = [Next::Drop; 3];
        match policing(walk, network, at_hop, stage) {
            None => next[0] = self.at(walk, at_hop, behind(false), mark),
            Some(policing) => {
                for (next, action) in next.iter_mut().zip(&policing.actions) {
                    let Some(mark) = action.mark(mark) else {
                        continue;
                    };
                    *next = match (stage, action) {
                        // Only one policer stands before a queue.
                        (Stage::QueuePolicer { rule, .. }, _) => {
                            let counts = false;
                            self.stage(walk, (at_hop, Stage::Queue { rule, counts }, mark))
                        }
                        (_, Action::Pass { go_on, .. }) => {
                            self.at(walk, at_hop, behind(*go_on), mark)
                        }
                        (_, Action::Drop) => Next::Drop,
                    };
                }
            }
        }
        self.filters[filter as usize].next = next;
    }

    fn finish_hop(&mut self, walk: &mut Walk, hop: HopId, (at_hop, _, mark): Key) {
        let line = walk.network.ports[walk.route.ports[at_hop]].port.line;
        let arriving = Mark {
            dscp: mark.dscp,
            cos: if line.framing.tagged { mark.cos } else { 0 },
            group: None,
            colour: Colour::Green,
        };
        let (port, input) = walk.port(at_hop, Side::Ingress);
        let rules = walk.facts(at_hop, Side::Ingress).1;
        let (index, rule) = rules.classify(walk.header, input, arriving);
        let (rule, next) = if rules.listed.is_empty() && rule.police.is_none() {
            let inside = rule.mark(arriving);
            (Some(index), self.at(walk, at_hop, Place::Inside, inside))
        } else {
            let place = Place::List(Side::Ingress, 0);
            (None, self.at(walk, at_hop, place, arriving))
        };
        let reception = &mut self.hops[hop as usize].reception;
        *reception = Reception {
            port,
            rule,
            next,
            ..*reception
        };
    }
}

/// The policer of a stage, if it has one.
fn policing<'a>(
    walk: &Walk,
    network: &'a Network,
    at_hop: usize,
    stage: Stage,
) -> Option<&'a Policing> {
    let side = match stage {
        Stage::Listed(side, _) | Stage::Rule(side, _) => side,
        Stage::QueuePolicer { .. } | Stage::Queue { .. } => Side::Egress,
    };
    let facts = &network.facts[walk.port(at_hop, side).0];
    let rules = match side {
        Side::Ingress => &facts.ingress,
        Side::Egress => &facts.egress,
    };
    match stage {
        Stage::Listed(_, index) => Some(&rules.listed[index].police),
        Stage::Rule(_, index) => rules.rules[index].police.as_ref(),
        Stage::QueuePolicer { rule, .. } => facts.queue_police(rules.rules[rule].queue),
        Stage::Queue { .. } => None,
    }
}

fn new_hop(walk: &Walk, at_hop: usize, (rule, counts): (usize, bool), mark: Mark) -> Hop {
    let (port, input) = walk.port(at_hop, Side::Egress);
    let (facts, rules) = walk.facts(at_hop, Side::Egress);
    let running = &walk.network.ports[port].port;
    let line = running.line;
    let queue = rules.rules[rule].queue;
    let profiles = facts.profiles.get(queue);
    let node = &walk.network.nodes[walk.network.facts[walk.port(at_hop, Side::Ingress).0].node];
    let onward = walk.route.ports.get(at_hop + 1);
    let header_ps = onward.map_or(u64::MAX, |next| {
        node.header_ps(&line, &walk.network.ports[*next].port.line)
    });
    let latency = onward.map_or(0, |_| node.latency_ps);
    Hop {
        flow: walk.flow,
        port,
        rule: counts.then_some(rule),
        queue: queue as u16,
        conversation: running.conversation(queue, conversation_hash(walk.header, mark)),
        precedence: mark.precedence(),
        profile: profiles.map_or(NO_PROFILE, |p| p.index(walk.header, input, mark)),
        saved_header: walk.saved_header(at_hop),
        last: LineBytes::default(),
        hits: Hits::default(),
        dropped: 0,
        packets_out: 0,
        bytes_out: 0,
        reception: Reception {
            port,
            rule: None,
            next: Next::Drop,
            after_line_ps: (line.delay_ps + latency) as i64
                - line.framing.gap_ps(line.rate_bps) as i64,
            header_ps,
            forwarder: node.forwarder,
            hits: Hits::default(),
        },
    }
}

fn new_filter(walk: &Walk, at_hop: usize, stage: Stage, mark: Mark) -> Filter {
    let (side, rule, queue_of) = match stage {
        Stage::Listed(side, _) => (side, None, None),
        Stage::Rule(side, rule) => (side, Some(rule), Some(rule)),
        Stage::QueuePolicer { rule, counts } | Stage::Queue { rule, counts } => {
            (Side::Egress, counts.then_some(rule), Some(rule))
        }
    };
    let rules = walk.facts(at_hop, side).1;
    let queue = queue_of.map(|r| rules.rules[r].queue as u16);
    let line = walk.network.ports[walk.route.ports[at_hop]].port.line;
    Filter {
        flow: walk.flow,
        port: walk.port(at_hop, side).0,
        side,
        rule,
        queue: queue.filter(|_| side == Side::Egress),
        policer: policing(walk, walk.network, at_hop, stage).map(|p| p.policer),
        colour: mark.colour,
        next: [Next::Drop; 3],
        line: match side {
            Side::Ingress => FrameBytes::received(line.framing),
            Side::Egress => FrameBytes::sent(&line, walk.saved_header(at_hop)),
        },
        hits: Hits::default(),
        dropped: 0,
    }
}

/// What IOS takes for one conversation: addresses, protocol, ports and type of service.
fn conversation_hash(header: &Header, mark: Mark) -> u64 {
    let text = format!(
        "{:?} {:?} {} {:?} {:?} {}",
        header.src, header.dst, header.protocol, header.src_port, header.dst_port, mark.dscp
    );
    hash(text.as_bytes())
}
