//! TCP: bulk transfers and short transactions, by segments.
//!
//! `tcp` transfers in one direction, `tcp_session` asks and is answered. Both ends run the same
//! stack; see `spec::Options` for what it can be, each option with its RFC.

#[cfg(test)]
mod bulk_tests;
mod connection;
mod cubic;
mod handshake;
mod interface;
mod receiver;
mod record;
mod rto;
mod scoreboard;
mod segment;
mod sender;
mod session;
#[cfg(test)]
mod session_tests;
mod spec;
#[cfg(test)]
mod testing;
mod timer;
mod window;

pub use connection::Connection;
pub use interface::{Arrival, Output, TimerId, connection_of};
pub use record::{Population, Record, Transactions};
pub use segment::{End, SegmentId, Segments};

use serde_json::Value;

use super::{Context, Source};
use crate::error::ScenarioError;
use crate::rng::Stream;
use crate::scenario::parse_part;
use connection::Application;
use session::{Pattern, Session};
pub use spec::{BulkSpec, Options, SessionSpec};

/// More sessions than this in one flow are a mistake.
const MAX_SESSIONS: u32 = 100_000;

/// The connections of one flow.
#[derive(Debug)]
pub struct TcpFlow {
    pub connections: Vec<Connection>,
    pub record: Record,
}

/// Reads `tcp`.
pub fn bulk(value: Value, ctx: Context, stream: &mut Stream) -> Result<Source, ScenarioError> {
    let (options, rest) = Options::take(value, ctx)?;
    let spec: BulkSpec = parse_part(rest, ctx.path)?;
    if let Some(bytes) = spec.bytes {
        ctx.positive(bytes, "bytes")?;
    }
    let start_ps = spec.start_ps.saturating_add(stream.up_to(spec.phase_ps));
    let connection = Connection::new(
        options.clone(),
        Application::Bulk(spec.bytes),
        (start_ps, ctx.stop(spec.stop_ps)),
        tick_phases(&options, stream),
    );
    Ok(source(vec![connection], ctx, None))
}

/// Reads `tcp_session`.
pub fn sessions(value: Value, ctx: Context, stream: &mut Stream) -> Result<Source, ScenarioError> {
    let (options, rest) = Options::take(value, ctx)?;
    let spec: SessionSpec = parse_part(rest, ctx.path)?;
    let pattern = Pattern::read(&spec, ctx)?;
    if !(1..=MAX_SESSIONS).contains(&spec.sessions) {
        let problem = format!("{} sessions", spec.sessions);
        return Err(ctx.error("sessions", &problem, &format!("use 1 to {MAX_SESSIONS}")));
    }
    let ticks = tick_phases(&options, stream);
    let connections = (0..spec.sessions).map(|_| {
        let mut own = stream.branch();
        let start_ps = spec.start_ps.saturating_add(own.up_to(spec.phase_ps));
        let session = Session::new(pattern.clone(), own);
        Connection::new(
            options.clone(),
            Application::Session(Box::new(session)),
            (start_ps, ctx.stop(spec.stop_ps)),
            ticks,
        )
    });
    let connections = connections.collect();
    Ok(source(connections, ctx, Some(Transactions::default())))
}

/// How far the clocks of the two hosts are at the start: they tick independently unless their phase is given.
fn tick_phases(options: &Options, stream: &mut Stream) -> [u64; 2] {
    match (options.tick_ps, options.tick_phase_ps) {
        (0, _) => [0, 0],
        // The clock is ahead by what it lacks of a whole tick.
        (tick, Some(first)) => [(tick - first) % tick; 2],
        (tick, None) => [stream.up_to(tick - 1), stream.up_to(tick - 1)],
    }
}

fn source(
    connections: Vec<Connection>,
    ctx: Context,
    transactions: Option<Transactions>,
) -> Source {
    Source::Tcp(Box::new(TcpFlow {
        connections,
        record: Record {
            measured_from_ps: ctx.warmup_ps,
            transactions,
            ..Record::default()
        },
    }))
}
