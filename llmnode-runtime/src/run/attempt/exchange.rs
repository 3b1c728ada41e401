//! What one attempt asks, and of whom.

use llmnode_model::Request;

use crate::run::attempt_loop::CallPlan;
use crate::run::core::Target;
use crate::validate::AttemptInfo;

/// A request and its model, in the call that makes it.
#[derive(Clone, Copy)]
pub(in crate::run) struct Exchange<'a> {
    pub(in crate::run) target: &'a Target<'a>,
    pub(in crate::run) request: &'a Request,
    pub(in crate::run) plan: &'a CallPlan<'a>,
    /// What validators are told of the attempt.
    pub(in crate::run) info: &'a AttemptInfo,
}
