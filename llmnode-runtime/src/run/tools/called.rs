//! A call of a tool, as the tool's side sees it.

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
    /// `conversation`: what tells it from others, and the call that it is within.
    pub(super) fn new(call: &'c ToolCall, stand: Option<&'c Stand>, conversation: (&'c str, &str)) -> Self {
        let (root, around) = conversation;
        let between = if around.is_empty() { "" } else { "/" };
        let paused = match stand {
            Some(Stand::Within(paused)) => Some(&**paused),
            _ => None,
        };
        let path = format!("{around}{between}{}", segment(&call.id));
        Called { call, decision: stand.and_then(Stand::decision), origin: Origin::tool(root, path, paused) }
    }

    /// The ids of the calls around it and its own.
    pub(super) fn path(&self) -> &str {
        self.origin.tool.as_ref().map_or("", |(_, path)| path)
    }
}
