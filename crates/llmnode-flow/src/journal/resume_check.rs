//! Whether a run may resume from its journal.

use llmnode_runtime::{Category, NodeError};

use super::changes::changed_steps;
use super::history::History;
use crate::flow::{Outline, Position, ReplayedOutput};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResumeCheck {
    pub(super) resumes: bool,
    pub(super) rerun: bool,
    pub(super) allow_changes: bool,
}

impl ResumeCheck {
    pub(super) fn check(
        self,
        history: &History,
        outline: &Outline,
        from: &Position,
        happened: bool,
    ) -> Result<(), NodeError> {
        if !self.resumes {
            return Err(has_a_run(history));
        }
        // A program that started the run at `from` sets it again when it resumes.
        if !from.is_start() && history.started_at() != Some(from) {
            return Err(config_error(format!(
                "the flow starts at `{from}`, but the journal has a run that stands at `{}`; leave \
                 out `from` to continue it, or use another journal to start at `{from}`",
                history.position()
            )));
        }
        self.check_changes(history, outline)?;
        match history.in_doubt() {
            Some(call) if !self.rerun && !happened => Err(config_error(format!(
                "the node `{}` was called in {}, which was not completed; it has `idempotent = \
                 false`, so it is not executed again. Check whether it took effect: if it did, \
                 continue with its output, `.resume(..).happened::<Node>(output)`; if not, execute \
                 it again, `.resume(..).rerun()`",
                call.node,
                step_at(&call.at)
            ))),
            _ => Ok(()),
        }
    }

    pub(super) fn check_happened(
        self,
        history: &History,
        happened: Option<&ReplayedOutput>,
    ) -> Result<(), NodeError> {
        let Some(happened) = happened else {
            return Ok(());
        };
        let name = happened.name();
        if self.rerun {
            return Err(config_error(format!(
                "`happened` gives the output of the node `{name}`, but `rerun` executes it again; \
                 leave out one of them"
            )));
        }
        if history.in_doubt().is_some() {
            return Ok(());
        }
        Err(config_error(format!(
            "`happened` gives the output of the node `{name}`, but the journal has no call of a \
             node with `idempotent = false` in a step that was not completed; leave it out"
        )))
    }

    fn check_changes(self, history: &History, outline: &Outline) -> Result<(), NodeError> {
        let changed = match history.outline() {
            Some(was) if !self.allow_changes => changed_steps(was, outline),
            _ => return Ok(()),
        };
        if changed.is_empty() {
            return Ok(());
        }
        Err(config_error(format!(
            "the flow `{}` has changed since the journal's run of it started ({}); finish the run \
             with the program that started it, start again with another journal, or continue \
             anyway with `.resume(..).allow_changes()`",
            history.flow(),
            changed.join(", ")
        )))
    }
}

fn has_a_run(history: &History) -> NodeError {
    let stands = if history.has_ended() {
        "has ended".to_owned()
    } else {
        format!("stands at `{}`", history.position())
    };
    config_error(format!(
        "the journal has a run of the flow `{}` already, which {stands} after {} steps; use \
         `resume` to continue it, or another journal for another run",
        history.flow(),
        history.steps()
    ))
}

pub(super) fn config_error(message: String) -> NodeError {
    NodeError::new(Category::ConfigError, message)
}

pub(super) fn step_at(at: &Position) -> String {
    if at.is_start() {
        "the first step".to_owned()
    } else {
        format!("the step at `{at}`")
    }
}
