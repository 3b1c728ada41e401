//! An attempt without a call around it, for the tests of policies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use llmnode_model::ext::{AnswerLimit, LimitSetter};
use llmnode_model::internal::Ids;
use llmnode_model::{
    BoxFuture, Category, ChatModel, Completion, FinishReason, Message, ModelError, Request, Retry,
    Role, Sink, ToolCall, ToolSpec,
};
use llmnode_reader::{Flag, OutputSchema, Violation};
use serde_json::json;

use crate::ledger::{AttemptKind, AttemptRecord};
use crate::output::AnswerKind;
use crate::run::failure::Failure;
use crate::run::history::History;
use crate::run::policies;
use crate::run::policies::policy::{AttemptView, FailedAttempt, Notes, Policy, RequestPlan};
use crate::run::response::{Ended, Judgement, Response, Validated};
use crate::run::tools::Round;
use crate::settings::{EMPTY_SETTINGS, NodeKind, Resolved};

/// A model that is never asked, and remembers what it was told.
#[derive(Default)]
pub(super) struct Handle {
    is_unenforced: AtomicBool,
}

impl ChatModel for Handle {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async { Err(ModelError::new(Category::Network, "nobody asks")) })
    }

    fn unenforced(&self, _: &Request) {
        self.is_unenforced.store(true, Ordering::Relaxed);
    }
}

/// An attempt: what was asked, what came, and what the call has come to.
pub(super) struct Attempt {
    pub(super) request: Request,
    pub(super) response: Response,
    pub(super) ended: Ended,
    pub(super) record: AttemptRecord,
    pub(super) history: History,
    /// The text is an answer of the node's type.
    pub(super) is_answer: bool,
    pub(super) flags: Vec<Flag>,
    pub(super) is_journaled: bool,
    /// What the model is told after the last judgement.
    pub(super) complaints: Vec<String>,
    handle: Handle,
}

/// What a judgement comes to, in a word that a row can state.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// The answer goes to the validators.
    Validate,
    /// Tools are called.
    Turn,
    Valid,
    /// A bad answer, or none: its category, and what follows if not the category's default.
    Failed(Category, Option<Retry>),
}

impl Attempt {
    /// A text that is complete, from a node of 10 turns that asks for text and has no tools.
    pub(super) fn text(text: &str) -> Self {
        let id = Ids::default().next().attempt(0);
        let mut request = Request::new(vec![Message::new(Role::User, "How many?")]);
        request.question = Some(0);
        Attempt {
            request,
            response: Response {
                text: text.to_owned(),
                ..Response::default()
            },
            ended: Ended::default(),
            record: AttemptRecord::new(id, AttemptKind::First, (None, Duration::ZERO), None),
            history: History::new(10),
            is_answer: false,
            flags: Vec::new(),
            is_journaled: false,
            complaints: Vec::new(),
            handle: Handle::default(),
        }
    }

    /// Calls of the tool `count`.
    pub(super) fn calls(arguments: &str) -> Self {
        let mut attempt = Attempt::text("").with_tools();
        let call = ToolCall::new("1", "count", arguments);
        attempt.response.round = Some(Round::new(vec![call], &[]));
        attempt
    }

