//! A map over a provider's batch API: its requests wait until they are sent together, and their answers come hours later.
//!
//! In: the requests of a map's calls. A call does not ask its model; it *parks* its request ([`parked`]) and goes on when the
//! result of its line is there. Nothing else of the call changes: it renders, reserves, validates and corrects as ever, and a
//! correction, a fallback model's request or an agent's next turn parks again.
//!
//! The order of things:
//!
//! 1. A map takes nodes ([`pool`]). When as many requests of a model wait as [`BatchApi::max_requests`] says, they are sent
//!    ([`group`]), and the map takes its next nodes while they are answered, until five times as many calls are under way.
//! 2. When every call of the map waits, for a batch or for room under a limit, the pool is *quiet*: what is parked becomes
//!    orders, too, one for each model and API, each no larger than the provider takes. Before that, a call that still validates an
//!    answer may have a correction for the same batch. A provider whose queue is full is given less at the same time ([`queue`]).
//! 3. An order is planned in the journal, uploaded, created, looked at until it has ended, and read line by line ([`drive`]).
//!    Each step is in the journal before the next one, so that a process that continues asks for nothing twice.
//! 4. Lines are given to their calls by their ids, no more at once than the map's concurrency. What they bring up waits until
//!    the batch is read to its end.
//!
//! Nothing runs beside the map: the orders' futures are polled with its calls, and end with it. What was sent goes on at the
//! provider, and the next process finds it in the journal. This room knows neither prices nor types of nodes.

mod api;
mod ask;
mod count;
mod drive;
mod group;
mod parked;
mod pool;
mod queue;

pub use api::BatchApi;
pub(super) use ask::{Asked, AttemptSinkExt, BatchAsking, ask_in_batch};
pub(super) use drive::Drivers;
pub(super) use pool::BatchPool;
