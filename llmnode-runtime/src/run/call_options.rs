//! The settings of one call, on their way into its future.

use std::sync::Arc;

use super::compaction::Sources;
use super::listener::Listener;
use super::resume::Origin;
use super::turn::Turn;
use crate::ledger::RunRecorder;
use crate::pause::{Paused, Unfinished};
use crate::settings::Settings;

/// What a call hands to its future when it is first polled.
pub(super) struct Handover<'r, T> {
    pub(super) options: CallOptions<'r>,
    /// Writes the output for a conversation, if the call has one.
    pub(super) writer: Option<Writer<T>>,
}

impl<T> Default for Handover<'_, T> {
    fn default() -> Self {
        Handover {
            options: CallOptions::default(),
            writer: None,
        }
    }
}

#[derive(Default)]
pub(super) struct CallOptions<'r> {
    pub(super) overrides: Overrides,
    pub(super) listener: Option<Arc<Listener<'r>>>,
    /// Boxed, since few calls have any of them.
    rare: Option<Box<RareOptions<'r>>>,
}

#[derive(Default)]
pub(super) struct RareOptions<'r> {
    pub(super) recorder: Option<&'r dyn RunRecorder>,
    pub(super) paused: Option<Paused>,
    pub(super) unfinished: Option<Unfinished>,
    pub(super) allow_changed_tool: bool,
    pub(super) turn: Option<Turn<'r>>,
    pub(super) sources: Option<Arc<Sources>>,
}

impl<'r> CallOptions<'r> {
    pub(super) fn recorder(&self) -> Option<&'r dyn RunRecorder> {
        self.rare.as_deref()?.recorder
    }

    pub(super) fn overrides(&mut self) -> &mut Settings {
        Arc::make_mut(self.overrides.get_or_insert_default())
    }

    pub(super) fn rare(&mut self) -> &mut RareOptions<'r> {
        self.rare.get_or_insert_default()
    }
}

pub(super) fn turn_of<'o, 'r>(options: &'o CallOptions<'r>) -> Option<&'o Turn<'r>> {
    options.rare.as_deref()?.turn.as_ref()
}

pub(super) fn sources_of<'o>(options: &'o CallOptions<'_>) -> Option<&'o Arc<Sources>> {
    options.rare.as_deref()?.sources.as_ref()
}

/// The conversation that a call continues, if it does.
pub(super) fn origin<'o>(options: &'o CallOptions<'_>) -> Option<Box<Origin<'o>>> {
    let options = options.rare.as_deref()?;
    let paused = options.paused.as_ref().map(Origin::paused);
    let unfinished = options.unfinished.as_ref().map(Origin::unfinished);
    let origin = paused.or(unfinished)?;
    // Boxed, since few calls have one.
    Some(Box::new(
        origin.allowing_changed_tool(options.allow_changed_tool),
    ))
}

/// Those of a map are shared by its calls.
pub(super) type Overrides = Option<Arc<Settings>>;

/// Writes an output. A function and no trait object: only who sets it needs an
/// output that serde can write.
pub(super) type Writer<T> = fn(&T) -> Result<String, serde_json::Error>;
