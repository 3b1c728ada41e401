//! The turns of an agent: a round of tools is executed, and the model is asked with their results.

use llmnode_model::Message;

use super::ModelAttempts;
use crate::run::failure::Failure;
use crate::run::narrowed::Narrowed;
use crate::run::repetition::Repetition;
use crate::run::tools::{ConversationId, Executor, Round, RunningRound};

const ANSWER_NOW: &str = "No more tools can be called. Answer now, with what you have.";

impl ModelAttempts<'_, '_> {
    /// The id of the conversation.
    pub(super) fn root(&self) -> String {
        let within = self
            .plan
            .context
            .origin
            .and_then(|origin| origin.tool.as_ref());
        match (within, &self.root) {
            (Some((root, _)), _) => (*root).to_owned(),
            (None, Some(root)) => root.to_string(),
            (None, None) => self.plan.context.call.id.to_string(),
        }
    }

    pub(super) async fn execute(&mut self, round: Box<Round>) -> Result<(), Failure> {
        let root = self.root();
        if self.plan.context.turn().is_some() {
            Box::pin(self.keep_turn(Some(&round)))
                .await
                .map_err(Failure::from_exec_error)?;
        }
        let (node, journal) = (
            &*self.node,
            self.journal.as_ref().map(|journal| &*journal.conversation),
        );
        let around = self.around.as_deref().unwrap_or_default();
        let around = ConversationId {
            conversation: (&root, around),
            depth: self.plan.context.call.depth,
            journal,
            claim: self.claim.as_deref(),
        };
        let with = Executor {
            node,
            context: &self.plan.context,
            around,
        };
        let running = self.running.insert(RunningRound::new(round));
        with.execute(running, &self.request).await?;
        let Some(RunningRound { round, states, .. }) = self.running.take().map(|running| *running)
        else {
            return Ok(());
        };
        match round.to_messages(states.into_iter().flatten().collect()) {
            Ok(messages) => {
                self.next_turn(messages, round.has_only_unknown_tools(&self.request));
                if self.plan.context.turn().is_some() {
                    Box::pin(self.keep_turn(None))
                        .await
                        .map_err(Failure::from_exec_error)?;
                }
            }
            Err(open) => return Err(Failure::paused(self.paused(root, *round, open))),
        }
        Ok(())
    }

    pub(super) fn next_turn(&mut self, round: Vec<Message>, all_unknown: bool) {
        self.unknown = if all_unknown {
            self.unknown.saturating_add(1)
        } else {
            0
        };
        self.turns.1 = self.turns.1.saturating_add(1);
        if let Some(journal) = &mut self.journal {
            journal.turn = None;
        }
        self.request.messages.extend(round);
        if self.is_last_turn() {
            self.request.answer_now = true;
            // A turn that the provider paused must be returned unchanged.
            if self
                .request
                .messages
                .last()
                .is_some_and(|message| message.answers().is_some())
            {
                self.request.messages.push(Message::user(ANSWER_NOW));
            }
        }
        // Messages before a round never change: feedback and other models leave them as they are.
        self.prompt = self.request.messages.len();
        self.answers = Repetition::default();
        self.bounds.end();
        Narrowed::end(&mut self.narrowed, &mut self.request);
    }
}
