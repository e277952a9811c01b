//! What a classifier rule may ask of a packet.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Colour;

/// All given terms must hold; a term is a list of alternatives; none given matches everything.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MatchSpec {
    pub dscp: Option<Vec<u8>>,
    pub cos: Option<Vec<u8>>,
    pub precedence: Option<Vec<u8>>,
    /// Set by the ingress of the same node.
    pub group: Option<Vec<u8>>,
    pub application: Option<Vec<String>>,
    pub protocol: Option<Vec<u8>>,
    /// Prefixes, such as `10.0.0.0/8`; a bare address is a host.
    pub src: Option<Vec<String>>,
    pub dst: Option<Vec<String>>,
    /// Inclusive port ranges.
    pub src_ports: Option<Vec<(u16, u16)>>,
    pub dst_ports: Option<Vec<(u16, u16)>>,
    /// Source or destination port.
    pub any_port: Option<Vec<(u16, u16)>>,
    pub vlan: Option<Vec<u16>>,
    /// MAC addresses, such as `00:00:5e:00:53:01`.
    pub src_mac: Option<Vec<String>>,
    pub dst_mac: Option<Vec<String>>,
    /// Names of the node's ports the packet came in by; a sender's own packets came in by none.
    pub input: Option<Vec<String>>,
    pub colour: Option<Vec<Colour>>,
    /// At least one of these holds.
    pub any: Option<Vec<MatchSpec>>,
    /// This does not hold.
    pub not: Option<Box<MatchSpec>>,
}
