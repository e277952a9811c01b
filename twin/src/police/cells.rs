//! ATM cell policing: usage parameter control by the generic cell rate algorithm (GCRA).
//!
//! ITU-T I.371 and ATM Forum Traffic Management 4.0: a cell of contract (rate, tolerance)
//! conforms if it comes no more than the tolerance before its theoretical arrival time. With a
//! sustainable rate too, a cell must conform to both; its burst tolerance is
//! (MBS − 1)(1/SCR − 1/PCR), which lets MBS cells through at the peak rate.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;
use super::bucket::{earned, positive};
use crate::error::ScenarioError;
use crate::framing::{SECOND_PS, serialisation_ps};

/// Bytes of a cell and of its payload.
const CELL: u32 = 53;
const PAYLOAD: u32 = 48;
/// One cell in bits × 10^12, the unit of levels.
const CELL_LEVEL: u128 = CELL as u128 * 8 * SECOND_PS as u128;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellsSpec {
    /// Peak cell rate, in bits of whole cells.
    pcr_bps: u64,
    /// Cell delay variation tolerance.
    cdvt_ps: u64,
    /// Sustainable cell rate.
    #[serde(default)]
    scr_bps: Option<u64>,
    /// Maximum burst size at the peak rate (MBS).
    #[serde(default)]
    burst_cells: Option<u32>,
    #[serde(default)]
    discard: Discard,
    /// Bytes between IP packet and AAL5 payload: LLC/SNAP 8 (RFC 2684) and the trailer 8.
    #[serde(default = "llc_snap")]
    encapsulation_bytes: u32,
}

fn llc_snap() -> u32 {
    16
}

/// What becomes of the other cells of a packet that lost one; it cannot be reassembled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Discard {
    /// They are judged each by itself, and use the contract.
    #[default]
    Cell,
    /// Those behind the lost one are dropped, but for the last, which ends the packet.
    PartialPacket,
    /// The first cell decides for all (frame-based GCRA of Traffic Management 4.1).
    EarlyPacket,
}

/// Where the policer stands.
#[derive(Debug, Clone, Copy)]
pub struct CellLine {
    /// Rate at which the cells of one packet follow each other.
    pub rate_bps: u64,
    /// The packet's last cell is in when it is judged; else its first one comes then.
    pub received: bool,
}

/// One GCRA as a leaky bucket that drains at the contract's rate.
#[derive(Debug)]
struct Leak {
    rate_bps: u64,
    level: u128,
    limit: u128,
}

impl Leak {
    fn conforms(&self) -> bool {
        self.level <= self.limit
    }
}

#[derive(Debug)]
pub struct Cells {
    peak: Leak,
    sustained: Option<Leak>,
    discard: Discard,
    encapsulation: u32,
    cell_ps: u64,
    received: bool,
    /// Arrival of the last cell; cells share one line, so none comes sooner than a cell later.
    last_ps: Option<u64>,
}

impl Cells {
    pub fn new(spec: &CellsSpec, line: CellLine, path: &str) -> Result<Self, ScenarioError> {
        positive(spec.pcr_bps, path, "pcr_bps")?;
        if spec.encapsulation_bytes > 1024 {
            let at = format!("{path}.encapsulation_bytes");
            return Err(ScenarioError::new(at, "is too large", "use 16 or 8"));
        }
        let peak = Leak {
            rate_bps: spec.pcr_bps,
            level: 0,
            limit: earned(spec.pcr_bps, spec.cdvt_ps),
        };
        Ok(Self {
            peak,
            sustained: sustained(spec, path)?,
            discard: spec.discard,
            encapsulation: spec.encapsulation_bytes,
            cell_ps: serialisation_ps(CELL, line.rate_bps),
            received: line.received,
            last_ps: None,
        })
    }

    /// Judges the cells of a packet of so many IP bytes.
    pub fn judge(&mut self, ip_bytes: u32, now_ps: u64) -> Outcome {
        let cells = ip_bytes
            .saturating_add(self.encapsulation)
            .div_ceil(PAYLOAD)
            .max(1);
        let span = self.cell_ps.saturating_mul(u64::from(cells - 1));
        let mut due = if self.received {
            now_ps.saturating_sub(span)
        } else {
            now_ps
        };
        let mut lost = false;
        for cell in 0..cells {
            let elapsed = match self.last_ps {
                Some(last) => {
                    due = due.max(last.saturating_add(self.cell_ps));
                    due - last
                }
                None => due,
            };
            self.last_ps = Some(due);
            due = due.saturating_add(self.cell_ps);
            self.drain(elapsed);
            let passes = match self.discard {
                Discard::EarlyPacket if cell > 0 => !lost,
                Discard::PartialPacket if lost && cell + 1 < cells => false,
                _ => self.conforms(),
            };
            if passes {
                self.charge();
            } else {
                lost = true;
            }
        }
        if lost {
            Outcome::Exceed
        } else {
            Outcome::Conform
        }
    }

