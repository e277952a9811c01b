//! `tcp` and `tcp_session` as written: the stack's options, and what is transferred.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::ScenarioError;
use crate::framing::SECOND_PS;
use crate::scenario::parse_part;
use crate::source::schema::AmountSchema;
use crate::source::{ACK_BYTES, Context};

/// Two NOPs and the 10 bytes of RFC 7323.
pub const TIMESTAMP_BYTES: u32 = 12;

/// How a window grows and how losses are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// RFC 5681: the first new acknowledgement ends fast recovery.
    Reno,
    /// RFC 6582: fast recovery lasts until all that was out is acknowledged.
    Newreno,
    /// RFC 9438.
    Cubic,
}

/// What both ends of a connection run; the defaults are a common stack of today, by segments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Payload of a full segment, TCP options included (RFC 6691).
    pub mss: u32,
    pub congestion_control: Control,
    /// RFC 2018 and 6675.
    pub sack: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// RFC 3465: growth counts what is acknowledged, not the acknowledgements.
    pub byte_counting: bool,
    /// Segments (RFC 6928).
    pub initial_window: u32,
    /// RFC 5681 §4.1: back to the initial window after an idle time longer than the timeout.
    pub idle_restart: bool,
    /// The most without window scaling.
    pub receive_window_bytes: u64,
    /// Holds what is sent and not acknowledged; null: never in the way.
    pub send_buffer_bytes: Option<u64>,
    /// RFC 6298: 1 s; until 2011 (RFC 2988) 3 s.
    pub rto_initial_ps: u64,
    /// As common stacks have it (RFC 6298 asks for 1 s).
    pub rto_min_ps: u64,
    pub rto_max_ps: u64,
    /// Of the clock that timeouts and round trips are counted in; 0: exact.
    pub tick_ps: u64,
    /// When that clock ticks first, at both ends: connections of one host share its clock. None: drawn for each end.
    pub tick_phase_ps: Option<u64>,
    /// RFC 7323: every acknowledgement times a round trip, else one segment at a time does.
    pub timestamps: bool,
    /// Longest delay of an acknowledgement; 0 acknowledges every segment at once.
    pub delayed_ack_ps: u64,
    /// Segments that are acknowledged together.
    pub ack_every: u32,
    /// So many first segments are acknowledged at once.
    pub quick_ack: u32,
    /// SYN, SYN-ACK, ACK before data.
    pub handshake: bool,
    /// Timeouts in a row after which the connection is given up.
    pub retries: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mss: 1460,
            congestion_control: Control::Newreno,
            sack: false,
            limited_transmit: true,
            byte_counting: true,
            initial_window: 10,
            idle_restart: true,
            receive_window_bytes: 65_535,
            send_buffer_bytes: None,
            rto_initial_ps: SECOND_PS,
            rto_min_ps: SECOND_PS / 5,
            rto_max_ps: 60 * SECOND_PS,
            tick_ps: 0,
            tick_phase_ps: None,
            timestamps: false,
            delayed_ack_ps: SECOND_PS / 5,
            ack_every: 2,
            quick_ack: 0,
            handshake: false,
            retries: 15,
        }
    }
}

/// The keys of `Options`: written beside those of the source itself.
const KEYS: [&str; 20] = [
    "mss",
    "congestion_control",
    "sack",
    "limited_transmit",
    "byte_counting",
    "initial_window",
    "idle_restart",
    "receive_window_bytes",
    "send_buffer_bytes",
    "rto_initial_ps",
    "rto_min_ps",
    "rto_max_ps",
    "tick_ps",
    "tick_phase_ps",
    "timestamps",
    "delayed_ack_ps",
    "ack_every",
    "quick_ack",
    "handshake",
    "retries",
];

/// A microsecond: below it a sender would flood its own line with repetitions.
const LEAST_RTO_PS: u64 = 1_000_000;
/// More segments than this in a window are a mistake.
const MAX_WINDOW: u64 = 1 << 20;

