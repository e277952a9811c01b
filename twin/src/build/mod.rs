//! From a scenario to a simulation ready to run; every refusal names its JSON path.

mod line;
mod network;
mod node;
mod pools;
mod queues;
mod routes;
mod rules;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use crate::classify::Header;
use crate::counters::ReturnCounters;
use crate::error::ScenarioError;
use crate::filters::Filters;
use crate::hop_delay::FlowHops;
use crate::measure::{Meter, Sizes};
use crate::packet::Next;
use crate::rng::Stream;
use crate::scenario::{DelayReference, FlowSpec, Scenario, VERSION};
use crate::sim::Simulation;
use crate::source::{self, Groups, Source};
use crate::state::{Flow, RunState};
use network::Network;
use routes::Routes;

/// 11 days: keeps sums of times far inside 64 bits.
const MAX_TIME_PS: u64 = 1_000_000_000_000_000_000;

/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Builds the simulation of `scenario` under `seed`.
pub fn build(scenario: &Scenario, seed: u64) -> Result<Simulation, ScenarioError> {
    check_frame(scenario)?;
    let window = (scenario.warmup_ps, scenario.duration_ps);
    let mut network = Network::new(scenario, window, seed)?;
    let mut routes = Routes::default();
    let groups = RefCell::new(Groups::new(seed));
    let mut flows = Vec::new();
    let mut names = HashSet::new();
    let mut total = PlannedPackets::default();
    for (index, spec) in scenario.flows.iter().enumerate() {
        let path = format!("flows[{index}]");
        if !names.insert(spec.name.as_str()) {
            return Err(twice(&path, &spec.name));
        }
        let planned = Cell::new(0);
        let flow = flow(
            spec,
            &path,
            scenario,
            seed,
            (&groups, &planned),
            &mut network,
            &mut routes,
        )?;
        let every = spec.samples.then_some(spec.sample_every);
        total.add(planned.get(), every, &path)?;
        flows.push(flow);
    }
    let mut simulation = Simulation::new(
        seed,
        scenario.delay_reference,
        RunState {
            flows,
            hops: routes.hops,
            filters: Filters {
                filters: routes.filters,
                policers: network.policers,
            },
            forwarders: network.forwarders,
            ports: network.ports,
            pools: network.pools,
            observer: network.observer,
        },
    );
    if scenario.cool_down_ps > 0 {
        simulation.cool_down();
    }
    if !scenario.drain {
        simulation.cut_off(scenario.duration_ps + scenario.cool_down_ps);
    }
    Ok(simulation)
}

/// The packets that all sources together may send, and those of them that are kept.
#[derive(Debug, Default)]
struct PlannedPackets {
    packets: u128,
    samples: u128,
}

impl PlannedPackets {
    /// Refuses the flow with which the scenario sends more than one source may.
    ///
    /// `every`: of so many packets one is kept; none without it.
    fn add(&mut self, packets: u128, every: Option<u64>, path: &str) -> Result<(), ScenarioError> {
        self.packets += packets;
        self.samples += every.map_or(0, |every| packets / u128::from(every.max(1)));
        for (sum, most, what) in [
            (self.packets, source::MAX_PACKETS, "packets"),
            (self.samples, source::MAX_SAMPLES, "packets with samples"),
        ] {
            if sum > most {
                let problem =
                    format!("with the flows before it, would send more than {most} {what}");
                let hint = "lower the rates, leave flows out or shorten duration_ps";
                return Err(ScenarioError::new(format!("{path}.source"), problem, hint));
            }
        }
        Ok(())
    }
}

fn check_frame(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wrong =
        |path: &str, problem: &str, hint: &str| Err(ScenarioError::new(path, problem, hint));
    if scenario.version != VERSION {
        let problem = format!("version {} is unknown", scenario.version);
        return wrong("version", &problem, &format!("use {VERSION}"));
    }
    if !(1..=MAX_TIME_PS).contains(&scenario.duration_ps) {
        return wrong(
            "duration_ps",
            "out of range",
            &format!("use 1 to {MAX_TIME_PS}"),
        );
    }
    if scenario.cool_down_ps > MAX_TIME_PS - scenario.duration_ps {
        return wrong(
            "cool_down_ps",
            "out of range",
            &format!("use at most {MAX_TIME_PS} together with duration_ps"),
        );
    }
    if scenario.warmup_ps >= scenario.duration_ps {
        return wrong(
            "warmup_ps",
            "nothing would be measured",
            "end it before duration_ps",
        );
    }
    Ok(())
}

