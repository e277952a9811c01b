//! Resolves a flow's way into steps: one per port and set of marks it can get there with.

use std::collections::HashMap;

use super::network::{Network, Route};
use super::rules::classify;
use crate::classify::{Header, Mark};
use crate::error::ScenarioError;
use crate::packet::{FlowId, StepId};
use crate::red::{NO_PROFILE, profile_index};
use crate::rng::hash;
use crate::step::{Hits, Next, Reception, Step};

/// Applications whose headers RTP header compression understands start so.
const RTP: &str = "rtp-";
const MAX_STEPS: usize = 1 << 22;

#[derive(Debug, Default)]
pub struct Routes {
    pub steps: Vec<Step>,
    flows: FlowId,
}

/// One way of one flow while it is resolved.
struct Walk<'a, 'n> {
    flow: FlowId,
    network: &'a Network<'n>,
    route: &'a Route,
    header: &'a Header,
    /// By hop, marks on arrival at the port, and the rule if it is settled.
    known: HashMap<(usize, Mark, Option<usize>), StepId>,
}

impl Routes {
    pub fn next_flow(&mut self) -> FlowId {
        self.flows += 1;
        self.flows - 1
    }

    /// Adds the steps of a route; returns the first.
    pub fn add(
        &mut self,
        flow: FlowId,
        network: &Network,
        route: &Route,
        header: &Header,
        mark: Mark,
    ) -> Result<StepId, ScenarioError> {
        let mut walk = Walk {
            flow,
            network,
            route,
            header,
            known: HashMap::new(),
        };
        let first = self.step(&mut walk, 0, mark, None);
        if self.steps.len() > MAX_STEPS {
            let problem = "too many flows, hops and marks together";
            return Err(ScenarioError::new("flows", problem, "split the scenario"));
        }
        Ok(first)
    }

    /// `settled`: the egress rule, for what its policer marked anew.
    fn step(&mut self, walk: &mut Walk, hop: usize, mark: Mark, settled: Option<usize>) -> StepId {
        if let Some(known) = walk.known.get(&(hop, mark, settled)) {
            return *known;
        }
        let port = walk.route.ports[hop];
        let facts = &walk.network.facts[port];
        let running = &walk.network.ports[port].port;
        let (rule_index, rule, out, policer) = match settled {
            Some(index) => (index, &facts.egress[index], mark, None),
            None => {
                let (index, rule) = classify(&facts.egress, walk.header, mark);
                (index, rule, rule.mark(mark), rule.police.as_ref())
            }
        };
        let exceed = policer.and_then(|(_, marks)| marks.as_ref());
        let exceed = exceed.map(|m| self.step(walk, hop, out.with(m), Some(rule_index)));
        let reception = self.reception(walk, hop, out);
        let rtp = (walk.header.application.as_ref()).is_some_and(|a| a.starts_with(RTP));
        let red = facts.red.get(rule.queue).and_then(|r| r.as_ref());
        let step = Step {
            flow: walk.flow,
            port,
            rule: rule_index,
            policer: policer.map(|(index, _)| *index),
            exceed,
            queue: rule.queue as u16,
            conversation: running.conversation(rule.queue, conversation_hash(walk.header, out)),
            precedence: out.precedence(),
            profile: red.map_or(NO_PROFILE, |red| profile_index(red, out)),
            saved_header: if rtp { running.line.saved_header } else { 0 },
            hits: Hits::default(),
            dropped: 0,
            packets_out: 0,
            bytes_out: 0,
            reception,
        };
        self.steps.push(step);
        let id = (self.steps.len() - 1) as StepId;
        walk.known.insert((hop, mark, settled), id);
        id
    }

    fn reception(&mut self, walk: &mut Walk, hop: usize, mark: Mark) -> Reception {
        let line = walk.network.ports[walk.route.ports[hop]].port.line;
        let sender = &walk.network.facts[walk.route.ports[hop]];
        // A route's ports are all linked.
        let port = sender.peer.unwrap_or(walk.route.ports[hop]);
        let facts = &walk.network.facts[port];
        let arriving = Mark {
            dscp: mark.dscp,
            cos: if line.framing.tagged { mark.cos } else { 0 },
            group: None,
        };
        let (rule_index, rule) = classify(&facts.ingress, walk.header, arriving);
        let inside = rule.mark(arriving);
        let forwards = hop + 1 < walk.route.ports.len();
        let node = &walk.network.nodes[facts.node];
        let onward = walk.route.ports.get(hop + 1);
        let header_ps = onward.map_or(u64::MAX, |next| {
            node.header_ps(&line, &walk.network.ports[*next].port.line)
        });
        let mut next = |mark| match forwards {
            true => Next::Step(self.step(walk, hop + 1, mark, None)),
            false => Next::Deliver,
        };
        let conform = next(inside);
        let exceed = rule.police.as_ref().and_then(|(_, marks)| marks.as_ref());
        Reception {
            port,
            rule: rule_index,
            policer: rule.police.as_ref().map(|(index, _)| *index),
            conform,
            exceed: exceed.map(|m| next(inside.with(m))),
            after_line_ps: (line.delay_ps + if forwards { node.latency_ps } else { 0 }) as i64
                - line.framing.gap_ps(line.rate_bps) as i64,
            header_ps,
            forwarder: node.forwarder,
            hits: Hits::default(),
        }
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
