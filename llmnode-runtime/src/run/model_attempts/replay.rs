//! Answers and results that an earlier process wrote into the journal.
//!
//! An answer is found by its conversation and by the fingerprint of its turn's
//! first request; corrections of the turn share that name, and are taken in the
//! order in which they were written. So a prompt that has changed since finds
//! nothing, and is asked anew; in a map that would mean all of it, which is why its
//! first calls are compared together (`missed`).
//!
//! What is found is judged again, by the validators of now: the state may have
//! changed. In this order:
//!
//! 1. The model that answered then continues, a fallback model too, and finds the
//!    tools that it had found.
//! 2. Calls of tools become a round. Those whose results are in the journal do not
//!    run again.
//! 3. A text is validated. If it was accepted once and is not now, the next answer
//!    in the journal is looked at, or the model is asked. If it was refused then,
//!    it is refused again, which leads to the same correction.

use std::sync::Arc;

use llmnode_model::{Category, Group, Message, ProviderState, ToolCall};
use llmnode_reader::ask::repeated_form;

use super::{ModelAttempts, Replay};
use crate::ledger::{JournalKey, JournaledAnswer, Recorder, RunEvent, ToolRecord, Usage};
use crate::pause::{CallState, OpenCall};
use crate::run::attempt_loop::Attempts;
use crate::run::compaction::used_tokens;
use crate::run::erased_node::validate_answer;
use crate::run::failure::Failure;
use crate::run::map_item::MapItem;
use crate::run::not_asked::NotAsked;
use crate::run::policies::is_copied_form;
use crate::run::tools::{Round, found_for_question};
use crate::validate::AttemptInfo;

impl ModelAttempts<'_, '_> {
    /// Takes the answer that an earlier process got to this request, if it is still valid.
    pub(super) async fn replayed(&mut self, attempt: &AttemptInfo) -> Result<Replay, Failure> {
        let Some(journal) = &mut self.journal else {
            return Ok(Replay::Ask(None));
        };
        let Some(recorder) = self.plan.context.call.recorder() else {
            return Ok(Replay::Ask(None));
        };
        let request = &self.request;
        let target = &self.target;
        let name = journal
            .turn
            .get_or_insert_with(|| recorder.name(request, target.names(request)).into());
        let name = Arc::clone(name);
        let conversation = Arc::clone(&journal.conversation);
        loop {
            let Some((answer, usage)) = recorder.answer(&conversation, &name) else {
                return Ok(Replay::Ask(Some(Box::new(JournalKey {
                    conversation,
                    request: name,
                    model: self.other_model(),
                    found: found_for_question(&self.request),
                    of_chat: self.plan.context.turn().is_some(),
                }))));
            };
            if let Some(item) = self.plan.context.item {
                item.control.changes().settle();
            }
            if self.take_answer(answer, usage, attempt).await? {
                return Ok(Replay::Answered);
            }
            // Its replacement is next in the journal, or is asked for.
        }
    }

    /// `false`: the answer was accepted once, but is not now.
    async fn take_answer(
        &mut self,
        answer: JournaledAnswer,
        usage: Option<Box<Usage>>,
        attempt: &AttemptInfo,
    ) -> Result<bool, Failure> {
        let JournaledAnswer {
            text,
            calls,
            carried,
            is_round,
            accepted,
            model,
            found,
        } = answer;
        // The same model continues, as it did then.
        if let Some(model) = model.filter(|model| self.target.name.as_ref() != Some(model)) {
            self.change_model(&model)
                .map_err(Failure::from_exec_error)?;
        }
        if let Some(search) = &self.search {
            search.restore(&mut self.request, found);
        }
        if is_round {
            if let Some(compacting) = &mut self.history.compacting {
                compacting.count(usage.as_deref().and_then(used_tokens));
            }
            self.take_replayed(usage, &text, &calls);
            let open = calls.into_iter().map(|call| OpenCall {
                state: CallState::Approval(None),
                call,
            });
            self.resume_round(&text, carried, open.collect());
            return Ok(true);
        }
        let reader = self.plan.settings.reader();
        let judgement = match !accepted && self.is_copied_form(&text) {
            // It was refused for that alone.
            true => {
                let violations = vec![repeated_form()];
                Err(Failure::rejected(Category::SchemaError, violations))
            }
            false => validate_answer(&mut *self.node, &text, reader, attempt).await,
        };
        match judgement {
            Ok(_) => {
                self.take_replayed(usage, &text, &[]);
                self.plan.context.call.set_carried(carried);
                if let Some(listener) = self.plan.context.listener() {
                    listener.emit_unstreamed(&text);
                }
                Ok(true)
            }
            Err(failure) if accepted && failure.category.group() == Group::Answer => Ok(false),
            Err(failure) => {
                self.take_replayed(usage, &text, &[]);
                Err(Failure {
                    sent: false,
                    answer: Some(text),
                    carried,
                    ..failure
                })
            }
        }
    }

    fn is_copied_form(&self, text: &str) -> bool {
        let schema = self.request.output.as_deref();
        schema.is_some_and(|schema| is_copied_form(schema, text))
    }

    fn take_replayed(&self, usage: Option<Box<Usage>>, text: &str, calls: &[ToolCall]) {
        let call = self.plan.context.call;
        call.replayed(usage);
        let messages = &self.request.messages;
        call.emit(&RunEvent::Replayed {
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
        for open in &mut calls {
            if open.state.result().is_none()
                && let Some(result) = self.journaled_result(&open.call)
            {
                open.state = CallState::ended(result);
            }
        }
        let records = calls.iter().map(tool_record);
        self.plan.context.call.add_replayed_tools(records);
        self.round = Some(Round::open(content, carried, &calls));
    }

    fn journaled_result(&self, call: &ToolCall) -> Option<Message> {
        let journal = self.journal.as_ref()?;
        let recorder = self.plan.context.call.recorder()?;
        recorder.result(&journal.conversation, call)
    }

    /// The journal has no answer to an item's request. Where it has others, the
    /// map's first calls are compared with it together. `None`: the item is asked.
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

fn tool_record(open: &OpenCall) -> ToolRecord {
    let mut record = ToolRecord::called(&open.call.id, &open.call.name);
    if open.state.result().is_some() {
        record.outcome = "replayed".into();
    }
    record
}