fn flow(
    spec: &FlowSpec,
    path: &str,
    scenario: &Scenario,
    seed: u64,
    (groups, planned): (&RefCell<Groups>, &Cell<u128>),
    network: &mut Network,
    routes: &mut Routes,
) -> Result<Flow, ScenarioError> {
    if spec.sample_every == 0 {
        let at = format!("{path}.sample_every");
        return Err(ScenarioError::new(
            at,
            "is 0",
            "use 1 to report every packet",
        ));
    }
    if spec.hops && scenario.delay_reference != DelayReference::Arrival {
        let at = format!("{path}.hops");
        let problem = "hops last from arrival to arrival, and delays count from the first bit";
        let hint = "set delay_reference: arrival";
        return Err(ScenarioError::new(at, problem, hint));
    }
    let mut stream = Stream::new(seed, &format!("flow {}", spec.name));
    let there = network.route(&spec.path, &format!("{path}.path"))?;
    let context = source::Context {
        duration_ps: scenario.duration_ps + scenario.cool_down_ps,
        warmup_ps: scenario.warmup_ps,
        samples: spec.samples,
        framing: network.ports[there.ports[0]].port.line.framing,
        groups,
        planned,
        path: &format!("{path}.source"),
    };
    let source = source::read(&spec.source, context, &mut stream)?;
    let protocol = match &source {
        Source::Open { .. } | Source::Echo(_) => UDP,
        Source::Tcp(_) => TCP,
    };
    let (header, mark) = Header::read(&spec.packet, protocol, &format!("{path}.packet"))?;
    let id = routes.next_flow();
    let first = routes.add(id, network, &there, &header, mark)?;
    let back_at = format!("{path}.return_path");
    let back: Option<Next> = match (&spec.return_path, &source) {
        (Some(back), Source::Tcp(_) | Source::Echo(_)) => {
            let back = network.route(back, &back_at)?;
            if back.from != there.to || back.to != there.from {
                let problem = "does not lead from the flow's destination to its source";
                return Err(ScenarioError::new(back_at, problem, "reverse the path"));
            }
            Some(routes.add(id, network, &back, &header.reversed(), mark)?)
        }
        (None, Source::Open { .. }) => None,
        (None, Source::Tcp(_) | Source::Echo(_)) => {
            let problem = "tcp, tcp_session and udp_echo need a way back";
            return Err(ScenarioError::new(back_at, problem, "add return_path"));
        }
        (Some(_), Source::Open { .. }) => {
            let problem = "only tcp, tcp_session and udp_echo have one";
            return Err(ScenarioError::new(back_at, problem, "leave it out"));
        }
    };
    Ok(Flow {
        name: spec.name.clone(),
        source,
        stream,
        first,
        back,
        returned: ReturnCounters::default(),
        sizes: Sizes::NONE,
        meter: Meter::new(if spec.samples { spec.sample_every } else { 0 }),
        histogram: spec.histogram,
        hops: (spec.hops).then(|| Box::new(FlowHops::new(&there.ports))),
    })
}

/// The error for a name used a second time.
fn twice(path: &str, name: &str) -> ScenarioError {
    let problem = format!("the name {name:?} is used twice");
    ScenarioError::new(format!("{path}.name"), problem, "give each its own name")
}

#[cfg(test)]
mod tests {
    use super::PlannedPackets;

    #[test]
    fn samples_are_counted_as_they_are_kept() {
        let mut total = PlannedPackets::default();
        total.add(49_000_000, Some(1000), "flows[0]").unwrap();
        total.add(49_000_000, Some(1000), "flows[1]").unwrap();
        let refused = total.add(50_000_000, Some(1), "flows[2]").unwrap_err();
        assert_eq!(refused.path, "flows[2].source");
        assert!(refused.problem.ends_with("packets with samples"));
    }
}
