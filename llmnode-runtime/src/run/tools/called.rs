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

/// The conversation that a call belongs to.
#[derive(Clone, Copy)]
pub(in crate::run) struct Around<'c> {
    /// What tells it from others, and the ids of the calls that it is within.
    pub(in crate::run) conversation: (&'c str, &'c str),
    /// How deep the call stands that it is held in.
    pub(in crate::run) depth: usize,
    /// The name under which results are kept, where they are.
    pub(in crate::run) kept: Option<&'c str>,
}

impl<'c> Called<'c> {
    pub(super) fn new(call: &'c ToolCall, stand: Option<&'c Stand>, of: Around<'c>) -> Self {
        let (root, around) = of.conversation;
        let between = if around.is_empty() { "" } else { "/" };
        let paused = match stand {
            Some(Stand::Within(paused)) => Some(&**paused),
            _ => None,
        };
        let path = format!("{around}{between}{}", segment(&call.id));
        let mut origin = Origin::tool(of.depth + 1, (root, path), paused);
        origin.kept = of.kept.map(|kept| format!("{kept}/{}", segment(&call.id)));
        Called { call, decision: stand.and_then(Stand::decision), origin }
    }

    /// The ids of the calls around it and its own.
    pub(super) fn path(&self) -> &str {
        self.origin.tool.as_ref().map_or("", |(_, path)| path)
    }
}
