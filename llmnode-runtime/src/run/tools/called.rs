//! A call of a tool, as the tool's side sees it.

use super::round::Executor;
use crate::model::ToolCall;
use crate::pause::{Decision, Stand, segment};
use crate::run::resume::Origin;

/// One call of a tool.
pub(in crate::run) struct Called<'c> {
    pub(super) call: &'c ToolCall,
    /// What was decided about it, where it waited.
    pub(super) decision: Option<&'c Decision>,
    pub(in crate::run) origin: Origin<'c>,
}

impl<'c> Called<'c> {
    pub(super) fn new(call: &'c ToolCall, stand: Option<&'c Stand>, with: &Executor<'c>) -> Self {
        let (root, around) = with.conversation;
        let between = if around.is_empty() { "" } else { "/" };
        let paused = match stand {
            Some(Stand::Within(paused)) => Some(&**paused),
            _ => None,
        };
        let path = format!("{around}{between}{}", segment(&call.id));
        let mut origin = Origin::tool(with.plan.call.depth + 1, (root, path), paused);
        origin.kept = with.kept.map(|kept| format!("{kept}/{}", segment(&call.id)));
        Called { call, decision: stand.and_then(Stand::decision), origin }
    }

    /// The ids of the calls around it and its own.
    pub(super) fn path(&self) -> &str {
        self.origin.tool.as_ref().map_or("", |(_, path)| path)
    }
}
