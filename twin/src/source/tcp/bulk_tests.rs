//! Textbook behaviour of bulk transfers.

use serde_json::{Value, json};

use super::segment::End;
use super::testing::{Fate, MS, Run, dropping, run, run_with};
use crate::framing::SECOND_PS;
use crate::rng::Stream;

/// Large windows, every segment acknowledged at once, and what a test adds.
fn source(more: Value) -> Value {
    let mut source = json!({
        "initial_window": 2, "receive_window_bytes": 1_460_000, "delayed_ack_ps": 0,
        "rto_min_ps": SECOND_PS,
    });
    let (Value::Object(all), Value::Object(more)) = (&mut source, more) else {
        unreachable!()
    };
    all.extend(more);
    source
}

/// Data segments sent in each round trip of 100 ms.
fn per_trip(run: &Run, trips: usize) -> Vec<u64> {
    let mut counts = vec![0; trips];
    for (at, ..) in run.data() {
        if let Some(count) = counts.get_mut((at / (100 * MS)) as usize) {
            *count += 1;
        }
    }
    counts
}

#[test]
fn slow_start_doubles_each_round_trip() {
    let run = run(source(json!({})), 50 * MS, 1, |_, _| false);
    assert_eq!(per_trip(&run, 6), [2, 4, 8, 16, 32, 64]);
    assert_eq!(run.record.retransmits, 0);
}

#[test]
fn acknowledgements_counted_one_by_one_grow_by_half() {
    let written = json!({"byte_counting": false, "delayed_ack_ps": 200 * MS});
    let run = run(source(written), 50 * MS, 2, |_, _| false);
    let counts = per_trip(&run, 12);
    for trip in 7..11 {
        let growth = counts[trip + 1] as f64 / counts[trip] as f64;
        assert!((growth - 1.5).abs() < 0.1, "{counts:?}");
    }
}

#[test]
fn a_lost_segment_is_repeated_after_three_duplicates() {
    for control in ["reno", "newreno", "cubic"] {
        let written = source(json!({"congestion_control": control, "bytes": 146_000}));
        let run = run(written, 50 * MS, 20, dropping(&[20]));
        let times = run.sent(20);
        assert_eq!(times.len(), 2, "{control}");
        assert_eq!(times[1] - times[0], 100 * MS, "{control}");
        assert_eq!((run.record.retransmits, run.record.timeouts), (1, 0));
        assert_eq!(run.acknowledged(20 * SECOND_PS), 100);
    }
}

/// Time to acknowledge 100 segments, timeouts.
fn repair(more: Value, lost: &[u64]) -> (u64, u64) {
    let mut written = source(json!({"bytes": 146_000}));
    written
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let run = run(written, 50 * MS, 60, dropping(lost));
    let done = run
        .log
        .iter()
        .find(|(_, s, _)| s.from == End::Server && s.ack == 100);
    (done.unwrap().0, run.record.timeouts)
}

#[test]
fn several_losses_in_a_window() {
    let lost = [16, 17, 18, 19, 20];
    let none = repair(json!({}), &[]).0;
    let (sack, sack_timeouts) = repair(json!({"sack": true}), &lost);
    let (newreno, newreno_timeouts) = repair(json!({}), &lost);
    let (reno, reno_timeouts) = repair(json!({"congestion_control": "reno"}), &lost);
    // SACK repairs them in about a round trip, NewReno one in each, Reno waits for its timer.
    assert_eq!((sack_timeouts, newreno_timeouts), (0, 0));
    assert!(sack <= none + 500 * MS, "{sack} {none}");
    assert!(newreno >= sack + 200 * MS, "{newreno} {sack}");
    assert!(reno_timeouts >= 1);
    assert!(reno >= newreno + 500 * MS, "{reno} {newreno}");
}

#[test]
fn sack_resends_only_what_was_lost() {
    let written = source(json!({"sack": true, "bytes": 146_000}));
    let run = run(written, 50 * MS, 60, dropping(&[16, 19, 21, 22, 25]));
    assert_eq!((run.record.retransmits, run.record.timeouts), (5, 0));
    let holes = [16, 19, 21, 22, 25].map(|n| run.sent(n)[1]);
    assert!(holes.is_sorted());
    assert!(holes[4] - holes[0] <= 100 * MS);
    let ranges = run.log.iter().map(|(_, s, _)| s.range_count).max();
    assert_eq!(ranges, Some(4));
    let largest = run.log.iter().filter(|(_, s, _)| s.range_count == 4);
    assert!(largest.clone().all(|(_, s, _)| s.ip_bytes == 40 + 4 + 32));
}

