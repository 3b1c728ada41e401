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
//! 3. An order is planned in the journal, uploaded and created ([`send`]), looked at until it has ended ([`look`]), and read line
//!    by line ([`read`]); [`life`] has these steps in their order. Each step is in the journal before the next one, so that a
//!    process that continues asks for nothing twice. A batch of an earlier process begins in [`left`]; whether one is there whose
//!    creation was not answered, [`find`] says. One that the provider refuses as a whole ends in [`refused`].
//! 4. Lines are given to their calls by their ids, no more at once than the map's concurrency. What they bring up waits until
//!    the batch is read to its end.
//! 5. When all calls have ended, a warning says which lines nobody asked for ([`unused`]), and files are deleted.
//!
//! Nothing runs beside the map: the batches are futures that are polled with its calls ([`drivers`]), and end with it. What was sent
//! goes on at the provider, and the next process finds it in the journal. This room knows no types of nodes, and prices only for
//! that warning.
//!
//! From the ground up: `api`, `count`, `parked`, `queue`, `group`, `unused`, `pool`, `batch`, the steps, `drivers`. `ask` is the other
//! end: what a call does.

mod api;
mod ask;
mod batch;
mod count;
mod drivers;
mod find;
mod group;
mod left;
mod life;
mod look;
mod parked;
mod pool;
mod queue;
mod read;
mod refused;
mod send;
mod unused;

pub use api::BatchApi;
pub(super) use ask::{Asked, AttemptSinkExt, BatchAsking, ask_in_batch};
pub(super) use drivers::Drivers;
pub(super) use pool::BatchPool;
