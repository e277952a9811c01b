//! A connection: two ends, the handshake, and what they transfer.

use super::interface::{
    APPLICATION, Arrival, DELAYED_ACK, Output, PER_END, RETRANSMISSION, TIMERS, TimerId,
};
use super::receiver::{Receiver, Reply};
use super::record::Record;
use super::segment::{End, MAX_RANGES, Segment};
use super::sender::{Call, Sender};
use super::session::Session;
use super::spec::{Life, Options};
use super::timer::Timer;

/// Two NOPs, kind and length, and each range (RFC 2018).
const SACK_BYTES: u32 = 4;
const RANGE_BYTES: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    /// A SYN is out: the client's, or the server's answer.
    Opening,
    Open,
}

#[derive(Debug)]
pub(super) struct Endpoint {
    pub state: State,
    pub sender: Sender,
    receiver: Receiver,
    /// Wakes the application.
    wake: Timer,
    pub syn_sent_ps: u64,
}

#[derive(Debug)]
pub enum Application {
    /// Bytes to transfer; None: no end.
    Bulk(Option<u64>),
    Session(Box<Session>),
}

#[derive(Debug)]
pub struct Connection {
    id: u32,
    /// Counts up with each opening; packets of an earlier one are ignored.
    life: u32,
    start_ps: u64,
    stop_ps: u64,
    pub(super) options: Options,
    pub(super) ends: [Endpoint; 2],
    application: Application,
    /// Of the transaction under way, until the connection is open.
    request_bytes: u64,
}

pub(super) fn index(end: End) -> usize {
    match end {
        End::Client => 0,
        End::Server => 1,
    }
}

impl Connection {
    /// `tick_phase_ps`: of the clocks of the two ends.
    pub fn new(
        options: Options,
        application: Application,
        (start_ps, stop_ps): (u64, u64),
        tick_phase_ps: [u64; 2],
    ) -> Self {
        let ends = tick_phase_ps.map(|phase| Endpoint {
            state: State::Closed,
            sender: Sender::new(&options, phase),
            receiver: Receiver::new(&options),
            wake: Timer::default(),
            syn_sent_ps: 0,
        });
        Self {
            id: 0,
            life: 0,
            start_ps,
            stop_ps,
            options,
            ends,
            application,
            request_bytes: 0,
        }
    }

    /// Before the run: takes its place among the run's connections.
    pub fn enlist(&mut self, id: u32, out: &mut Output) {
        self.id = id;
        if self.start_ps < self.stop_ps {
            self.ends[0].wake.set(self.start_ps);
            self.arm(out);
        }
    }

    /// A packet of the connection arrives. From the stop on the network only drains.
    pub fn received(
        &mut self,
        segment: &Segment,
        arrival: Arrival,
        record: &mut Record,
        out: &mut Output,
    ) {
        let now_ps = arrival.now_ps;
        if now_ps >= self.stop_ps || segment.life != self.life {
            return;
        }
        let end = segment.from.other();
        if segment.syn {
            self.synchronise(end, now_ps, record, out);
        } else {
            self.opened_by_data(end, now_ps, record);
            self.data(end, segment, arrival, record, out);
        }
        self.arm(out);
    }

    /// A timer's event came.
    pub fn fired(&mut self, timer: TimerId, now_ps: u64, record: &mut Record, out: &mut Output) {
        let (end, which) = match timer % TIMERS {
            of_client if of_client < PER_END => (End::Client, of_client),
            of_server => (End::Server, of_server - PER_END),
        };
        let at = &mut self.ends[index(end)];
        let due = match which {
            RETRANSMISSION => at.sender.timer.fired(now_ps),
            DELAYED_ACK => at.receiver.timer.fired(now_ps),
            _ => at.wake.fired(now_ps),
        };
        if now_ps >= self.stop_ps {
            return;
        }
        match which {
            _ if !due => {}
            RETRANSMISSION => self.retransmission(end, now_ps, record, out),
            DELAYED_ACK => self.acknowledge(end, now_ps, record, out),
            _ => self.woken(end, now_ps, record, out),
        }
        self.arm(out);
    }

