//! The least delay that lines and devices allow: an empty network, and the kindest treatment that
//! a flow's packets can be marked for.

use std::collections::HashSet;

use crate::framing::serialisation_ps;
use crate::hops::Hop;
use crate::ip::fragment_sizes;
use crate::packet::Next;
use crate::sim::Simulation;

/// A packet or IP fragment on its way: IP bytes, and when it is at the next egress.
type Part = (u32, u64);

/// Least delay of a packet of `ip_bytes` from the egress of `first` to its destination, in
/// picoseconds and between the points where the simulation's delays begin and end; None if
/// policers let none through.
pub fn least_delay_ps(simulation: &Simulation, first: Next, ip_bytes: u32) -> Option<u64> {
    let mut parts: Vec<Part> = vec![(ip_bytes, 0)];
    let mut hops = queues(simulation, [first]);
    let mut left = None;
    loop {
        let receptions = hops.iter().map(|hop| hop.reception.next);
        let next = queues(simulation, receptions);
        let crossing = across(simulation, &hops, &parts, !next.is_empty())?;
        parts = crossing.parts;
        let left = *left.get_or_insert(crossing.first_bit_ps);
        if next.is_empty() {
            let last_bit_ps = parts.iter().map(|(_, at)| *at).max()?;
            return reaches(simulation, &hops).then_some(match simulation.first_bits {
                None => last_bit_ps,
                Some(_) => crossing.reached_ps.saturating_sub(left),
            });
        }
        hops = next;
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

/// Sends the parts over the line that all `hops` lead to, and through the node behind it if it
/// `forwards` them.
fn across(
    simulation: &Simulation,
    hops: &[&Hop],
    parts: &[Part],
    forwards: bool,
) -> Option<Crossing> {
    let any = hops.first()?;
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
    let (mut line_free, mut engine_free) = (0, 0u64);
    let line = &port.line;
    let preamble_ps = serialisation_ps(line.framing.preamble_bytes(), line.rate_bps);
    let mut result = Crossing::default();
    for (ip, at) in &cut {
        let saved = |hop_saves: u32| if cut.len() > 1 { 0 } else { hop_saves };
        let times = hops
            .iter()
            .map(|s| port.line_time_ps(*ip, saved(s.saved_header), s.queue));
        let start = (*at).max(line_free);
        let begun = start.saturating_add(preamble_ps);
        if result.parts.is_empty() {
            result.first_bit_ps = begun;
        }
        result.reached_ps = begun.saturating_add(line.delay_ps);
        let sent = start.saturating_add(times.min().unwrap_or(0));
        line_free = sent.saturating_add(line.extra_gap_ps);
        let header = start.saturating_add(any.reception.header_ps);
        let mut there = (sent.min(header)).saturating_add_signed(any.reception.after_line_ps);
        if forwards {
            there = there.max(engine_free).saturating_add(engine_ps);
            engine_free = there;
        }
        result.parts.push((*ip, there));
    }
    Some(result)
}

/// The places in queues that filters lead to from any of `from`.
fn queues(simulation: &Simulation, from: impl IntoIterator<Item = Next>) -> Vec<&Hop> {
    let found = behind_filters(simulation, from).into_iter();
    found
        .filter_map(|next| match next {
            Next::Hop(hop) => Some(&simulation.hops[hop as usize]),
            _ => None,
        })
        .collect()
}

/// Can what went by `hops` be at its destination now?
fn reaches(simulation: &Simulation, hops: &[&Hop]) -> bool {
    let receptions = hops.iter().map(|hop| hop.reception.next);
    behind_filters(simulation, receptions).contains(&Next::Deliver)
}

/// What all outcomes of filters lead to, each once.
fn behind_filters(simulation: &Simulation, from: impl IntoIterator<Item = Next>) -> Vec<Next> {
    let mut open: Vec<Next> = from.into_iter().collect();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        match next {
            Next::Filter(filter) => open.extend(simulation.filters.filters[filter as usize].next),
            other => found.push(other),
        }
    }
    found
}