    /// The node asks for `{"n": <whole number>}`.
    pub(super) fn typed(mut self) -> Self {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
                            "additionalProperties": false});
        self.request.output = Some(Arc::new(OutputSchema::from_value("answer", schema)));
        self
    }

    /// The node has the tool `count`.
    pub(super) fn with_tools(mut self) -> Self {
        let schema = Arc::new(OutputSchema::from_value("count", json!({"type": "object"})));
        self.request.tools = Arc::new([ToolSpec::new("count", "Counts.", schema)]);
        self
    }

    /// The response stopped at a limit. `rises`: nobody set it, so that it can be raised.
    pub(super) fn cut(mut self, rises: bool) -> Self {
        self.ended.finish = Some(FinishReason::Length);
        self.response.was_stopped = true;
        self.response.limit = Some(AnswerLimit {
            tokens: 100,
            by: LimitSetter::Default,
            rises,
        });
        self
    }

    pub(super) fn flagged(mut self, flag: Flag) -> Self {
        self.record.flags.push(flag);
        self
    }

    /// A tool has run before.
    pub(super) fn after_a_tool(mut self) -> Self {
        self.history.take_turn();
        self
    }

    /// Asks the list about the response.
    pub(super) fn received(&mut self) -> Verdict {
        let mut response = std::mem::take(&mut self.response);
        let judgement = self.view(|view| policies::received(&mut response, view));
        self.response = response;
        judgement.map_or(Verdict::Validate, |judgement| outcome(&judgement))
    }

    /// Asks another list about the response.
    pub(super) fn received_by(&mut self, list: &[&dyn Policy]) -> Verdict {
        let mut response = std::mem::take(&mut self.response);
        let judgement = self.view(|view| policies::received_by(list, &mut response, view));
        self.response = response;
        judgement.map_or(Verdict::Validate, |judgement| outcome(&judgement))
    }

    /// Asks the list about a judgement.
    pub(super) fn after(&mut self, mut judgement: Judgement) -> Verdict {
        let mut response = std::mem::take(&mut self.response);
        self.view(|view| policies::after(&mut response, &mut judgement, view));
        self.response = response;
        self.complaints = judgement.failure().map_or_else(Vec::new, |failure| {
            let violations = failure.violations.iter();
            violations.map(ToString::to_string).collect()
        });
        outcome(&judgement)
    }

    /// Lets the list change the request that follows a failure.
    pub(super) fn before(&mut self, kind: AttemptKind, failure: Option<&mut Failure>) {
        policies::before(RequestPlan {
            request: &mut self.request,
            kind,
            failure,
            record: Some(&self.record),
            history: &mut self.history,
        });
    }

    /// Of the last failure of a call.
    pub(super) fn explained(&self, failure: &mut Failure) -> String {
        let attempt = FailedAttempt {
            request: &self.request,
            record: Some(&self.record),
            history: &self.history,
            kind: AttemptKind::First,
            is_last: true,
        };
        policies::explain(failure, &attempt);
        failure.message.clone()
    }

    /// The handle has learned that its server does not enforce schemas.
    pub(super) fn is_unenforced(&self) -> bool {
        self.handle.is_unenforced.load(Ordering::Relaxed)
    }

    fn view<T>(&mut self, ask: impl FnOnce(&mut AttemptView<'_>) -> T) -> T {
        let node_kind = NodeKind {
            fallback: false,
            idempotent: true,
            answers: Some(AnswerKind::RawText),
        };
        let settings = Resolved::new([EMPTY_SETTINGS; 4], node_kind).unwrap();
        let is_answer = self.is_answer;
        let mut reads = |_: &str| is_answer;
        let mut view = AttemptView {
            request: &self.request,
            model: &self.handle,
            settings: &settings,
            record: Some(&self.record),
            ended: std::mem::take(&mut self.ended),
            is_answer: &mut reads,
            history: &mut self.history,
            notes: Notes::default(),
        };
        let asked = ask(&mut view);
        let notes = view.notes;
        self.flags.extend(notes.flags);
        self.is_journaled |= notes.is_journaled;
        asked
    }
}

pub(super) fn valid() -> Judgement {
    Judgement::Valid(Validated {
        flags: Vec::new(),
        warnings: Vec::new(),
    })
}

/// The answer is not of the type.
pub(super) fn rejected() -> Judgement {
    Judgement::Rejected(failure(Category::SchemaError, None))
}

pub(super) fn failed(category: Category, retry: Option<Retry>) -> Judgement {
    Judgement::Failed(failure(category, retry))
}

pub(super) fn failure(category: Category, retry: Option<Retry>) -> Failure {
    Failure {
        retry,
        ..Failure::rejected(category, vec![Violation::new("n", "is missing")])
    }
}

fn outcome(judgement: &Judgement) -> Verdict {
    match judgement {
        Judgement::Turn => Verdict::Turn,
        Judgement::Valid(_) => Verdict::Valid,
        Judgement::Rejected(failure) | Judgement::Failed(failure) => {
            Verdict::Failed(failure.category, failure.retry)
        }
    }
}