    fn arm(&mut self, out: &mut Output) {
        let first = self.id * TIMERS;
        for (end, base) in self.ends.iter_mut().zip([first, first + PER_END]) {
            let timers = [
                (&mut end.sender.timer, RETRANSMISSION),
                (&mut end.receiver.timer, DELAYED_ACK),
                (&mut end.wake, APPLICATION),
            ];
            for (timer, which) in timers {
                if let Some(at_ps) = timer.next_event() {
                    out.timers.push((at_ps, base + which));
                }
            }
        }
    }

    /// The application of one end acts: the client begins, the server responds.
    fn woken(&mut self, end: End, now_ps: u64, record: &mut Record, out: &mut Output) {
        match (&mut self.application, end) {
            (Application::Session(session), End::Server) => {
                session.respond(&mut self.ends[1].sender);
                self.flush(end, now_ps, record, out);
            }
            (Application::Session(session), End::Client) => {
                self.request_bytes = session.begin(now_ps, record);
                self.open(now_ps, record, out);
            }
            (Application::Bulk(_), _) => self.open(now_ps, record, out),
        }
    }

    /// The client may send.
    pub(super) fn client_is_open(&mut self, now_ps: u64, record: &mut Record, out: &mut Output) {
        let sender = &mut self.ends[0].sender;
        match &mut self.application {
            Application::Bulk(Some(bytes)) => sender.write(*bytes),
            Application::Bulk(None) => sender.write_without_end(),
            Application::Session(session) => {
                sender.write(self.request_bytes);
                session.requested(sender.written(), now_ps);
            }
        }
        self.flush(End::Client, now_ps, record, out);
    }

    fn data(
        &mut self,
        end: End,
        segment: &Segment,
        Arrival { now_ps, ce }: Arrival,
        record: &mut Record,
        out: &mut Output,
    ) {
        let at = &mut self.ends[index(end)];
        let mut call = Call {
            now_ps,
            record,
            numbers: &mut out.numbers,
        };
        at.sender.acknowledged(segment, &mut call);
        let mut reply = Reply::Later;
        let mut complete = false;
        if let Some(number) = segment.number {
            at.receiver.notice(ce, segment.cwr);
            reply = at.receiver.received(number, segment.sent_ps, now_ps);
            complete = self.progressed(end, now_ps);
        }
        let mut sent = self.flush(end, now_ps, record, out);
        if complete {
            sent = self.complete(now_ps, record, out);
        }
        if reply == Reply::Now && !sent {
            self.acknowledge(end, now_ps, record, out);
        }
    }

    /// Data came to `end`; true if it ends the transaction.
    fn progressed(&mut self, end: End, now_ps: u64) -> bool {
        let Application::Session(session) = &mut self.application else {
            return false;
        };
        let next = self.ends[index(end)].receiver.next();
        if end == End::Client {
            return session.is_complete(next);
        }
        if let Some(at_ps) = session.served_at(next, now_ps) {
            if at_ps > now_ps {
                self.wake(End::Server, Some(at_ps));
            } else {
                session.respond(&mut self.ends[1].sender);
            }
        }
        false
    }

    /// The client has the whole response; true if a packet with an acknowledgement follows now.
    fn complete(&mut self, now_ps: u64, record: &mut Record, out: &mut Output) -> bool {
        let Application::Session(session) = &mut self.application else {
            return false;
        };
        let next = session.ended(false, now_ps, record);
        let life = session.life();
        self.wake(End::Client, next);
        if life == Life::New {
            self.acknowledge(End::Client, now_ps, record, out);
            self.close();
            return true;
        }
        next == Some(now_ps)
    }

