//! Where the attempts of a call begin: the model, the request as its settings make
//! it, and the conversation in the journal.

use std::sync::Arc;

use llmnode_model::ext::BudgetedRetries;
use llmnode_model::{ChatModel, Message, Request};

use super::{ConversationBounds, ModelAttempts, ReplayKeys};
use crate::error::NodeError;
use crate::ledger::{AttemptKind, JournalKey};
use crate::run::at_gate::GateKeeper;
use crate::run::attempt_loop::{CallPlan, PlannedAttempt};
use crate::run::compaction::Compacting;
use crate::run::core::Target;
use crate::run::erased_node::ErasedNode;
use crate::run::history::History;
use crate::run::repetition::Repetition;
use crate::run::tools::Search;

impl<'r, 'n> ModelAttempts<'r, 'n> {
    pub(in crate::run) fn new(
        plan: &'r CallPlan<'r>,
        held: Option<&'r dyn ChatModel>,
        request: Request,
        ConversationBounds { max_turns, opening }: ConversationBounds,
        node: &'r mut dyn ErasedNode<'n>,
    ) -> Self {
        let model = held.unwrap_or(&*plan.context.core.model);
        let target = plan.context.core.target(plan.settings.model(), model);
        let retries = BudgetedRetries::of(target.model);
        ModelAttempts {
            plan,
            model,
            node,
            request,
            search: None,
            opening,
            prompt_len: 0,
            stable_len: 0,
            target,
            retries,
            keeper: GateKeeper::default(),
            answers: Repetition::default(),
            history: History::new(max_turns),
            round: None,
            running: None,
            claim: None,
            conversation_id: None,
            parent_path: None,
            journal: None,
            open: None,
            sent: None,
        }
    }

    /// Makes the first request, and looks for its conversation. Apart from `new`:
    /// what may fail is moved once more, and this is large.
    ///
    /// 1. Policies and the model's own settings change the request, so that the
    ///    names of the journal are of what is sent.
    /// 2. Tools are hidden behind a search, where there are very many. That changes
    ///    the request, too, and needs the window.
    /// 3. The conversation is looked for in the journal, by the request as it is
    ///    now.
    /// 4. From here on, the messages are the prompt. A conversation that goes on is
    ///    appended to them (`resume`).
    pub(in crate::run) fn begin(&mut self) -> Result<(), NodeError> {
        let plan = self.plan;
        let context = &plan.context;
        self.plan_request(AttemptKind::First);
        if !self.request.tools.is_empty() {
            context.call.mark_agent();
        }
        self.target.apply_to(&mut self.request, &plan.settings)?;
        let prices = &context.core.limits.prices;
        let window = self
            .target
            .stated_window(&self.request, &plan.settings, prices);
        self.search = Search::begin(&mut self.request, self.target.model, window)?;
        self.history.compacting = self
            .node
            .compact_rules()
            .map(|rules| Compacting::new(rules, self.opening, self.node.can_sum_up()));
        if let Some(extensions) = context.extensions {
            self.history.sources = extensions.sources.cloned();
        }
        context.core.report_extra_for_all(&plan.settings);
        let journaled = journaled(plan, &self.request, &self.target);
        self.conversation_id = journaled.conversation_id;
        self.journal = journaled.keys;
        if let Some(origin) = context.origin
            && !self.request.tools.is_empty()
        {
            self.parent_path = origin.around().map(String::into_boxed_str);
        }
        let mut newest_first = self.request.messages.iter().rev();
        self.sent = newest_first.find_map(Message::sent).cloned();
        if context.batches().is_some() {
            // Its room for a correction would wait with it, for hours, in thousands of calls.
            self.request.messages.shrink_to_fit();
        }
        self.prompt_len = self.request.messages.len();
        self.stable_len = self.prompt_len;
        self.resume()
    }
}

impl ModelAttempts<'_, '_> {
    /// The record of an attempt that is about to be made.
    pub(super) fn begin_record(
        &mut self,
        one: &PlannedAttempt,
        journal_key: Option<Box<JournalKey>>,
    ) {
        let context = &self.plan.context;
        let wait = self.keeper.waited();
        let name = self.target.name.clone();
        let mut open = context.call.attempt(one.kind, wait, name);
        open.journal_key = journal_key;
        open.sent_before = self.sent.clone();
        open.wants_rate_limits =
            context.item.is_some() || self.target.gates(context.core).are_paced();
        if let Some(narrowed) = &self.history.narrowed {
            open.note(|record| record.narrowed = narrowed.places());
        }
        self.request.correlation = Some(open.id);
        self.open = Some(open);
    }
}

/// The conversation of a request, as the journal knows it.
#[derive(Default)]
struct Journaled {
    conversation_id: Option<Arc<str>>,
    keys: Option<Box<ReplayKeys>>,
}

fn journaled(plan: &CallPlan<'_>, request: &Request, target: &Target<'_>) -> Journaled {
    let context = &plan.context;
    let within = context.origin.and_then(|origin| origin.journal.as_deref());
    let found = context
        .call
        .recorder()
        .and_then(|recorder| recorder.conversation(request, target.names(request), within));
    let Some(found) = found else {
        return Journaled::default();
    };
    if let Some(item) = context.item {
        item.add_conversation(Arc::clone(&found.conversation));
    }
    Journaled {
        conversation_id: found.root,
        keys: Some(Box::new(ReplayKeys {
            conversation: found.conversation,
            turn: None,
        })),
    }
}
