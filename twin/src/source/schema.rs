//! The schema of a source: what `super::read` takes apart by its `kind`.

use schemars::JsonSchema;

use super::amount;
use super::bucket::BucketSpec;
use super::echo::EchoSpec;
use super::exponential::ExponentialSizesSpec;
use super::onoff::OnOffSpec;
use super::regular::RegularSpec;
use super::tcp::{BulkSpec, Options, SessionSpec};
use super::trace::TraceSpec;
use super::video::VideoSpec;

/// A source of packets.
#[derive(JsonSchema)]
#[schemars(rename = "SourceSpec", tag = "kind", rename_all = "snake_case")]
#[allow(dead_code)]
pub enum SourceSchema {
    Cbr(Paced<RegularSpec>),
    Poisson(Paced<RegularSpec>),
    #[schemars(rename = "onoff")]
    OnOff(Paced<OnOffSpec>),
    Video(Paced<VideoSpec>),
    Trace(Paced<TraceSpec>),
    Tcp(Connected<BulkSpec>),
    TcpSession(Connected<SessionSpec>),
    UdpEcho(EchoSpec),
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code)]
pub struct Paced<Spec> {
    #[schemars(flatten)]
    spec: Spec,
    /// What the source sends waits for its tokens.
    bucket: Option<BucketSpec>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[allow(dead_code)]
pub struct Connected<Spec> {
    #[schemars(flatten)]
    spec: Spec,
    #[schemars(flatten)]
    options: Options,
}

/// Bytes or time, fixed or drawn.
#[derive(JsonSchema)]
#[schemars(rename = "Amount", untagged)]
#[allow(dead_code)]
pub enum AmountSchema {
    Fixed(u64),
    Drawn(DrawnAmount),
}

#[derive(JsonSchema)]
#[schemars(tag = "kind", rename_all = "snake_case")]
#[allow(dead_code)]
pub enum DrawnAmount {
    Uniform(amount::UniformSpec),
    Exponential(amount::ExponentialSpec),
}

/// Packet sizes: one, several with their weights, or of `poisson` an exponential distribution.
#[derive(JsonSchema)]
#[schemars(rename = "Sizes", untagged)]
#[allow(dead_code)]
pub enum SizesSchema {
    One(u32),
    Weighted(Vec<(u32, u32)>),
    Drawn(DrawnSizes),
}

#[derive(JsonSchema)]
#[schemars(tag = "kind", rename_all = "snake_case")]
#[allow(dead_code)]
pub enum DrawnSizes {
    Exponential(ExponentialSizesSpec),
}