impl Options {
    /// Takes the stack's keys out of a source; the rest are the source's own.
    pub fn take(value: Value, context: Context) -> Result<(Self, Value), ScenarioError> {
        let Value::Object(mut rest) = value else {
            let hint = "give an object such as {\"kind\": \"tcp\"}";
            return Err(ScenarioError::new(context.path, "not an object", hint));
        };
        let mut own = Map::new();
        for key in KEYS {
            if let Some((key, value)) = rest.remove_entry(key) {
                own.insert(key, value);
            }
        }
        let options: Self = parse_part(Value::Object(own), context.path)?;
        options.check(context)?;
        Ok((options, Value::Object(rest)))
    }

    fn check(&self, context: Context) -> Result<(), ScenarioError> {
        let least = ACK_BYTES + 1 + self.option_bytes();
        context.packet_size(self.mss.saturating_add(ACK_BYTES), least, "mss")?;
        context.positive(self.initial_window.into(), "initial_window")?;
        for (value_ps, field) in [
            (self.rto_initial_ps, "rto_initial_ps"),
            (self.rto_min_ps, "rto_min_ps"),
        ] {
            if value_ps < LEAST_RTO_PS {
                let hint = format!("use at least {LEAST_RTO_PS}");
                return Err(context.error(field, "is too short", &hint));
            }
        }
        context.positive(self.ack_every.into(), "ack_every")?;
        for (value_ps, field) in [
            (self.rto_initial_ps, "rto_initial_ps"),
            (self.rto_max_ps, "rto_max_ps"),
            (self.tick_ps, "tick_ps"),
            (self.delayed_ack_ps, "delayed_ack_ps"),
        ] {
            context.in_time(value_ps, field)?;
        }
        if self
            .tick_phase_ps
            .is_some_and(|phase| phase >= self.tick_ps)
        {
            let hint = "use less than tick_ps";
            return Err(context.error("tick_phase_ps", "is no phase of the tick", hint));
        }
        self.window(self.receive_window_bytes, context, "receive_window_bytes")?;
        if let Some(bytes) = self.send_buffer_bytes {
            self.window(bytes, context, "send_buffer_bytes")?;
        }
        if self.rto_max_ps < self.rto_min_ps.max(self.rto_initial_ps) {
            return Err(context.error(
                "rto_max_ps",
                "is below rto_min_ps or rto_initial_ps",
                "raise it",
            ));
        }
        Ok(())
    }

    fn window(&self, bytes: u64, context: Context, field: &str) -> Result<(), ScenarioError> {
        let segments = bytes / u64::from(self.payload());
        if (1..=MAX_WINDOW).contains(&segments) {
            return Ok(());
        }
        let problem = format!("holds {segments} segments");
        let hint = format!("let it hold 1 to {MAX_WINDOW} segments of mss bytes");
        Err(context.error(field, &problem, &hint))
    }

    fn option_bytes(&self) -> u32 {
        if self.timestamps { TIMESTAMP_BYTES } else { 0 }
    }

    /// IP bytes of a packet without data.
    pub fn header_bytes(&self) -> u32 {
        ACK_BYTES + self.option_bytes()
    }

    /// Data bytes of a full segment.
    pub fn payload(&self) -> u32 {
        self.mss - self.option_bytes()
    }

    /// Segments that the peer's receive buffer and the own send buffer allow in flight.
    pub fn most_segments(&self) -> u64 {
        let bytes = self.send_buffer_bytes.unwrap_or(u64::MAX);
        bytes.min(self.receive_window_bytes) / u64::from(self.payload())
    }
}

/// A bulk transfer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkSpec {
    /// To transfer; null: as much as the time allows.
    #[serde(default)]
    pub bytes: Option<u64>,
    #[serde(default)]
    pub start_ps: u64,
    #[serde(default)]
    pub stop_ps: Option<u64>,
    #[serde(default)]
    pub phase_ps: u64,
}

