//! A simulated GitHub and a simulated Bluesky, and oracles to check their readers against.
//!
//! Each service is a function from request bytes and a time to a response: it reads no clock, opens no socket (only
//! [`server`] and [`delay_proxy`] do) and uses only seeded random numbers. It knows none of the reader's rules. [`World::truth`] and
//! [`bluesky::BlueskyWorld::truth`] return the content of the simulated worlds, independently of any response.

pub mod bluesky;
pub mod delay_proxy;
mod faults;
mod github;
mod json_writer;
mod oracle;
pub mod server;
mod timestamps;
mod world;
mod world_spec;

pub use faults::{ApiFault, FaultRates};
pub use github::{
    DelayedResponse, PaginationLoop, RequestEntry, RequestKind, RequestLog, ServedPage,
    SimulatedGitHub, TokenEcho, TokenSpec, WireOutcome,
};
pub use oracle::{
    EventFloor, EventOracle, EventWatch, GroundTruth, SeenChange, SeenEvent, SeenState, SeenText,
    TrueComment, TrueDiscussion, TruePullRequest, TrueRepository, TrueThread,
};
pub use timestamps::{format_rfc3339, format_rfc3339_ms};
pub use world::{CommentKind, ThreadKind, WireText, World};
pub use world_spec::{ActionWeights, ActivitySpec, OwnerKind, OwnerSpec, RateLimitSpec, WorldSpec};
