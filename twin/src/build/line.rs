//! A port's line: the link's properties and what the port does to fit packets onto it.

use super::network::{LinkEnd, in_time};
use crate::error::ScenarioError;
use crate::framing::{Framing, RTP_HEADERS};
use crate::line::Line;
use crate::scenario::{EgressSpec, FramingSpec, LinkSpec};

/// Stands in on ports without a link, which nothing can reach.
const NOMINAL_RATE: u64 = 1_000_000_000;
/// RFC 791: every link carries packets of 68 bytes uncut.
const MIN_MTU: u32 = 68;
/// RFC 2508: 2 without and 4 with the UDP checksum, 3 without it and with 16-bit contexts.
const COMPRESSED: std::ops::RangeInclusive<u32> = 2..=4;

/// The link's framing, if its options fit it.
pub fn read_framing(link: &LinkSpec, path: &str) -> Result<Framing, ScenarioError> {
    let wrong = |field: &str, problem: &str| {
        let at = format!("{path}.{field}");
        Err(ScenarioError::new(at, problem, "leave it out"))
    };
    if link.tagged && link.framing != FramingSpec::Ethernet {
        return wrong("tagged", "only an ethernet link carries 802.1Q tags");
    }
    if link.short_sequence && link.framing != FramingSpec::Mlppp {
        return wrong("short_sequence", "only mlppp has sequence numbers");
    }
    Ok(Framing {
        kind: link.framing,
        tagged: link.tagged,
        short_sequence: link.short_sequence,
    })
}

/// The line of a port; one without a link is checked as far as it can be.
pub fn read_line(
    spec: &EgressSpec,
    end: Option<LinkEnd>,
    path: &str,
) -> Result<Line, ScenarioError> {
    let wrong = |field: &str, problem: &str, hint: &str| {
        Err(ScenarioError::new(format!("{path}.{field}"), problem, hint))
    };
    if spec.tx_fifo_packets == 0 {
        return wrong(
            "tx_fifo_packets",
            "is 0",
            "1 holds the frame on the wire alone",
        );
    }
    in_time(spec.extra_gap_ps, format!("{path}.extra_gap_ps"))?;
    check_fragments(spec, end, path)?;
    let kind = end.map(|e| e.framing.kind);
    let uncompressed = [
        Some(FramingSpec::Ethernet),
        Some(FramingSpec::Atm),
        Some(FramingSpec::AtmMux),
    ];
    if spec.header_compression && uncompressed.contains(&kind) {
        return wrong(
            "header_compression",
            "the link's framing has none",
            "use it on serial lines",
        );
    }
    let small = spec.compressed_header_bytes;
    if !COMPRESSED.contains(&small) {
        return wrong(
            "compressed_header_bytes",
            "out of range",
            "use 2 (no UDP checksum) to 4",
        );
    }
    if spec.ip_mtu.is_some_and(|mtu| mtu < MIN_MTU) {
        let hint = format!("use at least {MIN_MTU}");
        return wrong("ip_mtu", "no IP network has so small packets", &hint);
    }
    let unlinked = Framing {
        kind: FramingSpec::None,
        tagged: false,
        short_sequence: false,
    };
    Ok(Line {
        rate_bps: end.map_or(NOMINAL_RATE, |e| e.rate_bps),
        delay_ps: end.map_or(0, |e| e.delay_ps),
        framing: end.map_or(unlinked, |e| e.framing),
        tx_fifo: spec.tx_fifo_packets as usize,
        tx_fifo_bytes: spec.tx_fifo_bytes,
        extra_gap_ps: spec.extra_gap_ps,
        fragment: spec.fragment_bytes,
        interleave: spec.interleave,
        multiclass: spec.multiclass,
        saved_header: match spec.header_compression {
            true => RTP_HEADERS - small,
            false => 0,
        },
        ip_mtu: spec.ip_mtu.unwrap_or(u32::MAX),
    })
}

fn check_fragments(
    spec: &EgressSpec,
    end: Option<LinkEnd>,
    path: &str,
) -> Result<(), ScenarioError> {
    let wrong = |field: &str, problem: &str, hint: &str| {
        Err(ScenarioError::new(format!("{path}.{field}"), problem, hint))
    };
    match spec.fragment_bytes {
        Some(0) => return wrong("fragment_bytes", "is 0", "give a size or null"),
        Some(_) if end.is_some_and(|e| !e.framing.cuts()) => {
            return wrong(
                "fragment_bytes",
                "the link has no fragments",
                "frame it as mlppp or frame_relay",
            );
        }
        None if spec.interleave => {
            return wrong(
                "interleave",
                "nothing is fragmented",
                "give fragment_bytes too",
            );
        }
        _ => {}
    }
    if spec.multiclass && !spec.interleave {
        return wrong(
            "multiclass",
            "nothing is interleaved",
            "set interleave too or leave it out",
        );
    }
    if spec.multiclass && end.is_some_and(|e| e.framing.kind != FramingSpec::Mlppp) {
        return wrong(
            "multiclass",
            "only mlppp has classes",
            "leave it out or frame the link as mlppp",
        );
    }
    Ok(())
}
