//! A simulated GitHub, and the judge of whoever reads it.
//!
//! The service is a function from request bytes to what the client gets, on a clock its caller
//! holds: it reads no clock, opens no socket (only [`server`] does, when asked) and rolls only
//! seeded dice. It knows none of the reader's rules. What is really true in the simulated world is
//! told by [`World::truth`], which never looks at an answer.

mod faults;
mod github;
mod json;
mod oracle;
pub mod server;
mod spec;
mod times;
mod world;

pub use faults::{Fault, FaultRates};
pub use github::{
    Answer, Circle, Echo, GitHub, Outcome, RequestEntry, RequestKind, RequestLog, ServedPage,
    TokenSpec,
};
pub use oracle::{TrueComment, TruePull, TrueRepository, TrueTalk, TrueThread, Truth};
pub use spec::{Limits, Weights, WorldSpec, Writers};
pub use times::rfc3339;
pub use world::{CommentKind, Text, ThreadKind, World};
