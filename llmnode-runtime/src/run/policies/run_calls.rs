//! For every model that calls tools: what is left of a response with calls is a
//! turn, and no answer. A turn that its provider paused is one, too.

use super::policy::{AttemptView, Next, Policy};
use crate::run::response::Response;

pub(super) struct RunCalls;

impl Policy for RunCalls {
    fn received(&self, response: &Response, _: &mut AttemptView<'_>) -> Option<Next> {
        response.round.as_ref()?;
        Some(Next::Accept)
    }
}
