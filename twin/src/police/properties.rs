//! What holds for any traffic: no policer gives more than its contract.

use proptest::prelude::*;

use super::{CellLine, Outcome, Policer, read};
use crate::framing::SECOND_PS;
use crate::scenario::Colour;

const CELL_BITS: u128 = 424;

/// Gaps and sizes.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0..40_000_000_000u64, 40..1500u32), 1..60)
}

fn policer(text: &str) -> Policer {
    let line = CellLine {
        rate_bps: 10_000_000,
        received: false,
    };
    read(&serde_json::from_str(text).unwrap(), line, false, "p")
        .unwrap()
        .0
}

/// Arrival, bytes and outcome of each packet.
fn judged(mut policer: Policer, traffic: &[(u64, u32)]) -> Vec<(u64, u32, Outcome)> {
    let mut now = 0;
    let judge = |(gap, bytes): &(u64, u32)| {
        now += gap;
        (
            now,
            *bytes,
            policer.judge(*bytes, *bytes, Colour::Green, now),
        )
    };
    traffic.iter().map(judge).collect()
}

/// The bytes found to be one of `outcomes` stay within rate × time + burst over any interval.
fn within(found: &[(u64, u32, Outcome)], outcomes: &[Outcome], rate: u64, burst: u64) -> bool {
    (0..found.len()).all(|from| {
        let mut bits = 0u128;
        found[from..].iter().all(|(at, bytes, outcome)| {
            if outcomes.contains(outcome) {
                bits += u128::from(*bytes) * 8;
            }
            let earned = u128::from(at - found[from].0) * u128::from(rate);
            let second = u128::from(SECOND_PS);
            bits * second <= earned + u128::from(burst) * 8 * second
        })
    })
}

proptest! {
    #[test]
    fn token_bucket(traffic in traffic(), rate in 1..2_000_000u64, burst in 1..9_000u64) {
        let text = format!(r#"{{"rate_bps": {rate}, "burst_bytes": {burst}}}"#);
        let found = judged(policer(&text), &traffic);
        prop_assert!(within(&found, &[Outcome::Conform], rate, burst));
    }

    #[test]
    fn single_rate(
        traffic in traffic(), rate in 1..2_000_000u64, burst in 1..9_000u64, excess in 0..9_000u64,
    ) {
        let text = format!(r#"{{"kind": "srtcm", "rate_bps": {rate}, "burst_bytes": {burst},
            "excess_burst_bytes": {excess}}}"#);
        let found = judged(policer(&text), &traffic);
        prop_assert!(within(&found, &[Outcome::Conform], rate, burst));
        let both = [Outcome::Conform, Outcome::Exceed];
        prop_assert!(within(&found, &both, rate, burst + excess));
    }

    #[test]
    fn two_rates(
        traffic in traffic(), rate in 1..1_000_000u64, burst in 1..9_000u64,
        above in 0..1_000_000u64, peak_burst in 1..9_000u64,
    ) {
        let peak = rate + above;
        let text = format!(r#"{{"kind": "trtcm", "rate_bps": {rate}, "burst_bytes": {burst},
            "peak_bps": {peak}, "peak_burst_bytes": {peak_burst}}}"#);
        let found = judged(policer(&text), &traffic);
        prop_assert!(within(&found, &[Outcome::Conform], rate, burst));
        let both = [Outcome::Conform, Outcome::Exceed];
        prop_assert!(within(&found, &both, peak, peak_burst));
    }

    #[test]
    fn committed_access_rate(
        traffic in traffic(), rate in 1..2_000_000u64, burst in 1..9_000u64, extended in 0..9_000u64,
    ) {
        let text = format!(r#"{{"kind": "car", "rate_bps": {rate}, "burst_bytes": {burst},
            "extended_burst_bytes": {extended}}}"#);
        let found = judged(policer(&text), &traffic);
        let debt = if extended > burst { extended } else { 0 };
        prop_assert!(within(&found, &[Outcome::Conform], rate, burst + debt));
    }

    /// Packets that pass whole are no more cells than (time + tolerance) × rate + 1.
    #[test]
    fn cells(traffic in traffic(), rate in 1_000..2_000_000u64, tolerance in 0..100_000_000_000u64) {
        let text = format!(r#"{{"kind": "gcra", "pcr_bps": {rate}, "cdvt_ps": {tolerance}}}"#);
        let found = judged(policer(&text), &traffic);
        // A packet's cells come within the time all offered cells take on the line.
        let cells = |bytes: u32| u128::from((bytes + 16).div_ceil(48));
        for from in 0..found.len() {
            let (mut passed, mut offered) = (0, 0);
            for (at, bytes, outcome) in &found[from..] {
                offered += cells(*bytes);
                if *outcome == Outcome::Conform {
                    passed += cells(*bytes);
                }
                let before: u128 = found[..from].iter().map(|f| cells(f.1)).sum();
                let line = (before + offered) * 42_400_000;
                let time = u128::from(at - found[from].0) + line + u128::from(tolerance);
                let most = (time * u128::from(rate)).div_ceil(CELL_BITS * u128::from(SECOND_PS));
                prop_assert!(passed <= most + 1);
            }
        }
    }
}
