//! The least delay that lines and boxes allow: an empty network, and the kindest treatment that
//! a flow's packets can be marked for.

use crate::framing::serialisation_ps;
use crate::ip::fragment_sizes;
use crate::packet::StepId;
use crate::sim::Simulation;
use crate::step::Next;

/// A packet or IP fragment on its way: IP bytes, and when it is at the next egress.
type Part = (u32, u64);

/// Least delay of a packet of `ip_bytes` from the egress of `first` to its destination, in
/// picoseconds and between the points where the simulation's delays begin and end.
pub fn least_delay_ps(simulation: &Simulation, first: StepId, ip_bytes: u32) -> u64 {
    let mut parts: Vec<Part> = vec![(ip_bytes, 0)];
    let mut steps = vec![first];
    let mut left = None;
    loop {
        add_remarked(simulation, &mut steps);
        let crossing = across(simulation, &steps, &parts);
        parts = crossing.parts;
        let left = *left.get_or_insert(crossing.first_bit_ps);
        let next = onward(simulation, &steps);
        if next.is_empty() {
            let last_bit_ps = parts.iter().map(|(_, at)| *at).max();
            return match simulation.first_bits {
                None => last_bit_ps.unwrap_or(0),
                Some(_) => crossing.reached_ps.saturating_sub(left),
            };
        }
        steps = next;
    }
}

/// Parts that went over a line.
#[derive(Debug, Default)]
struct Crossing {
    /// After the line, and after the node behind it if that forwards them.
    parts: Vec<Part>,
    /// When the first bit of the first part left.
    first_bit_ps: u64,
    /// When the first bit of the last part was at the line's far end.
    reached_ps: u64,
}

/// Adds the steps that a policer at the same egress leads to.
fn add_remarked(simulation: &Simulation, steps: &mut Vec<StepId>) {
    let remarked = steps.iter().map(|id| &simulation.steps[*id as usize]);
    let remarked: Vec<_> = remarked.filter_map(|s| s.exceed).collect();
    steps.extend(remarked);
}

/// Sends the parts over the line that all `steps` lead to.
fn across(simulation: &Simulation, steps: &[StepId], parts: &[Part]) -> Crossing {
    let ways = || steps.iter().map(|id| &simulation.steps[*id as usize]);
    let Some(any) = ways().next() else {
        return Crossing::default();
    };
    let port = &simulation.ports[any.port].port;
    let mtu = port.line.ip_mtu;
    let cut = parts.iter().flat_map(|(ip, at)| match *ip > mtu {
        true => fragment_sizes(*ip, mtu).map(|size| (size, *at)).collect(),
        false => vec![(*ip, *at)],
    });
    let cut: Vec<Part> = cut.collect();
    let engine = any
        .reception
        .forwarder
        .map(|f| &simulation.forwarders[f as usize]);
    let engine_ps = engine.map_or(0, |e| e.per_packet_ps);
    let forwards = ways().any(|s| s.reception.conform != Next::Deliver);
    let (mut line_free, mut engine_free) = (0, 0u64);
    let line = &port.line;
    let preamble_ps = serialisation_ps(line.framing.preamble_bytes(), line.rate_bps);
    let mut result = Crossing::default();
    for (ip, at) in &cut {
        let saved = |step_saves: u32| if cut.len() > 1 { 0 } else { step_saves };
        let times = ways().map(|s| port.line_time_ps(*ip, saved(s.saved_header), s.queue));
        let start = (*at).max(line_free);
        let begun = start.saturating_add(preamble_ps);
        if result.parts.is_empty() {
            result.first_bit_ps = begun;
        }
        result.reached_ps = begun.saturating_add(line.delay_ps);
        line_free = start.saturating_add(times.min().unwrap_or(0));
        let header = start.saturating_add(any.reception.header_ps);
        let mut there = (line_free.min(header)).saturating_add_signed(any.reception.after_line_ps);
        if forwards {
            there = there.max(engine_free).saturating_add(engine_ps);
            engine_free = there;
        }
        result.parts.push((*ip, there));
    }
    result
}

/// The steps at the next egress, none at the destination.
fn onward(simulation: &Simulation, steps: &[StepId]) -> Vec<StepId> {
    let mut next = Vec::new();
    for id in steps {
        let reception = &simulation.steps[*id as usize].reception;
        for way in [Some(reception.conform), reception.exceed] {
            if let Some(Next::Step(step)) = way
                && !next.contains(&step)
            {
                next.push(step);
            }
        }
    }
    next
}