    fn retransmission(&mut self, end: End, now_ps: u64, record: &mut Record, out: &mut Output) {
        if let Application::Session(session) = &mut self.application {
            session.timed_out();
        }
        let at = &mut self.ends[index(end)];
        let opening = at.state == State::Opening;
        let mut call = Call {
            now_ps,
            record,
            numbers: &mut out.numbers,
        };
        if opening {
            at.sender.syn_timed_out(&mut call);
        } else {
            at.sender.timed_out(&mut call);
        }
        if at.sender.gives_up() {
            return self.abort(now_ps, record);
        }
        if opening {
            at.sender.restart_timer(now_ps);
            self.send_syn(end, now_ps, out);
        } else {
            self.flush(end, now_ps, record, out);
        }
    }

    fn abort(&mut self, now_ps: u64, record: &mut Record) {
        record.aborted += 1;
        self.close();
        if let Application::Session(session) = &mut self.application {
            let next = session.ended(true, now_ps, record);
            self.wake(End::Client, next);
        }
    }

    /// Wakes an application, unless that is after the stop.
    fn wake(&mut self, end: End, at_ps: Option<u64>) {
        if let Some(at_ps) = at_ps.filter(|at_ps| *at_ps < self.stop_ps) {
            self.ends[index(end)].wake.set(at_ps);
        }
    }

    /// Both ends forget the connection; its closing exchange is not simulated.
    fn close(&mut self) {
        self.life = self.life.wrapping_add(1);
        for end in &mut self.ends {
            end.state = State::Closed;
            end.sender.reset();
            end.receiver.reset();
        }
        self.ends[1].wake.clear();
    }

    /// Sends what the windows allow, with acknowledgements; true if there was any.
    fn flush(&mut self, end: End, now_ps: u64, record: &mut Record, out: &mut Output) -> bool {
        let mut numbers = std::mem::take(&mut out.numbers);
        let at = &mut self.ends[index(end)];
        at.sender.fill(&mut Call {
            now_ps,
            record,
            numbers: &mut numbers,
        });
        let any = !numbers.is_empty();
        for number in numbers.drain(..) {
            let segment = Segment {
                number: Some(number),
                cwr: self.ends[index(end)].sender.announces(number),
                ip_bytes: self.ends[index(end)].sender.ip_bytes(number),
                ..self.header(end, now_ps)
            };
            out.segments.push(segment);
        }
        out.numbers = numbers;
        if any {
            self.ends[index(end)].receiver.acknowledged();
        }
        any
    }

    pub(super) fn header(&self, end: End, now_ps: u64) -> Segment {
        let receiver = &self.ends[index(end)].receiver;
        Segment {
            connection: self.id,
            life: self.life,
            from: end,
            syn: false,
            number: None,
            ack: receiver.next(),
            sent_ps: now_ps,
            echo_ps: receiver.echo_ps(),
            ranges: Default::default(),
            range_count: 0,
            ece: receiver.saw_congestion(),
            cwr: false,
            ip_bytes: 0,
        }
    }

    /// An acknowledgement without data.
    pub(super) fn acknowledge(
        &mut self,
        end: End,
        now_ps: u64,
        record: &mut Record,
        out: &mut Output,
    ) {
        let most = match (self.options.sack, self.options.timestamps) {
            (false, _) => 0,
            (true, true) => MAX_RANGES - 1,
            (true, false) => MAX_RANGES,
        };
        let mut ack = self.header(end, now_ps);
        let receiver = &mut self.ends[index(end)].receiver;
        (ack.ranges, ack.range_count) = receiver.ranges(most);
        receiver.acknowledged();
        ack.ip_bytes = self.options.header_bytes();
        if ack.range_count > 0 {
            ack.ip_bytes += SACK_BYTES + RANGE_BYTES * u32::from(ack.range_count);
        }
        record.acks_sent += 1;
        out.segments.push(ack);
    }
}
