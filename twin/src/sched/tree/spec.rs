//! A tree of policies as written, flattened: parents before children.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Node, Tier};
use crate::error::ScenarioError;
use crate::police::TokenBucket;
use crate::scenario::ShapeSpec;
use crate::sched::weights::MAX_WEIGHT;
use crate::sched::{Bucket, Context};

/// Policies inside policies; deeper ones are a mistake.
const MAX_DEPTH: usize = 16;
/// One packet of the usual MTU.
const DEFAULT_BURST: u64 = 1_600;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    children: Vec<NodeSpec>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TreeNodeSpec")]
struct NodeSpec {
    /// For the reader only.
    #[serde(default, rename = "name")]
    _name: Option<String>,
    /// Relative to the siblings of the same priority.
    #[serde(default)]
    weight: Option<u64>,
    /// A weight too, but checked: siblings' rates must fit into what their parent has.
    #[serde(default)]
    rate_bps: Option<u64>,
    /// Served before siblings with a larger one or none.
    #[serde(default)]
    priority: Option<u8>,
    /// Shaped to this.
    #[serde(default)]
    ceil_bps: Option<u64>,
    /// Of the shaper.
    #[serde(default = "default_burst")]
    burst_bytes: u64,
    /// Of a leaf: what exceeds this is dropped while the port is congested.
    #[serde(default)]
    police: Option<ShapeSpec>,
    #[serde(default)]
    queue: Option<usize>,
    #[serde(default)]
    children: Vec<NodeSpec>,
}

fn default_burst() -> u64 {
    DEFAULT_BURST
}

/// Flattens a tree while checking it.
pub struct Reader<'a> {
    context: Context<'a>,
    pub nodes: Vec<Node>,
    taken: Vec<bool>,
}

impl<'a> Reader<'a> {
    /// The nodes, the root first.
    pub fn read(spec: &TreeSpec, context: Context<'a>) -> Result<Vec<Node>, ScenarioError> {
        let mut reader = Self {
            context,
            nodes: vec![Node::new(None)],
            taken: vec![false; context.queues],
        };
        reader.children(0, &spec.children, context.rate_bps, "", 1)?;
        if let Some(queue) = reader.taken.iter().position(|taken| !taken) {
            let problem = format!("queue {queue} is in no leaf");
            return Err(context.error("children", &problem, "add a leaf with it"));
        }
        Ok(reader.nodes)
    }

    /// `available_bps` is what the parent can have at most.
    fn children(
        &mut self,
        parent: usize,
        specs: &[NodeSpec],
        available_bps: u64,
        path: &str,
        depth: usize,
    ) -> Result<(), ScenarioError> {
        let list = if path.is_empty() {
            "children".into()
        } else {
            format!("{path}.children")
        };
        if specs.is_empty() {
            let hint = "give a leaf its queue, or a node its children";
            return Err(self.context.error(&list, "nothing to serve", hint));
        }
        if depth > MAX_DEPTH {
            let hint = format!("use at most {MAX_DEPTH} levels");
            return Err(self.context.error(&list, "nested too deeply", &hint));
        }
        let rates = specs.iter().filter_map(|s| s.rate_bps);
        let sum = rates.map(u128::from).sum::<u128>();
        if sum > u128::from(available_bps) {
            let problem = format!("rates of {sum} b/s where {available_bps} b/s are");
            return Err(self
                .context
                .error(&list, &problem, "lower them or use weights"));
        }
        for (i, spec) in specs.iter().enumerate() {
            let at = format!("{list}[{i}]");
            let node = self.node(parent, spec, &at)?;
            self.check_unit(&specs[..i], spec, &at)?;
            if spec.queue.is_none() {
                let own = spec.ceil_bps.or(spec.rate_bps).unwrap_or(available_bps);
                let available = own.min(available_bps);
                self.children(node, &spec.children, available, &at, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Siblings that share must say so in one unit.
    fn check_unit(
        &self,
        before: &[NodeSpec],
        spec: &NodeSpec,
        at: &str,
    ) -> Result<(), ScenarioError> {
        let mut peers = before.iter().filter(|s| s.priority == spec.priority);
        if peers.any(|s| s.rate_bps.is_some() != spec.rate_bps.is_some()) {
            let problem = "siblings of one priority share, some by rate and some by weight";
            return Err(self.context.error(at, problem, "give all a rate, or none"));
        }
        Ok(())
    }

    fn node(&mut self, parent: usize, spec: &NodeSpec, at: &str) -> Result<usize, ScenarioError> {
        let wrong = |field: &str, problem: &str, hint: &str| {
            Err(self.context.error(&format!("{at}.{field}"), problem, hint))
        };
        let weight = match (spec.weight, spec.rate_bps) {
            (Some(_), Some(_)) => return wrong("weight", "rate_bps is given too", "give one"),
            (Some(weight), None) => (weight, "weight"),
            (None, Some(rate)) => (rate, "rate_bps"),
            (None, None) => (1, "weight"),
        };
        if !(1..=MAX_WEIGHT).contains(&weight.0) {
            return wrong(weight.1, "out of range", "use 1 to 10^12");
        }
        let mut node = Node::new(Some(parent));
        node.per_byte = (1 << 64) / u128::from(weight.0);
        node.urgent = spec.priority.is_some();
        let full = |field: &str| format!("{}.{at}{field}", self.context.path);
        if let Some(rate_bps) = spec.ceil_bps {
            if rate_bps == 0 {
                return wrong("ceil_bps", "is 0", "give a positive number");
            }
            let burst_bytes = spec.burst_bytes;
            let shape = ShapeSpec {
                rate_bps,
                burst_bytes,
                whole_frames: false,
            };
            node.ceil = Some(Bucket::new(&shape, &full(""))?);
        }
        match (spec.queue, spec.children.is_empty()) {
            (Some(_), false) => {
                return wrong("queue", "the node has children", "leave one of the two out");
            }
            (Some(queue), true) => {
                self.context.check_queue(queue, &format!("{at}.queue"))?;
                if std::mem::replace(&mut self.taken[queue], true) {
                    return wrong("queue", "another leaf has it", "give each leaf its own");
                }
                node.queue = Some(queue);
                if let Some(police) = &spec.police {
                    let path = full(".police");
                    if police.whole_frames {
                        let hint = "leave whole_frames out: a policer counts whole frames";
                        return wrong("police", "is a shaper", hint);
                    }
                    let bucket = TokenBucket::new(police.rate_bps, police.burst_bytes, &path)?;
                    node.police = Some(bucket);
                }
            }
            (None, _) if spec.police.is_some() => {
                return wrong(
                    "police",
                    "the node is no leaf",
                    "police its leaves, or shape it",
                );
            }
            (None, _) => {}
        }
        let index = self.nodes.len();
        let tiers = &mut self.nodes[parent].tiers;
        let order = spec.priority.map_or(u16::MAX, u16::from);
        let tier = match tiers.binary_search_by_key(&order, |t| t.order) {
            Ok(tier) => &mut tiers[tier],
            Err(place) => {
                tiers.insert(place, Tier::new(order));
                &mut tiers[place]
            }
        };
        tier.children.push(index);
        self.nodes.push(node);
        Ok(index)
    }
}