    fn drain(&mut self, elapsed_ps: u64) {
        for leak in std::iter::once(&mut self.peak).chain(&mut self.sustained) {
            leak.level = (leak.level).saturating_sub(earned(leak.rate_bps, elapsed_ps));
        }
    }

    fn conforms(&self) -> bool {
        self.peak.conforms() && self.sustained.as_ref().is_none_or(Leak::conforms)
    }

    fn charge(&mut self) {
        for leak in std::iter::once(&mut self.peak).chain(&mut self.sustained) {
            leak.level = leak.level.saturating_add(CELL_LEVEL);
        }
    }
}

fn sustained(spec: &CellsSpec, path: &str) -> Result<Option<Leak>, ScenarioError> {
    let wrong = |field: &str, problem: &str, hint: &str| {
        Err(ScenarioError::new(format!("{path}.{field}"), problem, hint))
    };
    let (rate, burst) = match (spec.scr_bps, spec.burst_cells) {
        (None, None) => return Ok(None),
        (Some(_), None) => return wrong("burst_cells", "is missing", "give it with scr_bps"),
        (None, Some(_)) => return wrong("scr_bps", "is missing", "give it with burst_cells"),
        (Some(rate), Some(burst)) => (rate, burst),
    };
    positive(rate, path, "scr_bps")?;
    positive(burst.into(), path, "burst_cells")?;
    if rate > spec.pcr_bps {
        return wrong("scr_bps", "is above pcr_bps", "let the peak be no lower");
    }
    // Burst tolerance × SCR = (MBS − 1)(1 − SCR/PCR) cells, rounded up by less than 10^-12 bit.
    let cells = u128::from(burst - 1) * CELL_LEVEL;
    let tolerance = cells.checked_mul(u128::from(spec.pcr_bps - rate));
    let Some(tolerance) = tolerance else {
        return wrong("burst_cells", "is too large", "use a smaller burst or rate");
    };
    let tolerance = tolerance.div_ceil(u128::from(spec.pcr_bps));
    Ok(Some(Leak {
        rate_bps: rate,
        level: 0,
        limit: tolerance.saturating_add(earned(rate, spec.cdvt_ps)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn cells(spec: &str, rate_bps: u64) -> Result<Cells, ScenarioError> {
        let line = CellLine {
            rate_bps,
            received: false,
        };
        Cells::new(&serde_json::from_str(spec).unwrap(), line, "p")
    }

    /// 424 kb/s of cells on a 4.24 Mb/s line: one cell in a millisecond, of ten that fit.
    fn peak(cdvt_us: u64, discard: &str) -> Cells {
        let spec = format!(
            r#"{{"pcr_bps": 424000, "cdvt_ps": {}, "discard": "{discard}"}}"#,
            cdvt_us * US
        );
        cells(&spec, 4_240_000).unwrap()
    }

    /// 32 bytes and LLC/SNAP and trailer fill one cell.
    const ONE: u32 = 32;
    const THREE: u32 = 3 * 48 - 16;

    #[test]
    fn single_cells_against_the_theoretical_arrival_time() {
        let mut policer = peak(200, "cell");
        let verdicts: Vec<_> = [0, 800, 1_799, 1_800, 2_700, 2_900]
            .iter()
            .map(|at| policer.judge(ONE, at * US) == Outcome::Conform)
            .collect();
        // TAT: 1000; 800 is the earliest; TAT 2000: 1799 is early, 1800 not; 3000: 2700; 2900.
        assert_eq!(verdicts, [true, true, false, true, false, true]);
    }

    #[test]
    fn cells_of_a_lost_packet_use_the_contract() {
        // The cells come at 0, 100 and 200 µs; the second and third are early.
        let mut policer = peak(0, "cell");
        assert_eq!(policer.judge(THREE, 0), Outcome::Exceed);
        // The first cell was let through, so the next is due at 1000.
        assert_eq!(policer.judge(ONE, 900 * US), Outcome::Exceed);
        assert_eq!(policer.judge(ONE, 1_000 * US), Outcome::Conform);
    }

    #[test]
    fn tolerance_admits_back_to_back_cells() {
        // Three cells back to back need 2 × (1000 − 100) µs.
        assert_eq!(peak(1_800, "cell").judge(THREE, 0), Outcome::Conform);
        assert_eq!(peak(1_799, "cell").judge(THREE, 0), Outcome::Exceed);
    }

    #[test]
    fn discard_of_the_rest_or_of_all() {
        // Of ten cells back to back, two conform with 900 µs of tolerance.
        let ten = 10 * 48 - 16;
        // Each by itself: the last of ten comes at 900 µs, before 2000 − 900.
        let mut each = peak(900, "cell");
        assert_eq!(each.judge(ten, 0), Outcome::Exceed);
        assert_eq!(each.judge(ONE, 1_100 * US), Outcome::Conform);
        // The first cell decides: all pass and the contract is used for ten.
        let mut first = peak(900, "early_packet");
        assert_eq!(first.judge(ten, 0), Outcome::Conform);
        assert_eq!(first.judge(THREE, 9_099 * US), Outcome::Exceed);
        assert_eq!(first.judge(THREE, 9_400 * US), Outcome::Conform);
        // Without tolerance one cell in ten conforms; behind a lost cell only the last may.
        let mut rest = peak(0, "partial_packet");
        let thirty = 30 * 48 - 16;
        assert_eq!(rest.judge(thirty, 0), Outcome::Exceed);
        let mut all = peak(0, "cell");
        assert_eq!(all.judge(thirty, 0), Outcome::Exceed);
        // Cells 0, 10 and 20 passed; or 0 and 29: TAT is 3000 and 3900.
        assert_eq!(all.judge(ONE, 3_000 * US), Outcome::Conform);
        assert_eq!(rest.judge(ONE, 3_899 * US), Outcome::Exceed);
        assert_eq!(rest.judge(ONE, 3_999 * US), Outcome::Conform);
    }

    #[test]
    fn the_maximum_burst_passes_at_the_peak_rate() {
        let spec = r#"{"pcr_bps": 3000, "cdvt_ps": 0, "scr_bps": 1000, "burst_cells": 7}"#;
        let mut policer = cells(spec, 4_240_000).unwrap();
        let gap = serialisation_ps(CELL, 3000);
        let passed = (0..8).map(|i| policer.judge(ONE, i * gap));
        let passed: Vec<_> = passed.map(|o| o == Outcome::Conform).collect();
        assert_eq!(passed, [true, true, true, true, true, true, true, false]);
    }

    #[test]
    fn received_cells_came_before() {
        let spec = r#"{"pcr_bps": 424000, "cdvt_ps": 0}"#;
        let line = CellLine {
            rate_bps: 424_000,
            received: true,
        };
        let mut policer = Cells::new(&serde_json::from_str(spec).unwrap(), line, "p").unwrap();
        // At the contract's own rate nothing is early, however packets and cells mix.
        assert_eq!(policer.judge(THREE, 3_000 * US), Outcome::Conform);
        assert_eq!(policer.judge(ONE, 4_000 * US), Outcome::Conform);
        assert_eq!(policer.judge(THREE, 7_000 * US), Outcome::Conform);
    }

    #[test]
    fn refuses_half_a_contract() {
        let path = |spec| cells(spec, 1).unwrap_err().path;
        assert_eq!(
            path(r#"{"pcr_bps": 1, "cdvt_ps": 0, "scr_bps": 1}"#),
            "p.burst_cells"
        );
        assert_eq!(
            path(r#"{"pcr_bps": 1, "cdvt_ps": 0, "scr_bps": 2, "burst_cells": 1}"#),
            "p.scr_bps"
        );
        assert_eq!(path(r#"{"pcr_bps": 0, "cdvt_ps": 0}"#), "p.pcr_bps");
        let huge = format!(
            r#"{{"pcr_bps": {}, "cdvt_ps": 0, "scr_bps": 1, "burst_cells": {}}}"#,
            u64::MAX,
            u32::MAX
        );
        assert_eq!(path(&huge), "p.burst_cells");
    }
}
