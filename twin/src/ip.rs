//! IP fragments (RFC 791).

/// The header that every fragment has, and the unit that offsets count in.
const HEADER: u32 = 20;
const OFFSET_UNIT: u32 = 8;

/// IP bytes of the fragments of a packet of `ip_bytes` for an MTU of at least 28 bytes.
pub fn fragment_sizes(ip_bytes: u32, mtu: u32) -> impl Iterator<Item = u32> {
    let payload = ip_bytes.saturating_sub(HEADER);
    let most = (mtu.saturating_sub(HEADER) / OFFSET_UNIT).max(1) * OFFSET_UNIT;
    (0..payload.div_ceil(most)).map(move |i| HEADER + most.min(payload - i * most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_carry_multiples_of_eight() {
        let sizes = |ip, mtu| fragment_sizes(ip, mtu).collect::<Vec<_>>();
        // 1480 bytes of payload; an MTU of 576 holds 69 x 8 = 552 of them.
        assert_eq!(sizes(1500, 576), [572, 572, 396]);
        assert_eq!(sizes(1500, 1500), [1500]);
        assert_eq!(sizes(1500, 1499), [1492, 28]);
        // The least MTU of 68: 6 x 8 bytes each.
        assert_eq!(sizes(1500, 68).len(), 31);
        assert_eq!(sizes(1500, 68).iter().sum::<u32>(), 1480 + 31 * 20);
    }
}
