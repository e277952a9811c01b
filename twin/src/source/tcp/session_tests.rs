//! Textbook behaviour of connections and transactions.

use serde_json::{Value, json};

use super::segment::End;
use super::testing::{MS, Run, run};
use crate::framing::SECOND_PS;

fn session(more: Value) -> Value {
    let mut source = json!({
        "request_bytes": 200, "response_bytes": 3000, "handshake": true,
        "rto_initial_ps": 3 * SECOND_PS, "rto_min_ps": SECOND_PS, "initial_window": 2,
    });
    let (Value::Object(all), Value::Object(more)) = (&mut source, more) else {
        unreachable!()
    };
    all.extend(more);
    source
}

/// Of a run whose transactions all took the same time: their number, round trip and total.
fn times(run: &Run) -> (u64, u64, u64) {
    let kept = run.record.transactions.as_ref().unwrap();
    assert_eq!(kept.rtt.moments.min(), kept.rtt.moments.max());
    let of = |m: &crate::moments::Moments| m.max().unwrap();
    (
        kept.rtt.count,
        of(&kept.rtt.moments),
        of(&kept.total.moments),
    )
}

#[test]
fn a_transaction_takes_its_round_trips() {
    // SYN, SYN-ACK; request, two segments; their acknowledgement, the third.
    let written = session(json!({"period_ps": SECOND_PS, "server_ps": 30 * MS}));
    let lone = run(written, 50 * MS, 10, |_, _| false);
    assert_eq!(times(&lone), (10, 230 * MS, 330 * MS));
    assert_eq!((lone.record.connections, lone.record.timeouts), (10, 0));
    let first: Vec<_> = lone
        .log
        .iter()
        .take(4)
        .map(|(_, s, _)| (s.from, s.syn, s.ip_bytes))
        .collect();
    let expected = [
        (End::Client, true, 44),
        (End::Server, true, 44),
        (End::Client, false, 40),
        (End::Client, false, 240),
    ];
    assert_eq!(first, expected);
}

#[test]
fn a_persistent_connection_opens_once() {
    let written = session(json!({
        "connection": "persistent", "response_bytes": 100, "think_ps": 0, "transactions": 7,
    }));
    let run = run(written, 50 * MS, 10, |_, _| false);
    let kept = run.record.transactions.as_ref().unwrap();
    assert_eq!((kept.rtt.count, run.record.connections), (7, 1));
    assert_eq!(kept.rtt.moments.max(), Some(100 * MS));
    // Acknowledgements travel with requests and responses; one opens, one ends.
    assert_eq!(run.record.acks_sent, 2);
    assert_eq!(run.log.len(), 3 + 14 + 1);
}

#[test]
fn a_lost_syn_costs_the_initial_timeout() {
    for lost in [End::Client, End::Server] {
        let written = session(json!({"transactions": 1, "response_bytes": 100}));
        let run = run(written, 50 * MS, 30, |at, s| {
            s.syn && s.from == lost && at < 4 * SECOND_PS
        });
        let kept = run.record.transactions.as_ref().unwrap();
        assert_eq!(
            (kept.rtt.count, kept.timed_out, kept.prompt.count),
            (1, 1, 0)
        );
        let total = kept.total.moments.max().unwrap();
        let expected = (9 * SECOND_PS)..(9 * SECOND_PS + 300 * MS);
        assert!(expected.contains(&total), "{total}");
        assert_eq!(kept.rtt.moments.max(), Some(100 * MS));
    }
}

#[test]
fn after_a_lost_syn_data_starts_slowly() {
    let written = session(json!({"transactions": 1, "request_bytes": 14_600, "initial_window": 4}));
    let run = run(written, 50 * MS, 30, |at, s| s.syn && at == 0);
    let first: Vec<_> = run.data().map(|(at, ..)| at).collect();
    assert_eq!(first[0], 3 * SECOND_PS + 100 * MS);
    assert!(first[1] > first[0]);
}

#[test]
fn a_lost_request_waits_for_the_initial_timeout_without_handshake() {
    let written = session(json!({"transactions": 1, "handshake": false, "response_bytes": 100}));
    let run = run(written, 50 * MS, 30, |at, _| at == 0);
    assert_eq!(times(&run).1, 3 * SECOND_PS + 100 * MS);
}

#[test]
fn what_nobody_answers_fails() {
    let written = session(json!({"retries": 1, "think_ps": SECOND_PS, "transactions": 3}));
    let run = run(written, 50 * MS, 100, |_, s| s.from == End::Server);
    let kept = run.record.transactions.as_ref().unwrap();
    assert_eq!((kept.begun, kept.failed, kept.rtt.count), (3, 3, 0));
    assert_eq!((run.record.aborted, run.record.connections), (3, 3));
}

#[test]
fn every_loss_is_repaired_or_counted() {
    let mut nth = 0u32;
    let written = session(json!({
        "request_bytes": {"kind": "uniform", "min": 1, "max": 9000}, "think_ps": 50 * MS,
        "response_bytes": {"kind": "exponential", "min": 1, "mean": 20_000}, "sack": true,
        "timestamps": true,
    }));
    let run = run(written, 50 * MS, 2000, |_, _| {
        nth += 1;
        nth.is_multiple_of(23)
    });
    let kept = run.record.transactions.as_ref().unwrap();
    assert!(kept.rtt.count > 200, "{}", kept.rtt.count);
    assert!(kept.begun - kept.rtt.count - kept.failed <= 1);
    assert_eq!(kept.prompt.count + kept.timed_out, kept.rtt.count);
    assert!(kept.timed_out > 10 && kept.prompt.count > 10);
    assert!(kept.rtt.moments.min() >= Some(100 * MS));
}
