//! Opening a connection (RFC 9293 §3.5); a lost SYN is repeated by the initial timeout.

use super::connection::{Connection, State, index};
use super::interface::Output;
use super::record::Record;
use super::segment::{End, Segment};

/// The MSS option of a SYN (RFC 9293), and SACK permitted, padded (RFC 2018).
const MSS_BYTES: u32 = 4;
const SACK_PERMITTED_BYTES: u32 = 4;

impl Connection {
    pub(super) fn open(&mut self, now_ps: u64, record: &mut Record, out: &mut Output) {
        if self.ends[0].state == State::Closed {
            record.connections += 1;
            if self.options.handshake {
                self.ends[0].state = State::Opening;
                self.ends[0].syn_sent_ps = now_ps;
                self.send_syn(End::Client, now_ps, out);
                self.ends[0].sender.restart_timer(now_ps);
                return;
            }
            self.ends.iter_mut().for_each(|e| e.state = State::Open);
        }
        self.client_is_open(now_ps, record, out);
    }

    pub(super) fn send_syn(&mut self, end: End, now_ps: u64, out: &mut Output) {
        let permitted = if self.options.sack {
            SACK_PERMITTED_BYTES
        } else {
            0
        };
        let syn = Segment {
            syn: true,
            ip_bytes: self.options.header_bytes() + MSS_BYTES + permitted,
            ..self.header(end, now_ps)
        };
        out.segments.push(syn);
    }

    /// A SYN arrives at `end`.
    pub(super) fn synchronise(
        &mut self,
        end: End,
        now_ps: u64,
        record: &mut Record,
        out: &mut Output,
    ) {
        let at = &mut self.ends[index(end)];
        match (end, at.state) {
            (End::Server, State::Closed) => {
                at.state = State::Opening;
                at.syn_sent_ps = now_ps;
                at.sender.restart_timer(now_ps);
                self.send_syn(end, now_ps, out);
            }
            // The client repeats itself: the answer may be lost.
            (End::Server, State::Opening) => self.send_syn(end, now_ps, out),
            (End::Client, State::Opening) => {
                self.opened(end, now_ps, record);
                self.acknowledge(end, now_ps, record, out);
                self.client_is_open(now_ps, record, out);
            }
            (End::Client, State::Open) => self.acknowledge(end, now_ps, record, out),
            (End::Client, State::Closed) | (End::Server, State::Open) => {}
        }
    }

    /// Whatever follows a SYN shows that the answer to it arrived.
    pub(super) fn opened_by_data(&mut self, end: End, now_ps: u64, record: &mut Record) {
        if end == End::Server && self.ends[1].state == State::Opening {
            self.opened(end, now_ps, record);
        }
    }

    fn opened(&mut self, end: End, now_ps: u64, record: &mut Record) {
        let at = &mut self.ends[index(end)];
        at.state = State::Open;
        if at.sender.syn_is_timed() {
            at.sender.rto.measure(at.syn_sent_ps, now_ps);
            record.round_trip(at.syn_sent_ps, now_ps);
        }
        at.sender.opened();
    }
}
