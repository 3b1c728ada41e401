//! What a policy is asked, what it sees, and what it may decide.

use std::ops::ControlFlow;
use std::sync::Arc;

use llmnode_model::{Category, ChatModel, ProviderState, Request, Retry};
use llmnode_reader::{Flag, Violation};

use crate::ledger::{AttemptKind, AttemptRecord};
use crate::run::failure::Failure;
use crate::run::history::History;
use crate::run::response::{Ended, Judgement, Response};
use crate::run::tools::Round;
use crate::settings::Resolved;

/// What is done about one kind of response. A policy has no state: what it must
/// remember of a call is in its [`History`].
///
/// Most policies have one of these methods.
pub(in crate::run) trait Policy: Sync {
    /// A request is about to follow: the first of a call, an agent's next turn, or
    /// another try. The policy may change it.
    fn before(&self, plan: &mut RequestPlan<'_>) {
        let _ = plan;
    }

    /// A response came, and nobody has validated it. `None`: this policy is not concerned.
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        let _ = (response, attempt);
        None
    }

    /// The attempt was judged: the answer is good or bad, or there is none. `None`:
    /// this policy is not concerned.
    fn after(
        &self,
        response: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let _ = (response, judgement, attempt);
        None
    }

    /// What the error says besides, for a person. It is asked once it is known what
    /// follows the failure.
    fn explain(&self, failure: &Failure, attempt: &FailedAttempt<'_>) -> Option<String> {
        let _ = (failure, attempt);
        None
    }
}

/// What a policy decides. Only after [`Adapt`](Next::Adapt) are the policies below it asked.
pub(in crate::run) enum Next {
    /// Something is changed, and the policies below see it so.
    Adapt(Change),
    /// The model is told that its answer is wrong like this. It counts as a correction (`retries`).
    Correct(Vec<Violation>),
    /// It is taken as it is, and no policy below is asked. Of a response: its tools
    /// are called, a paused turn goes on, and an answer is validated.
    Accept,
    /// The model is asked again at once, by a request that [`Policy::before`] may
    /// change. It counts as no try, but a call has few of them: it is what a
    /// refusal that showed another way leads to ([`Retry::Adapted`]), too. Not to
    /// be mixed up with [`Adapt`](Next::Adapt), which changes the response and asks
    /// nobody.
    AskAgain,
    /// The attempt has failed like this.
    GiveUp(Failure),
}

/// A change of the response, or of what is known about it.
pub(in crate::run) enum Change {
    /// The text is this one. What the provider put beside it stays.
    Text(String),
    /// The text is this one, and beside it stands what the provider put beside all of its parts.
    Joined {
        text: String,
        carried: Option<Arc<ProviderState>>,
    },
    /// The response calls tools.
    Round(Box<Round>),
    /// So many bytes of white space follow a complete document. `flag`: goes into the record.
    Padding { bytes: usize, flag: Option<Flag> },
    /// The record gets a flag, and all else stays.
    Flag(Flag),
    /// The attempt has failed like this, whatever it was before.
    Failure(Failure),
    /// Of a bad answer: the model is told this first.
    Complaint(Violation),
    /// The journal gets the bad answer, since a later process has to repeat its correction.
    Journal,
}

/// What a policy sees of an attempt besides its response.
pub(in crate::run) struct AttemptView<'a> {
    pub(in crate::run) request: &'a Request,
    pub(in crate::run) model: &'a dyn ChatModel,
    pub(in crate::run) settings: &'a Resolved<'a>,
    /// How the request was sent: the form of the answer, what of it the model refused, flags.
    pub(in crate::run) record: Option<&'a AttemptRecord>,
    /// Empty once the answer was validated.
    pub(in crate::run) ended: Ended,
    /// Whether a text is an answer of the node's type. No validator runs.
    pub(in crate::run) is_answer: &'a mut (dyn FnMut(&str) -> bool + 'a),
    pub(in crate::run) history: &'a mut History,
    pub(in crate::run) notes: Notes,
}

/// What policies want to be written down.
#[derive(Default)]
pub(in crate::run) struct Notes {
    pub(in crate::run) flags: Vec<Flag>,
    /// A bad answer goes into the journal.
    pub(in crate::run) is_journaled: bool,
}