/// Whether a connection serves one transaction or all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    #[default]
    New,
    Persistent,
}

/// Requests and responses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Amounts, see `crate::source::amount`.
    #[schemars(with = "AmountSchema")]
    pub request_bytes: Value,
    #[schemars(with = "AmountSchema")]
    pub response_bytes: Value,
    /// From a response to the next request.
    #[serde(default)]
    #[schemars(with = "Option<AmountSchema>")]
    pub think_ps: Option<Value>,
    /// From a request to the next, or later if its response is late.
    #[serde(default)]
    #[schemars(with = "Option<AmountSchema>")]
    pub period_ps: Option<Value>,
    /// From the whole request to the response.
    #[serde(default)]
    #[schemars(with = "Option<AmountSchema>")]
    pub server_ps: Option<Value>,
    #[serde(default)]
    pub connection: Life,
    /// Side by side.
    #[serde(default = "one")]
    pub sessions: u32,
    /// In each session; null: as many as the time allows.
    #[serde(default)]
    pub transactions: Option<u64>,
    #[serde(default)]
    pub start_ps: u64,
    #[serde(default)]
    pub stop_ps: Option<u64>,
    #[serde(default)]
    pub phase_ps: u64,
}

fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::super::testing::with_context;
    use super::*;
    use serde_json::json;

    #[test]
    fn every_option_has_its_key() {
        let written = json!({
            "mss": 536, "congestion_control": "reno", "sack": true, "limited_transmit": false,
            "byte_counting": false, "initial_window": 2, "idle_restart": false,
            "receive_window_bytes": 8192, "send_buffer_bytes": 4096, "rto_initial_ps": 3_000_000,
            "rto_min_ps": 2_000_000, "rto_max_ps": 64_000_000, "tick_ps": 1, "tick_phase_ps": 0,
            "timestamps": true, "delayed_ack_ps": 0, "ack_every": 1, "quick_ack": 3, "handshake": true,
            "retries": 4, "bytes": 7,
        });
        let (options, rest) = with_context(|context| Options::take(written, context)).unwrap();
        assert_eq!(rest, json!({"bytes": 7}));
        assert_eq!((options.payload(), options.header_bytes()), (524, 52));
        assert_eq!(options.most_segments(), 7);
        assert_eq!((options.retries, options.quick_ack), (4, 3));
    }

    #[test]
    fn refusals_name_the_key() {
        for (written, path) in [
            (json!({"mss": 0}), "source.mss"),
            (json!({"mss": 12, "timestamps": true}), "source.mss"),
            (json!({"mss": 4_294_967_295u32}), "source.mss"),
            (
                json!({"congestion_control": "tahoe"}),
                "source.congestion_control",
            ),
            (
                json!({"tick_ps": 5, "tick_phase_ps": 5}),
                "source.tick_phase_ps",
            ),
            (json!({"tick_phase_ps": 0}), "source.tick_phase_ps"),
            (
                json!({"send_buffer_bytes": 100}),
                "source.send_buffer_bytes",
            ),
            (
                json!({"receive_window_bytes": u64::MAX}),
                "source.receive_window_bytes",
            ),
            (json!({"rto_max_ps": 1}), "source.rto_max_ps"),
            (json!({"rto_initial_ps": 0}), "source.rto_initial_ps"),
            (json!({"ack_every": 0}), "source.ack_every"),
            (json!({"rto_max_ps": u64::MAX}), "source.rto_max_ps"),
            (json!({"tick_ps": u64::MAX}), "source.tick_ps"),
            (json!({"delayed_ack_ps": u64::MAX}), "source.delayed_ack_ps"),
            (json!({"retries": -1}), "source.retries"),
        ] {
            let error = with_context(|context| Options::take(written, context)).unwrap_err();
            assert_eq!(error.path, path, "{error}");
        }
    }
}
