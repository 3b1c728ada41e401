//! A node without its types, and the judgement on one answer.

use std::sync::Arc;

use llmnode_model::{BoxFuture, Category, ChatModel, ToolSpec};
use llmnode_reader::ext::{Parsed, in_json_names};
use llmnode_reader::{Flag, OutputSchema, Reader, Repair, Violation};

use super::compaction::{Compact, Sources, Summary, Transcript};
use super::context::CallContext;
use super::failure::{Cause, Failure};
use super::fallback::FallbackFuture;
use super::response::Validated;
use super::shown::FieldValues;
use super::tools::{Invocation, ToolOutcome};
use crate::error::NodeError;
use crate::prompt::generated::Prompt;
use crate::settings::{NodeKind, Settings};
use crate::validate::{AttemptInfo, CheckOutcome, CheckRun};

/// A node that asks a model, without its types, so that most of a call is compiled once.
pub(super) trait ErasedNode<'n>: Send + Sync {
    fn settings(&self) -> &'n Settings;
    fn node_kind(&self) -> NodeKind;

    fn model(&self) -> Option<&'n dyn ChatModel>;

    /// Builds the schema to send, and the one to judge answers by, which has no
    /// values from the state.
    fn build_schema(&mut self) -> Result<Option<Arc<OutputSchema>>, NodeError>;

    fn schema(&self) -> Option<&OutputSchema>;

    fn render(&self, to: &mut Prompt);

    fn tools(&self) -> Result<(Arc<[ToolSpec]>, u32), NodeError>;

    /// How its conversation is kept short. `None`: it is sent as it is.
    fn compact_rules(&self) -> Option<Compact>;

    /// Whether it has a node that sums up.
    fn can_sum_up(&self) -> bool;

    /// Has a part of the conversation summed up. `None`: it has no node for it.
    fn sum_up<'a>(
        &'a self,
        part: Transcript,
        sources: Sources,
        context: &'a CallContext<'_>,
    ) -> Option<BoxFuture<'a, Result<Summary, NodeError>>>;

    fn read(&mut self, answer: &str, reader: Reader) -> Result<Parsed<()>, Vec<Violation>>;

    /// Runs the validators. `wrapped`: the model wrote `{"value": ..}`.
    fn check<'a>(&'a mut self, wrapped: bool, attempt: &'a AttemptInfo) -> CheckRun<'a>;

    /// Returns the values outside their list of `choices`. `Err`: the program panicked.
    fn not_chosen(&self, wrapped: bool) -> Result<Vec<Violation>, String>;

    /// The hashes of the node's own values and of its history. `None`: it does not
    /// say which these are.
    fn own_values(&self) -> Option<FieldValues>;

    fn execute<'a>(
        &'a self,
        tool: usize,
        invocation: &'a Invocation<'a>,
        context: &'a CallContext<'_>,
    ) -> Option<BoxFuture<'a, ToolOutcome>>;

    /// Where a call of the tool hands off to. `None`: it does not.
    fn hands_off(&self, tool: usize) -> Option<usize>;

    fn fall_back<'a>(&'a mut self, error: &'a NodeError) -> Option<FallbackFuture<'a>>;

    /// The text of the fallback value.
    fn fallback_text(&self) -> Option<String>;
}

/// Reads an answer and runs its validators. The node keeps the value of a good one.
///
/// 1. A text that cannot be read as the type ends it: a validator may rely on its
///    type.
/// 2. The validators run, and then the lists of choices are compared. Neither keeps
///    the other from running, so that the model hears of all its mistakes at once.
///    Choices come last since they are looked up in the value that was read; the
///    schema that was sent had them, but a server may not have enforced it.
/// 3. Paths are written with the names that the model has used, not with those of
///    Rust's fields.
/// 4. Warnings alone make no bad answer: they go into the record.
pub(super) async fn validate_answer(
    node: &mut dyn ErasedNode<'_>,
    answer: &str,
    reader: Reader,
    attempt: &AttemptInfo,
) -> Result<Validated, Failure> {
    let Parsed {
        repairs, wrapped, ..
    } = node
        .read(answer, reader)
        .map_err(|violations| Failure::rejected(Category::SchemaError, violations))?;
    let mut violations = match node.check(wrapped, attempt).await {
        CheckOutcome::Completed(violations) => violations,
        CheckOutcome::Aborted(error) => {
            let message = format!(
                "a validator ended the call: {error}; only an `Invalid` goes back to the model"
            );
            return Err(Failure {
                cause: Some(Box::new(Cause::Source(error))),
                ..Failure::new(Category::Aborted, message)
            });
        }
        CheckOutcome::Panicked(message) => return Err(Failure::new(Category::Panic, message)),
    };
    violations.extend(
        node.not_chosen(wrapped)
            .map_err(|message| Failure::new(Category::Panic, message))?,
    );
    if let Some(schema) = node.schema() {
        for violation in &mut violations {
            violation.path = in_json_names(std::mem::take(&mut violation.path), schema, wrapped);
        }
    }
    if violations.iter().all(|violation| violation.warning) {
        return Ok(Validated {
            flags: flags(&repairs),
            warnings: violations,
        });
    }
    Err(Failure::rejected(Category::ValidationError, violations))
}

fn flags(repairs: &[Repair]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::with_capacity(repairs.len());
    for repair in repairs {
        if !flags.contains(&repair.flag) {
            flags.push(repair.flag.clone());
        }
    }
    flags
}
