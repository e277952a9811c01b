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
/// RFC 1990: the multilink header with a 24-bit and with a 12-bit sequence number; RFC 2686
/// puts the class into bits that both keep free. The inner protocol field (1 or 2 bytes, once
/// per packet) is not counted.
const MULTILINK_LONG: u32 = 4;
const MULTILINK_SHORT: u32 = 2;
/// Q.922 address 2, control 1 and NLPID 1 (RFC 2427, routed IP; Cisco's own encapsulation has
/// a type of 2 bytes in their place), FCS 2, one flag shared between frames.
const FRAME_RELAY: u32 = 7;
/// FRF.12, end to end: Q.922 address 2, control 1, NLPID 1, fragmentation header 2, FCS 2, flag.
const FRF12: u32 = 9;
/// What the first FRF.12 fragment carries besides: the packet's own control and NLPID.
const FRF12_FIRST: u32 = 2;
/// RFC 2684: LLC 3, OUI 3, type 2; with VC multiplexing nothing.
const LLC_SNAP: u32 = 8;
/// I.363.5: AAL5 trailer; the whole is padded to cells of 48 bytes payload and 5 of header.
const AAL5_TRAILER: u32 = 8;
const CELL_PAYLOAD: u32 = 48;
const CELL: u32 = 53;
/// Headers of IP 20, UDP 8 and RTP 12.
pub const RTP_HEADERS: u32 = 40;

/// How one link frames packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    pub kind: FramingSpec,
    pub tagged: bool,
    /// Multilink sequence numbers of 12 bits instead of 24.
    pub short_sequence: bool,
}

impl Framing {
    /// Frame bytes of an unfragmented packet of `ip` bytes; what schedulers, policers and
    /// byte counters see. `plain`: on a multilink, sent beside the bundle's sequence as
    /// ordinary PPP. On ATM the AAL5 frame without its padding.
    pub fn frame_bytes(self, ip: u32, plain: bool) -> u32 {
        let (added, least) = self.overhead(plain);
        (ip + added).max(least)
    }

    /// Bytes that a frame adds to its packet, and the least that it has.
    pub fn overhead(self, plain: bool) -> (u32, u32) {
        match self.kind {
            FramingSpec::None => (0, 0),
            FramingSpec::Ethernet => {
                let tag = if self.tagged { DOT1Q } else { 0 };
                (ETHERNET + tag, ETHERNET_MIN_FRAME)
            }
            FramingSpec::Hdlc => (HDLC, 0),
            FramingSpec::Ppp => (PPP, 0),
            FramingSpec::Mlppp if plain => (PPP, 0),
            FramingSpec::Mlppp => (PPP + self.sequence(), 0),
            FramingSpec::FrameRelay => (FRAME_RELAY, 0),
            FramingSpec::Atm => (LLC_SNAP + AAL5_TRAILER, 0),
            FramingSpec::AtmMux => (AAL5_TRAILER, 0),
        }
    }

    /// Frame bytes of a fragment that carries `ip` bytes of a packet, its `first` or a later one.
    pub fn fragment_bytes(self, ip: u32, first: bool) -> u32 {
        match self.kind {
            FramingSpec::FrameRelay if first => ip + FRF12 + FRF12_FIRST,
            FramingSpec::FrameRelay => ip + FRF12,
            _ => self.frame_bytes(ip, false),
        }
    }

