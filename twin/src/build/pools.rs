//! Shared buffers by name, with what their queues reserve.

use std::collections::HashMap;
use std::sync::Arc;

use super::twice;
use crate::error::ScenarioError;
use crate::named::NamedPool;
use crate::pool::{Pool, PoolShare};
use crate::scenario::{EgressSpec, NodeSpec, PoolSpec, QueueSpec};

/// The pools of one node, by port (None: the node's own) and name.
#[derive(Debug, Default)]
pub struct NodePools<'a> {
    pools: HashMap<(Option<usize>, &'a str), Arc<Pool>>,
}

impl<'a> NodePools<'a> {
    /// Makes the pools of a node; adds them to the run's.
    pub fn read(
        node: &'a NodeSpec,
        path: &str,
        run: &mut Vec<NamedPool>,
    ) -> Result<Self, ScenarioError> {
        let mut all = Self::default();
        let reserved = |specs: &[&EgressSpec], pool: &PoolSpec| {
            let queues = specs.iter().flat_map(|e| &e.queues);
            let mine = queues.filter(|q| q.pool.as_deref() == Some(&pool.name));
            mine.fold(0u64, |sum, q| {
                let reserved = q.reserved_packets.or(q.reserved_bytes);
                sum.saturating_add(reserved.unwrap_or(0))
            })
        };
        let egress = |p: usize| node.ports[p].egress.as_ref();
        let every: Vec<_> = (0..node.ports.len()).filter_map(egress).collect();
        let lists = (0..node.ports.len()).filter_map(|p| Some((Some(p), egress(p)?)));
        let lists = lists.map(|(p, e)| (p, &e.pools, vec![e]));
        for (port, pools, users) in lists.chain([(None, &node.pools, every)]) {
            let base = match port {
                Some(p) => format!("{path}.ports[{p}].egress.pools"),
                None => format!("{path}.pools"),
            };
            for (i, spec) in pools.iter().enumerate() {
                let at = format!("{base}[{i}]");
                let same = |k: &(Option<usize>, &str)| {
                    k.1 == spec.name && (k.0 == port || port.is_none() || k.0.is_none())
                };
                if all.pools.keys().any(same) {
                    return Err(twice(&at, &spec.name));
                }
                let pool = Arc::new(pool(spec, reserved(&users, spec), &at)?);
                all.pools.insert((port, &spec.name), pool.clone());
                run.push(NamedPool {
                    node: node.name.clone(),
                    port: port.map(|p| node.ports[p].name.clone()),
                    name: spec.name.clone(),
                    pool,
                });
            }
        }
        Ok(all)
    }

    /// The part of the pool that a queue of this port names.
    pub fn share(
        &self,
        port: usize,
        queue: &QueueSpec,
        path: &str,
    ) -> Result<Option<PoolShare>, ScenarioError> {
        let wrong = |field: &str, problem: &str, hint: &str| {
            Err(ScenarioError::new(format!("{path}.{field}"), problem, hint))
        };
        let reserved = queue.reserved_packets.or(queue.reserved_bytes);
        let Some(name) = queue.pool.as_deref() else {
            if reserved.is_some() || queue.alpha.is_some() {
                let problem = "reserved or alpha without a pool";
                return wrong("pool", problem, "name the pool");
            }
            return Ok(None);
        };
        let found = self.pools.get(&(Some(port), name));
        let Some(pool) = found.or_else(|| self.pools.get(&(None, name))) else {
            let problem = format!("no pool is called {name:?}");
            return wrong("pool", &problem, "declare it at the port or its node");
        };
        if pool.in_bytes && queue.reserved_packets.is_some() {
            return wrong(
                "reserved_packets",
                "the pool is of bytes",
                "give reserved_bytes",
            );
        }
        if !pool.in_bytes && queue.reserved_bytes.is_some() {
            return wrong(
                "reserved_bytes",
                "the pool is of packets",
                "give reserved_packets",
            );
        }
        if queue.alpha.is_some_and(|a| !(a.is_finite() && a > 0.0)) {
            return wrong("alpha", "is not positive", "use 1 or so");
        }
        let share = PoolShare::new(pool.clone(), reserved.unwrap_or(0), queue.alpha);
        Ok(Some(share))
    }
}

fn pool(spec: &PoolSpec, reserved: u64, path: &str) -> Result<Pool, ScenarioError> {
    let (size, in_bytes) = match (spec.packets, spec.bytes) {
        (Some(packets), None) => (packets, false),
        (None, Some(bytes)) => (bytes, true),
        _ => {
            let problem = "the pool needs one size";
            return Err(ScenarioError::new(path, problem, "give packets or bytes"));
        }
    };
    if size == 0 {
        let at = format!("{path}.{}", if in_bytes { "bytes" } else { "packets" });
        return Err(ScenarioError::new(at, "is 0", "give a positive number"));
    }
    if reserved > size {
        let problem = format!("its queues reserve {reserved} of {size}");
        return Err(ScenarioError::new(
            path,
            problem,
            "reserve less or enlarge it",
        ));
    }
    Ok(Pool::new(size, in_bytes, reserved))
}