#[test]
fn a_sack_loss_that_is_lost_again_waits_for_the_timer() {
    let written = source(json!({"sack": true, "bytes": 146_000}));
    let run = run(written, 50 * MS, 60, dropping(&[20, 20]));
    assert_eq!(run.record.timeouts, 1);
    assert_eq!(run.sent(20).len(), 3);
    assert_eq!(run.acknowledged(60 * SECOND_PS), 100);
}

#[test]
fn timeouts_begin_at_three_seconds_and_double() {
    let options = json!({
        "rto_initial_ps": 3 * SECOND_PS, "rto_max_ps": 64 * SECOND_PS, "bytes": 150_000,
    });
    let run = run(source(options), 50 * MS, 200, |at, s| {
        s.from == End::Client && at < 100 * SECOND_PS
    });
    let seconds: Vec<_> = run.sent(0).iter().map(|at| at / SECOND_PS).collect();
    assert_eq!(seconds[..6], [0, 3, 9, 21, 45, 93]);
    assert_eq!(run.acknowledged(200 * SECOND_PS), 103);
}

#[test]
fn a_measured_path_times_out_after_the_least_timeout() {
    // Round trips of 100 ms; segments 30 on are lost for 1.5 s.
    let run = run(source(json!({"bytes": 150_000})), 50 * MS, 20, |at, s| {
        s.number.is_some_and(|n| n >= 30) && at < 1_500 * MS
    });
    let times = run.sent(30);
    assert_eq!(times[1] - times[0], SECOND_PS);
    assert_eq!(times[2] - times[1], 2 * SECOND_PS);
    assert_eq!(run.record.timeouts, 2);
}

#[test]
fn ticks_spread_the_timeout() {
    let tick = 500 * MS;
    let options = json!({"tick_ps": tick, "rto_initial_ps": 3 * SECOND_PS, "bytes": 1000});
    let run = run(source(options), 50 * MS, 30, |at, s| {
        s.from == End::Client && at < 10 * SECOND_PS
    });
    let times = run.sent(0);
    let first = times[1] - times[0];
    // Six ticks: between 2.5 and 3 s; then whole ticks.
    assert!(
        first > 3 * SECOND_PS - tick && first <= 3 * SECOND_PS,
        "{first}"
    );
    assert_eq!(times[2] - times[1], 6 * SECOND_PS);
}

#[test]
fn a_host_s_clock_ticks_for_all_its_connections() {
    let tick = 500 * MS;
    for start in [0, 130 * MS, 260 * MS] {
        let options = json!({
            "tick_ps": tick, "tick_phase_ps": 100 * MS, "start_ps": start, "bytes": 1000,
            "rto_initial_ps": 3 * SECOND_PS,
        });
        let run = run(source(options), 50 * MS, 30, |at, s| {
            s.from == End::Client && at < 10 * SECOND_PS
        });
        assert_eq!(run.sent(0)[1] % tick, 100 * MS);
    }
}

#[test]
fn too_many_timeouts_end_the_connection() {
    let run = run(source(json!({"retries": 3})), 50 * MS, 1000, |_, _| true);
    assert_eq!(run.sent(0).len(), 4);
    assert_eq!((run.record.timeouts, run.record.aborted), (4, 1));
}

#[test]
fn only_new_data_is_timed_and_timestamps_time_all() {
    let lossy = |options| run(source(options), 50 * MS, 3, dropping(&[10, 20, 30, 40]));
    for options in [
        json!({}),
        json!({"timestamps": true}),
        json!({"sack": true}),
    ] {
        let run = lossy(options);
        let rtt = &run.record.rtt;
        assert!(rtt.count > 200);
        assert_eq!(
            (rtt.moments.min(), rtt.moments.max()),
            (Some(100 * MS), Some(100 * MS))
        );
    }
    let stamped = lossy(json!({"timestamps": true}));
    assert!(
        stamped
            .log
            .iter()
            .all(|(_, s, _)| s.ip_bytes == 1500 || s.ip_bytes == 52)
    );
}

