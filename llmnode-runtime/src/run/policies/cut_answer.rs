//! For answers that stopped at a length limit: calls that were cut are never
//! executed, and a text that was cut is no bad answer of the model's. A limit that
//! nobody set is raised once, since an API that must be sent a number (Anthropic's)
//! was sent a guess.

use llmnode_model::ext::{AnswerLimit, LimitSetter};
use llmnode_model::{Category, Group, Request, Retry, TokenUsage};

use super::policy::{AttemptView, Change, Next, Policy, RequestPlan};
use crate::ledger::AttemptKind;
use crate::run::failure::Failure;
use crate::run::repetition::end;
use crate::run::response::{Judgement, Response};

pub(super) struct CutAnswer;

impl Policy for CutAnswer {
    fn before(&self, plan: &mut RequestPlan<'_>) {
        if plan.kind == AttemptKind::Adapted
            && let Some(failure) = &plan.failure
            && failure.raises_limit
        {
            plan.request.raised = true;
        }
    }

    /// With padding, the arguments of all calls are complete.
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        let is_cut = response.was_stopped && response.padding == 0;
        if response.round.is_some() && is_cut {
            return Some(Next::GiveUp(truncated(attempt, response.limit)));
        }
        None
    }

    fn after(
        &self,
        response: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        if !response.is_cut() {
            return None;
        }
        let counts_as_cut = match judgement {
            // A document that is complete is not; a text is shorter than it would be.
            Judgement::Valid(_) => {
                let may_be_longer = response.limit.is_some_and(|limit| limit.rises);
                attempt.request.output.is_none() && may_be_longer
            }
            Judgement::Rejected(failure) => failure.category.group() == Group::Answer,
            Judgement::Turn | Judgement::Failed(_) => false,
        };
        if !counts_as_cut {
            return None;
        }
        let failure = cut_failure(response, attempt);
        Some(Next::Adapt(Change::Failure(failure)))
    }
}

/// Shows where the answer was, since a loop without an end is not mended by a higher limit.
pub(super) fn cut_failure(response: &Response, attempt: &AttemptView<'_>) -> Failure {
    let failure = truncated(attempt, response.limit);
    let message = format!("{}; {}", failure.message, end(&response.text));
    Failure { message, ..failure }
}

/// Says whose limit it was. A default that can rise does, once a call, and counts
/// as a refusal that the handle learns from.
pub(super) fn truncated(attempt: &AttemptView<'_>, limit: Option<AnswerLimit>) -> Failure {
    let whose = whose_limit(attempt.request, limit);
    let mut message = format!("the answer stopped at the length limit ({whose})");
    if let Some(thoughts) = usage(attempt).and_then(most_of_it_thoughts) {
        message += &thoughts;
    }
    let failure = Failure::new(Category::TruncatedOutput, message);
    if limit.is_some_and(|limit| limit.rises) && !attempt.request.raised {
        return Failure {
            retry: Some(Retry::Adapted),
            raises_limit: true,
            ..failure
        };
    }
    failure
}

fn whose_limit(request: &Request, limit: Option<AnswerLimit>) -> String {
    let of_program = request
        .max_tokens
        .map(|tokens| (tokens, LimitSetter::Program));
    let of_answer = limit.map(|limit| (limit.tokens, limit.by));
    match of_answer.or(of_program) {
        Some((tokens, LimitSetter::Program)) => {
            format!("max_tokens = {tokens}; raise it or ask for a shorter answer")
        }
        Some((tokens, LimitSetter::Default)) => {
            format!("the default of {tokens} tokens; set max_tokens, or ask for a shorter answer")
        }
        Some((tokens, LimitSetter::Model)) => {
            format!("the model's own, {tokens} tokens; ask for a shorter answer")
        }
        None => "the model's own; set max_tokens or ask for a shorter answer".to_owned(),
    }
}

/// What the provider reported, before and after the answer was validated.
fn usage(attempt: &AttemptView<'_>) -> Option<TokenUsage> {
    attempt.ended.usage.or_else(|| attempt.record?.usage)
}

/// Many models think unless they are told not to. Thoughts then use up a limit that fits the answer alone.
fn most_of_it_thoughts(usage: TokenUsage) -> Option<String> {
    let thoughts = usage.reasoning?;
    let all = usage.output?;
    (thoughts > all / 2).then(|| {
        format!("; thoughts took {thoughts} of the {all} tokens: set reasoning = \"off\", or allow for them")
    })
}
