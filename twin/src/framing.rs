//! Bytes a link adds to an IP packet, and the time they take.

use crate::scenario::FramingSpec;

/// Picoseconds in a second.
pub const SECOND_PS: u64 = 1_000_000_000_000;

/// Ethernet MAC header 14 and FCS 4 (IEEE 802.3); with an 802.1Q tag 4 more.
const ETHERNET: u32 = 18;
const DOT1Q: u32 = 4;
const ETHERNET_MIN_FRAME: u32 = 64;
/// Preamble and start delimiter before a frame, least silence after it (IEEE 802.3).
const ETHERNET_PREAMBLE: u32 = 8;
const ETHERNET_GAP: u32 = 12;
/// Cisco HDLC: address 1, control 1, type 2, FCS 2, one flag shared between frames.
const HDLC: u32 = 7;
/// RFC 1662: address 1, control 1, protocol 2, FCS 2, and one flag, which section 3.1 lets
/// two frames share.
const PPP: u32 = 7;
/// RFC 1990 long-sequence multilink header; the inner protocol field (1 or 2 bytes, once per
/// packet) is not counted.
const MULTILINK: u32 = 4;
/// RFC 2508: the 40 bytes of IP, UDP and RTP become 4 with the UDP checksum kept.
const RTP_HEADERS: u32 = 40;
const COMPRESSED_HEADERS: u32 = 4;

/// How one link frames packets.
#[derive(Debug, Clone, Copy)]
pub struct Framing {
    pub kind: FramingSpec,
    pub tagged: bool,
}

impl Framing {
    /// Frame bytes of an unfragmented packet of `ip` bytes; what schedulers, policers and
    /// byte counters see. `plain`: on a multilink, sent beside the bundle's sequence as
    /// ordinary PPP.
    pub fn frame_bytes(self, ip: u32, plain: bool) -> u32 {
        match self.kind {
            FramingSpec::None => ip,
            FramingSpec::Ethernet => {
                let tag = if self.tagged { DOT1Q } else { 0 };
                (ip + ETHERNET + tag).max(ETHERNET_MIN_FRAME)
            }
            FramingSpec::Hdlc => ip + HDLC,
            FramingSpec::Ppp => ip + PPP,
            FramingSpec::Mlppp if plain => ip + PPP,
            FramingSpec::Mlppp => ip + PPP + MULTILINK,
        }
    }

    /// Bytes of line time a frame takes.
    pub fn wire_bytes(self, frame: u32) -> u32 {
        match self.kind {
            FramingSpec::Ethernet => frame + ETHERNET_PREAMBLE + ETHERNET_GAP,
            _ => frame,
        }
    }

    /// Line time before the first bit of a frame, in bytes.
    pub fn preamble_bytes(self) -> u32 {
        match self.kind {
            FramingSpec::Ethernet => ETHERNET_PREAMBLE,
            _ => 0,
        }
    }

    /// Line time after the last bit of a frame, in picoseconds, rounded down.
    pub fn gap_ps(self, rate_bps: u64) -> u64 {
        match self.kind {
            FramingSpec::Ethernet => u64::from(ETHERNET_GAP) * 8 * SECOND_PS / rate_bps,
            _ => 0,
        }
    }
}

/// IP bytes of a packet on a line that compresses its header or not.
pub fn carried(ip: u32, compress: bool) -> u32 {
    if compress { compressed(ip) } else { ip }
}

/// IP bytes left of an RTP packet after header compression.
fn compressed(ip: u32) -> u32 {
    if ip > RTP_HEADERS {
        ip - RTP_HEADERS + COMPRESSED_HEADERS
    } else {
        ip
    }
}

/// Time of `bytes` on a line of `rate_bps` (not 0), rounded up so that no line is too fast;
/// `u64::MAX` if 64 bits cannot hold it.
pub fn serialisation_ps(bytes: u32, rate_bps: u64) -> u64 {
    let bits = u128::from(bytes) * 8 * u128::from(SECOND_PS);
    if let Ok(small) = u64::try_from(bits) {
        small.div_ceil(rate_bps)
    } else {
        u64::try_from(bits.div_ceil(u128::from(rate_bps))).unwrap_or(u64::MAX)
    }
}

/// Line times at one rate.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    rate_bps: u64,
    /// Of a byte, if whole: most rates then need no division.
    byte_ps: Option<u64>,
}

impl Clock {
    /// `rate_bps` is not 0.
    pub fn new(rate_bps: u64) -> Self {
        let byte = 8 * SECOND_PS;
        let byte_ps = byte.is_multiple_of(rate_bps).then(|| byte / rate_bps);
        Self { rate_bps, byte_ps }
    }

    /// See [`serialisation_ps`].
    pub fn serialisation_ps(self, bytes: u32) -> u64 {
        match self.byte_ps {
            Some(byte_ps) => byte_ps.saturating_mul(bytes.into()),
            None => serialisation_ps(bytes, self.rate_bps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let frame = |kind, tagged, ip| {
            let framing = Framing { kind, tagged };
            let bytes = framing.frame_bytes(ip, false);
            (bytes, framing.wire_bytes(bytes))
        };
        assert_eq!(frame(FramingSpec::Ethernet, false, 1500), (1518, 1538));
        assert_eq!(frame(FramingSpec::Ethernet, true, 1500), (1522, 1542));
        assert_eq!(frame(FramingSpec::Ethernet, false, 40), (64, 84));
        assert_eq!(frame(FramingSpec::Hdlc, false, 200), (207, 207));
        assert_eq!(frame(FramingSpec::Ppp, false, 200), (207, 207));
        assert_eq!(frame(FramingSpec::Mlppp, false, 200), (211, 211));
        assert_eq!(compressed(200), 164);
        assert_eq!(compressed(40), 40);
    }

    #[test]
    fn time_rounds_up() {
        assert_eq!(serialisation_ps(1500, 2_000_000), 6_000_000_000);
        assert_eq!(serialisation_ps(1, 3), 2_666_666_666_667);
        assert_eq!(serialisation_ps(u32::MAX, 1), u64::MAX);
    }

    #[test]
    fn a_clock_only_saves_work() {
        for rate in [1, 3, 1_544_000, 2_000_000, 600_000_000, 1_000_000_000] {
            for bytes in [0, 1, 64, 1518, 65_535, u32::MAX] {
                let time = Clock::new(rate).serialisation_ps(bytes);
                assert_eq!(time, serialisation_ps(bytes, rate), "{bytes} at {rate}");
            }
        }
    }
}
