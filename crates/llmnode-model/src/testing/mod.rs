//! What tests of nodes use: models that answer by a script or a function, requests
//! as text to compare, and a guard against real requests.

mod function;
pub(crate) mod guard;
mod prompt;
mod reply;
mod scripted;

pub use function::FnModel;
pub use guard::{forbid_all_requests, forbid_requests};
pub use prompt::assert_prompt;
pub use reply::Reply;
pub use scripted::ScriptedModel;