#[test]
fn after_a_pause_the_window_is_the_initial_one() {
    // The window stopped at 7: the last acknowledgements found it half empty.
    for (restart, burst) in [(true, 2), (false, 7)] {
        let written = source(json!({
            "request_bytes": 14_600, "response_bytes": 100, "connection": "persistent",
            "period_ps": 5 * SECOND_PS, "idle_restart": restart,
        }));
        let run = run(written, 50 * MS, 8, |_, _| false);
        let at_once = run.data().filter(|(at, ..)| *at == 5 * SECOND_PS).count();
        assert_eq!(at_once, burst, "{restart}");
    }
}

#[test]
fn buffers_bound_the_flight() {
    for key in ["receive_window_bytes", "send_buffer_bytes"] {
        let run = run(source(json!({key: 5 * 1460 + 7})), 50 * MS, 2, |_, _| false);
        assert_eq!(per_trip(&run, 10)[4..], [5; 6], "{key}");
    }
}

/// Segments delivered a second at a random loss of `loss`, round trip 100 ms.
fn rate(options: Value, loss: f64, seconds: u64) -> f64 {
    let mut stream = Stream::new(5, "loss");
    let run = run(source(options), 50 * MS, seconds, |_, s| {
        s.number.is_some() && stream.unit() < loss
    });
    run.acknowledged(seconds * SECOND_PS) as f64 / seconds as f64
}

#[test]
fn random_loss_gives_the_square_root_law() {
    // Mathis et al.: 1.22 segments / (RTT √p), for losses that are found without timeouts.
    for (loss, tolerance) in [(0.001, 0.15), (0.004, 0.2)] {
        let expected = (1.5f64 / loss).sqrt() / 0.1;
        let found = rate(json!({"sack": true}), loss, 400);
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "{loss}: {found} {expected}"
        );
    }
    let (sack, reno) = (
        rate(json!({"sack": true}), 0.02, 200),
        rate(json!({"congestion_control": "reno"}), 0.02, 200),
    );
    assert!(reno < 0.9 * sack, "{reno} {sack}");
}

#[test]
fn regular_loss_gives_the_response_functions() {
    // One packet in 4000, round trip 100 ms. Reno: as above; CUBIC, RFC 9438 §5.1, equation 6:
    // an average window of 1.054 (RTT / p)^(3/4).
    let loss = 1.0 / 4000.0;
    for (control, window) in [
        ("newreno", (1.5f64 / loss).sqrt()),
        ("cubic", 1.054 * (0.1f64 / loss).powf(0.75)),
    ] {
        let mut nth = 0u32;
        let written = source(json!({"congestion_control": control, "sack": true}));
        let run = run(written, 50 * MS, 200, |_, s| {
            nth += u32::from(s.number.is_some());
            s.number.is_some() && nth.is_multiple_of(4000)
        });
        let begun = run.acknowledged(40 * SECOND_PS);
        let found = (run.acknowledged(200 * SECOND_PS) - begun) as f64 / 1600.0;
        assert!(
            (found / window - 1.0).abs() < 0.1,
            "{control}: {found} {window}"
        );
    }
}

#[test]
fn marks_halve_the_window_once_and_nothing_is_resent() {
    let written = source(json!({"receive_window_bytes": 40 * 1460}));
    // Every third segment of one window, and one more a second later.
    let run = run_with(written, 50 * MS, 3, |at, s| {
        let window = (1_000 * MS..1_100 * MS).contains(&at);
        let later = at == 2_000 * MS;
        match s.number.is_some_and(|n| window && n % 3 == 0 || later) {
            true => Fate::Marked,
            false => Fate::Arrives,
        }
    });
    let counts = per_trip(&run, 14);
    // Growth goes on when no more echoes come.
    assert_eq!(counts[9..14], [40, 40, 20, 20, 21]);
    assert_eq!(run.record.ecn_reductions, 2);
    assert_eq!((run.record.retransmits, run.record.timeouts), (0, 0));
    // It is said once each, and heard.
    assert_eq!(run.log.iter().filter(|(_, s, _)| s.cwr).count(), 2);
    let echoes = run.log.iter().filter(|(_, s, _)| s.ece);
    let times: Vec<_> = echoes.map(|(at, ..)| *at / (100 * MS)).collect();
    assert!(
        times.iter().all(|trip| [10, 11, 20, 21].contains(trip)),
        "{times:?}"
    );
}