/// A request that is about to follow.
pub(in crate::run) struct RequestPlan<'a> {
    pub(in crate::run) request: &'a mut Request,
    /// Why it follows.
    pub(in crate::run) kind: AttemptKind,
    /// The failure before it, of the same turn.
    pub(in crate::run) failure: Option<&'a mut Failure>,
    /// The record of the attempt that failed.
    pub(in crate::run) record: Option<&'a AttemptRecord>,
    pub(in crate::run) history: &'a mut History,
}

impl RequestPlan<'_> {
    /// Whether the model is asked anew: what belongs to the answers before it is over.
    pub(in crate::run) fn begins_anew(&self) -> bool {
        matches!(self.kind, AttemptKind::Turn | AttemptKind::FallbackModel)
    }
}

/// An attempt that failed, once it is known what follows.
pub(in crate::run) struct FailedAttempt<'a> {
    pub(in crate::run) request: &'a Request,
    pub(in crate::run) record: Option<&'a AttemptRecord>,
    pub(in crate::run) history: &'a History,
    /// Why the attempt was made.
    pub(in crate::run) kind: AttemptKind,
    /// No further request follows.
    pub(in crate::run) is_last: bool,
}

impl Next {
    /// Carries out what was decided of a response. `Break`: what it is, or `None`
    /// for an answer that has to be validated.
    pub(super) fn on_response(
        self,
        response: &mut Response,
        attempt: &mut AttemptView<'_>,
    ) -> ControlFlow<Option<Judgement>> {
        let judgement = match self {
            Next::Adapt(change) => match change.apply(response, None, &mut attempt.notes) {
                None => return ControlFlow::Continue(()),
                Some(failure) => Judgement::Failed(failure),
            },
            Next::Correct(violations) => {
                let failure = Failure::rejected(Category::SchemaError, violations);
                Judgement::Rejected(failure)
            }
            Next::Accept if response.round.is_none() => return ControlFlow::Break(None),
            Next::Accept => Judgement::Turn,
            Next::AskAgain => Judgement::Failed(Failure {
                retry: Some(Retry::Adapted),
                ..Failure::new(Category::SchemaError, "the response was not used")
            }),
            Next::GiveUp(failure) => Judgement::Failed(failure),
        };
        ControlFlow::Break(Some(judgement))
    }

    /// Carries out what was decided of a judgement.
    pub(super) fn on_judgement(
        self,
        response: &mut Response,
        judgement: &mut Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> ControlFlow<()> {
        match self {
            Next::Adapt(change) => {
                let failed = change.apply(response, judgement.failure_mut(), &mut attempt.notes);
                if let Some(failed) = failed {
                    *judgement = Judgement::Failed(failed);
                }
                return ControlFlow::Continue(());
            }
            Next::Correct(violations) => {
                if let Some(failure) = judgement.failure_mut() {
                    failure.retry = Some(Retry::Feedback);
                    failure.violations = violations;
                }
            }
            Next::Accept => {}
            Next::AskAgain => {
                if let Some(failure) = judgement.failure_mut() {
                    failure.retry = Some(Retry::Adapted);
                }
            }
            Next::GiveUp(failure) => *judgement = Judgement::Failed(failure),
        }
        ControlFlow::Break(())
    }
}

impl Change {
    /// Returns a failure that takes the place of what was before.
    fn apply(
        self,
        response: &mut Response,
        failure: Option<&mut Failure>,
        notes: &mut Notes,
    ) -> Option<Failure> {
        match self {
            Change::Text(text) => response.text = text,
            Change::Joined { text, carried } => {
                response.text = text;
                response.carried = carried;
            }
            Change::Round(round) => response.round = Some(round),
            Change::Padding { bytes, flag } => {
                response.padding = bytes;
                notes.flags.extend(flag);
            }
            Change::Flag(flag) => notes.flags.push(flag),
            Change::Failure(failure) => return Some(failure),
            Change::Complaint(violation) => {
                if let Some(failure) = failure {
                    let others = std::mem::take(&mut failure.violations);
                    let violations = std::iter::once(violation).chain(others).collect();
                    *failure = Failure::rejected(failure.category, violations);
                }
            }
            Change::Journal => notes.is_journaled = true,
        }
        None
    }
}
