//! Answers and results that an earlier process wrote into the journal.

use std::sync::Arc;

use llmnode_model::{Category, Group, ProviderState, ToolCall};
use llmnode_reader::OutputSchema;
use llmnode_reader::internal::repeated_form;

use super::ModelAttempts;
use crate::ledger::{JournalKey, JournaledAnswer, Recorder, RunEvent, ToolRecord, Usage};
use crate::pause::{CallState, OpenCall};
use crate::run::attempt_loop::Attempts;
use crate::run::erased_node::validate_answer;
use crate::run::failure::Failure;
use crate::run::map_item::MapItem;
use crate::run::not_asked::NotAsked;
use crate::run::policies::is_copied_form;
use crate::run::tools::Round;
use crate::validate::AttemptInfo;

impl ModelAttempts<'_, '_> {
    /// Takes the answer that an earlier process got to this request, if it is still valid. Otherwise returns the key
    /// for the new answer; an inner `None`: it is not journaled.
    pub(super) async fn replayed(
        &mut self,
        attempt: &AttemptInfo,
    ) -> Result<Option<Option<Box<JournalKey>>>, Failure> {
        let (Some(journal), Some(recorder)) =
            (&mut self.journal, self.plan.context.call.recorder())
        else {
            return Ok(Some(None));
        };
        let (request, target) = (&self.request, &self.target);
        let name = journal
            .turn
            .get_or_insert_with(|| recorder.name(request, target.names(request)))
            .clone();
        let conversation = journal.conversation.clone();
        loop {
            let Some((answer, usage)) = recorder.answer(&conversation, &name) else {
                let model = self.other_model();
                return Ok(Some(Some(Box::new(JournalKey {
                    conversation,
                    request: name,
                    model,
                }))));
            };
            if let Some(item) = self.plan.context.item {
                item.control.changes().settle();
            }
            let JournaledAnswer {
                text,
                calls,
                carried,
                is_round,
                accepted,
                model,
            } = answer;
            // The same model continues, as it did then.
            if let Some(model) = model.filter(|model| self.target.name.as_ref() != Some(model)) {
                self.change_model(&model)
                    .map_err(Failure::from_exec_error)?;
            }
            if is_round {
                self.take_replayed(usage, &text, &calls);
                let open = calls.into_iter().map(|call| OpenCall {
                    state: CallState::Approval(None),
                    call,
                });
                self.resume_round(&text, carried, open.collect());
                return Ok(None);
            }
            // A copied form was refused for that alone.
            let copied = |schema: &OutputSchema| !accepted && is_copied_form(schema, &text);
            let judgement = if self.request.output.as_deref().is_some_and(copied) {
                Err(Failure::rejected(
                    Category::SchemaError,
                    vec![repeated_form()],
                ))
            } else {
                validate_answer(&mut *self.node, &text, self.plan.settings.reader(), attempt).await
            };
            match judgement {
                Ok(_) => {
                    self.take_replayed(usage, &text, &[]);
                    self.plan.context.call.set_carried(carried);
                    if let Some(listener) = self.plan.context.listener() {
                        listener.emit_unstreamed(&text);
                    }
                    return Ok(None);
                }
                // Accepted once, but not now. Its replacement is next in the journal, or is asked for.
                Err(failure) if accepted && failure.category.group() == Group::Answer => {}
                Err(failure) => {
                    self.take_replayed(usage, &text, &[]);
                    return Err(Failure {
                        sent: false,
                        answer: Some(text),
                        carried,
                        ..failure
                    });
                }
            }
        }
    }

    pub(super) fn take_replayed(&self, usage: Option<Box<Usage>>, text: &str, calls: &[ToolCall]) {
        let call = self.plan.context.call;
        call.replayed(usage);
        let messages = &self.request.messages;
        call.record_event(&RunEvent::Replayed {
            call: call.id,
            messages,
            text,
            calls,
        });
    }

    pub(super) fn resume_round(
        &mut self,
        content: &str,
        carried: Option<Arc<ProviderState>>,
        mut calls: Vec<OpenCall>,
    ) {
        if let (Some(journal), Some(recorder)) = (&self.journal, self.plan.context.call.recorder())
        {
            for OpenCall { call, state } in calls
                .iter_mut()
                .filter(|open| open.state.result().is_none())
            {
                if let Some(result) = recorder.result(&journal.conversation, call) {
                    *state = CallState::ended(result);
                }
            }
        }
        let record = |OpenCall { call, state }: &OpenCall| {
            let mut record = ToolRecord::called(&call.id, &call.name);
            if state.result().is_some() {
                record.outcome = "replayed".into();
            }
            record
        };
        self.plan
            .context
            .call
            .add_replayed_tools(calls.iter().map(record));
        self.round = Some(Round::open(content, carried, &calls));
    }

    /// The journal has no answer to an item's request. Where it has others, the map's first calls are compared with it together.
    /// `None`: the item is asked.
    pub(super) async fn missed(
        &self,
        item: &MapItem<'_>,
        recorder: &dyn Recorder,
    ) -> Option<NotAsked> {
        if recorder.unmatched().is_some() {
            item.is_answered();
        }
        item.control.changes().missed(recorder).await
    }
}