    /// Bytes of line time a frame takes.
    pub fn wire_bytes(self, frame: u32) -> u32 {
        match self.kind {
            FramingSpec::Ethernet => frame + ETHERNET_PREAMBLE + ETHERNET_GAP,
            FramingSpec::Atm | FramingSpec::AtmMux => frame.div_ceil(CELL_PAYLOAD) * CELL,
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

    /// Can the link cut packets into fragments of its own?
    pub fn cuts(self) -> bool {
        matches!(self.kind, FramingSpec::Mlppp | FramingSpec::FrameRelay)
    }

    /// RFC 2686: classes that the free bits of the multilink header tell apart.
    pub fn classes(self) -> u8 {
        if self.short_sequence { 4 } else { 16 }
    }

    fn sequence(self) -> u32 {
        if self.short_sequence {
            MULTILINK_SHORT
        } else {
            MULTILINK_LONG
        }
    }
}

/// IP bytes that a line carries of a packet whose RTP headers lose `saved` bytes; a packet too
/// short to have them stays whole.
pub fn carried(ip: u32, saved: u32) -> u32 {
    if ip > RTP_HEADERS { ip - saved } else { ip }
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

    fn framing(kind: FramingSpec) -> Framing {
        Framing {
            kind,
            tagged: false,
            short_sequence: false,
        }
    }

    /// Frame and line bytes of an unfragmented packet.
    fn bytes(framing: Framing, ip: u32) -> (u32, u32) {
        let frame = framing.frame_bytes(ip, false);
        (frame, framing.wire_bytes(frame))
    }

    #[test]
    fn figures() {
        let frame = |kind, tagged, ip| {
            let framing = Framing {
                tagged,
                ..framing(kind)
            };
            bytes(framing, ip)
        };
        assert_eq!(frame(FramingSpec::Ethernet, false, 1500), (1518, 1538));
        assert_eq!(frame(FramingSpec::Ethernet, true, 1500), (1522, 1542));
        assert_eq!(frame(FramingSpec::Ethernet, false, 40), (64, 84));
        assert_eq!(frame(FramingSpec::Hdlc, false, 200), (207, 207));
        assert_eq!(frame(FramingSpec::Ppp, false, 200), (207, 207));
        assert_eq!(frame(FramingSpec::Mlppp, false, 200), (211, 211));
        assert_eq!(frame(FramingSpec::FrameRelay, false, 200), (207, 207));
    }

    #[test]
    fn multilink_headers_are_long_or_short() {
        let long = framing(FramingSpec::Mlppp);
        let short = Framing {
            short_sequence: true,
            ..long
        };
        // RFC 1990 section 3: 4 and 2 bytes after the protocol field.
        assert_eq!(long.fragment_bytes(100, true), 111);
        assert_eq!(short.fragment_bytes(100, true), 109);
        assert_eq!(short.frame_bytes(100, true), 107);
        // RFC 2686 section 4: four class bits in the long format, two in the short.
        assert_eq!((long.classes(), short.classes()), (16, 4));
    }

    #[test]
    fn frf12_fragments() {
        // 1500 bytes in fragments of 80 (FRF.12 end to end): 19 of 9 bytes of headers each,
        // and once the 2 bytes of the encapsulation.
        let line = framing(FramingSpec::FrameRelay);
        let all: u32 = (0..18).map(|i| line.fragment_bytes(80, i == 0)).sum();
        let last = line.fragment_bytes(1500 - 18 * 80, false);
        assert_eq!(all + last, 1500 + 19 * 9 + 2);
    }

    #[test]
    fn aal5_pads_to_whole_cells() {
        let llc = framing(FramingSpec::Atm);
        let mux = framing(FramingSpec::AtmMux);
        // An acknowledgement of 40 bytes: 40 + 8 + 8 need two cells, 40 + 8 fill one.
        assert_eq!(bytes(llc, 40), (56, 2 * 53));
        assert_eq!(bytes(mux, 40), (48, 53));
        assert_eq!(bytes(mux, 41), (49, 2 * 53));
        // 1500 + 16 = 1516 of 32 x 48 = 1536.
        assert_eq!(bytes(llc, 1500), (1516, 32 * 53));
        assert_eq!(bytes(mux, 1500), (1508, 32 * 53));
        // 48 x 3 - 16 = 128 bytes fill three cells, one more byte needs a fourth.
        assert_eq!(bytes(llc, 128).1, 3 * 53);
        assert_eq!(bytes(llc, 129).1, 4 * 53);
    }

    #[test]
    fn compression_takes_rtp_headers_down() {
        // RFC 2508: 4 bytes with the UDP checksum, 2 without.
        assert_eq!(carried(200, 36), 164);
        assert_eq!(carried(60, 38), 22);
        assert_eq!(carried(40, 36), 40);
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
