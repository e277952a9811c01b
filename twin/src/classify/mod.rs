//! Matching of header fields and marks; resolved once per flow, hop and mark when a run is built.

mod address;
mod matcher;

pub use matcher::Matcher;

use std::net::IpAddr;

use crate::error::ScenarioError;
use crate::scenario::{Colour, EcnSpec, MarkSpec, PacketSpec};
use address::Mac;

/// The marks a packet carries at some point of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    pub dscp: u8,
    pub cos: u8,
    /// A class chosen on input, known inside the device alone (QoS group, service queue).
    pub group: Option<u8>,
    /// Drop precedence, known inside the device alone.
    pub colour: Colour,
}

impl Mark {
    /// IP precedence: the upper three bits of the DSCP.
    pub fn precedence(self) -> u8 {
        self.dscp >> 3
    }

    pub fn with(self, set: &MarkSpec) -> Self {
        // A precedence is set as its class selector (RFC 2474), which clears the lower bits.
        let dscp = set.dscp.or(set.precedence.map(|p| p << 3));
        Self {
            dscp: dscp.unwrap_or(self.dscp),
            cos: set.cos.unwrap_or(self.cos),
            group: set.group.or(self.group),
            colour: set.colour.unwrap_or(self.colour),
        }
    }
}

/// The header fields that never change on the way.
#[derive(Debug, Clone)]
pub struct Header {
    pub protocol: u8,
    pub src: Option<IpAddr>,
    pub dst: Option<IpAddr>,
    pub src_port: Option<u16>,
    pub dst_port: Option<u16>,
    pub application: Option<String>,
    pub vlan: Option<u16>,
    pub src_mac: Option<Mac>,
    pub dst_mac: Option<Mac>,
    /// ECN-capable (RFC 3168).
    pub ect: bool,
}

impl Header {
    /// `protocol`: of a flow that names none.
    pub fn read(
        spec: &PacketSpec,
        protocol: u8,
        path: &str,
    ) -> Result<(Self, Mark), ScenarioError> {
        let address = |text: &Option<String>, field: &str| match text {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| {
                let at = format!("{path}.{field}");
                ScenarioError::new(at, format!("{text:?} is no address"), "write 192.0.2.1")
            }),
        };
        let mac = |text: &Option<String>, field: &str| match text {
            None => Ok(None),
            Some(text) => Mac::read(text, &format!("{path}.{field}")).map(Some),
        };
        in_field(Some(spec.dscp), 63, &format!("{path}.dscp"))?;
        in_field(Some(spec.cos), 7, &format!("{path}.cos"))?;
        let header = Self {
            protocol: spec.protocol.unwrap_or(protocol),
            src: address(&spec.src, "src")?,
            dst: address(&spec.dst, "dst")?,
            src_port: spec.src_port,
            dst_port: spec.dst_port,
            application: spec.application.clone(),
            vlan: spec.vlan,
            src_mac: mac(&spec.src_mac, "src_mac")?,
            dst_mac: mac(&spec.dst_mac, "dst_mac")?,
            ect: spec.ecn == EcnSpec::Ect,
        };
        let mark = Mark {
            dscp: spec.dscp,
            cos: spec.cos,
            group: None,
            colour: Colour::Green,
        };
        Ok((header, mark))
    }

    /// The same conversation seen from the other end; acknowledgements are not ECN-capable
    /// (RFC 3168, section 6.1.4).
    pub fn reversed(&self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            src_mac: self.dst_mac,
            dst_mac: self.src_mac,
            ect: false,
            ..self.clone()
        }
    }
}

/// Refuses marks that the header field cannot hold.
pub fn check_marks(set: &MarkSpec, path: &str) -> Result<(), ScenarioError> {
    in_field(set.dscp, 63, &format!("{path}.dscp"))?;
    in_field(set.precedence, 7, &format!("{path}.precedence"))?;
    in_field(set.cos, 7, &format!("{path}.cos"))?;
    if set.dscp.is_some() && set.precedence.is_some() {
        let at = format!("{path}.precedence");
        let problem = "dscp and precedence are one field";
        return Err(ScenarioError::new(at, problem, "give one of them"));
    }
    Ok(())
}

fn in_field(value: Option<u8>, top: u8, path: &str) -> Result<(), ScenarioError> {
    match value {
        Some(v) if v > top => Err(ScenarioError::new(
            path,
            format!("{v} does not fit the field"),
            format!("use 0 to {top}"),
        )),
        _ => Ok(()),
    }
}
