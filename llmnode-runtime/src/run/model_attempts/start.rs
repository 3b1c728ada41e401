//! Where the attempts of a call begin: the model, the request as its settings make it, and the conversation in the journal.

use llmnode_model::internal::BudgetedRetries;
use llmnode_model::{ChatModel, Message, Request};

use super::{Asking, ModelAttempts, ReplayKeys};
use crate::error::NodeError;
use crate::ledger::AttemptKind;
use crate::run::at_gate::GateKeeper;
use crate::run::attempt_loop::CallPlan;
use crate::run::compaction::Compacting;
use crate::run::core::Target;
use crate::run::erased_node::ErasedNode;
use crate::run::history::History;
use crate::run::policies::{self, RequestPlan};
use crate::run::repetition::Repetition;
use crate::run::resume::Origin;
use crate::run::tools::Search;

impl<'r, 'n> ModelAttempts<'r, 'n> {
    pub(in crate::run) fn new(
        plan: &'r CallPlan<'r>,
        held: Option<&'r dyn ChatModel>,
        mut request: Request,
        Asking { turns, opening }: Asking,
        node: &'r mut dyn ErasedNode<'n>,
    ) -> Result<Self, NodeError> {
        let mut history = History::new(turns);
        policies::before(RequestPlan {
            request: &mut request,
            kind: AttemptKind::First,
            failure: None,
            record: None,
            history: &mut history,
        });
        if !request.tools.is_empty() {
            plan.context.call.mark_agent();
        }
        let model = held.unwrap_or(&*plan.context.core.model);
        let target = plan.context.core.target(plan.settings.model(), model);
        target.apply_to(&mut request, &plan.settings)?;
        let prices = &plan.context.core.limits.prices;
        let window = target.said_window(&request, &plan.settings, prices);
        let search = Search::begin(&mut request, target.model, window)?;
        history.compacting = node
            .compact_rules()
            .map(|rules| Compacting::new(rules, opening));
        plan.context.core.report_extra_for_all(&plan.settings);
        let journaled = journaled(plan, &request, &target);
        let origin = plan.context.origin.filter(|_| !request.tools.is_empty());
        let parent_path = origin.and_then(Origin::around).map(String::into_boxed_str);
        let sent = request.messages.iter().rev().find_map(Message::sent);
        let sent = sent.cloned();
        let prompt_len = request.messages.len();
        let retries = BudgetedRetries::of(target.model);
        Ok(ModelAttempts {
            plan,
            model,
            node,
            request,
            search,
            opening,
            prompt_len,
            stable_len: prompt_len,
            target,
            retries,
            keeper: GateKeeper::default(),
            answers: Repetition::default(),
            history,
            round: None,
            running: None,
            claim: None,
            conversation_id: journaled.conversation_id,
            parent_path,
            journal: journaled.keys,
            open: None,
            sent,
        })
    }
}

/// The conversation of a request, as the journal knows it.
#[derive(Default)]
struct Journaled {
    conversation_id: Option<Box<str>>,
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
        item.add_conversation(&found.conversation);
    }
    Journaled {
        conversation_id: found.root.map(String::into_boxed_str),
        keys: Some(Box::new(ReplayKeys {
            conversation: found.conversation,
            turn: None,
        })),
    }
}
