//! What came of a call, in the words of the printed lines.

use std::error::Error;

use llmnode::prelude::*;
use llmnode::{AttemptKind, AttemptRecord, CallRecord, Category, Tokens};
use serde_json::{Value, json};

/// What came of a call.
pub(crate) struct Outcome {
    pub(crate) category: Option<Category>,
    record: Option<CallRecord>,
    /// Everything it says of itself.
    pub(crate) texts: Vec<String>,
}

impl Outcome {
    pub(crate) fn of(record: &CallRecord, error: Option<&NodeError>) -> Outcome {
        let mut texts = vec![format!("{record:?}"), json!(record).to_string()];
        texts.extend(
            record
                .attempts
                .iter()
                .map(|attempt| attempt.message.clone()),
        );
        texts.extend(error.map(ToString::to_string));
        texts.extend(error.map(everything));
        let category = error.map(NodeError::category);
        Outcome {
            category,
            record: Some(record.clone()),
            texts,
        }
    }

    pub(crate) fn failed(error: &NodeError) -> Outcome {
        match error.record() {
            Some(record) => Outcome::of(record, Some(error)),
            None => Outcome {
                category: Some(error.category()),
                record: None,
                texts: vec![everything(error)],
            },
        }
    }

    /// A call that was dropped: its deadline passed, or it was cancelled.
    pub(crate) fn dropped(record: Option<CallRecord>, category: Category) -> Outcome {
        let mut outcome = record.map_or_else(
            || Outcome {
                category: None,
                record: None,
                texts: Vec::new(),
            },
            |record| Outcome::of(&record, None),
        );
        outcome.category = Some(category);
        let attempts = outcome
            .record
            .iter_mut()
            .flat_map(|record| &mut record.attempts);
        let under_way = attempts.filter(|attempt| attempt.category == Some(Category::Cancelled));
        under_way.for_each(|attempt| attempt.category = Some(category));
        outcome
    }

    pub(crate) fn attempts(&self) -> &[AttemptRecord] {
        self.record.as_ref().map_or(&[], |record| &record.attempts)
    }

    pub(crate) fn first(&self) -> Option<Category> {
        // Asking differently after a refusal or a redirect is no failure where it helps.
        let counts = |attempt: &&AttemptRecord| !self.was_adapted(attempt);
        self.attempts()
            .iter()
            .filter(counts)
            .find_map(|attempt| attempt.category)
            .or(self.category)
    }

    /// What was decided on the first failure. Asking without what the provider refuses is no repetition.
    pub(crate) fn retry(&self) -> &'static str {
        match self.attempts().get(1).map(|attempt| attempt.kind) {
            Some(AttemptKind::Retry) => "transport",
            Some(AttemptKind::Correction) => "feedback",
            _ => "no",
        }
    }

    /// Whether the next attempt only asked differently.
    fn was_adapted(&self, attempt: &AttemptRecord) -> bool {
        let mut attempts = self.attempts().iter();
        attempts.find(|other| other.id == attempt.id);
        attempts
            .next()
            .is_some_and(|next| next.kind == AttemptKind::Adapted)
    }

    pub(crate) fn usage(&self) -> Value {
        let usage = self
            .record
            .as_ref()
            .map(CallRecord::usage)
            .unwrap_or_default();
        let known =
            |tokens: Tokens| (tokens.unreported_calls < usage.requests).then_some(tokens.known);
        let unreported =
            [usage.input, usage.output, usage.total].map(|tokens| tokens.unreported_calls);
        json!({
            "input": known(usage.input),
            "output": known(usage.output),
            "total": known(usage.total),
            "unreported": unreported.into_iter().max(),
        })
    }

    pub(crate) fn flags(&self) -> Vec<Value> {
        self.attempts()
            .iter()
            .flat_map(|attempt| &attempt.flags)
            .map(|flag| json!(flag))
            .collect()
    }
}

/// Every form in which an error can be shown, its sources included.
fn everything(error: &NodeError) -> String {
    let chain = std::iter::successors(Some(error as &dyn Error), |error| (*error).source());
    let chain = chain
        .map(|error| format!("{error} {error:?} {error:#?}"))
        .collect::<Vec<_>>()
        .join(" ");
    format!("{chain} {}", error.message())
}
