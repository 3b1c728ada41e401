//! Optimisers: from labelled cases to a better [`Program`](crate::Program), under a limit.
//!
//! [`Bootstrap`] finds examples for the prompt, [`Reflect`] a better goal. Both judge the result on cases that were
//! kept apart, and return [`Optimised::Unchanged`] if nothing beats the start.

mod bootstrap;
mod checks;
mod labels;
mod optimiser;
mod optimising;
mod outcome;
mod pareto;
mod progress;
mod propose;
mod reflect;
mod teacher;
mod trial;

pub use bootstrap::Bootstrap;
pub use optimising::Optimise;
pub use outcome::{OptimiseReport, Optimised};
pub use progress::OptimiseProgress;
pub use reflect::Reflect;
