//! One request and its outcome, as in the file.

use std::sync::Arc;
use std::time::Duration;

use llmnode_model::ext::{AnswerLimit, LimitSetter, Redactor};
use llmnode_runtime::{
    Category, Completion, FinishReason, Flag, Message, ModelError, ProviderState, ResponseFormat,
    Retry, TokenUsage, ToolCall,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) request: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) completion: Option<RecordedCompletion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<RecordedError>,
    #[serde(
        default,
        rename = "told",
        skip_serializing_if = "AttemptMetadata::is_empty"
    )]
    pub(crate) metadata: AttemptMetadata,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<RecordedStream>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedCompletion {
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    carried: Option<ProviderState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<AnswerLimit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TokenUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedError {
    category: Category,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<RetryKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TokenUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answered: Option<u64>,
    sent: bool,
    reached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RetryKind {
    No,
    Transport,
    Feedback,
    Adapted,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AttemptMetadata {
    #[serde(rename = "dialect", skip_serializing_if = "Option::is_none")]
    pub(crate) response_format: Option<ResponseFormat>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) flags: Vec<Flag>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RecordedStream {
    /// Only if the stream failed, so that no answer has the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Byte offsets in the text at which a new piece begins.
    pub(crate) boundaries: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasoning: Vec<ReasoningPiece>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasoningPiece {
    pub(crate) at: usize,
    pub(crate) text: String,
}

impl AttemptMetadata {
    fn is_empty(&self) -> bool {
        self.response_format.is_none() && self.refused.is_empty() && self.flags.is_empty()
    }
}

impl RecordedCompletion {
    pub(crate) fn new(completion: &Completion, redactor: &Redactor) -> Self {
        RecordedCompletion {
            text: redactor.text(&completion.text),
            calls: completion
                .calls
                .iter()
                .map(|call| clean_call(call, redactor))
                .collect(),
            carried: completion
                .carried
                .as_deref()
                .and_then(|carried| clean_carried(carried, redactor)),
            reasoning: redactor.option(completion.reasoning.as_ref()),
            refusal: redactor.option(completion.refusal.as_ref()),
            finish: completion
                .finish
                .as_ref()
                .map(|finish| finish.as_str().to_owned()),
            limit: completion
                .limit
                .filter(|limit| limit.by != LimitSetter::Program),
            usage: completion.usage,
            model: redactor.option(completion.model.as_ref()),
            request_id: redactor.option(completion.request_id.as_ref()),
            response_id: redactor.option(completion.response_id.as_ref()),
        }
    }

    pub(crate) fn completion(self) -> Completion {
        let mut completion = Completion::new(self.text);
        completion.calls = self.calls;
        completion.carried = self.carried.map(Arc::new);
        completion.reasoning = self.reasoning;
        completion.refusal = self.refusal;
        completion.finish = self.finish.map(|word| match word.as_str() {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "content_filter" => FinishReason::ContentFilter,
            "error" => FinishReason::Error,
            "pause_turn" => FinishReason::Continue,
            _ => FinishReason::Other(word),
        });
        completion.limit = self.limit;
        completion.usage = self.usage;
        completion.model = self.model;
        completion.request_id = self.request_id;
        completion.response_id = self.response_id;
        completion
    }
}

/// `None` if nothing can be read without the secrets.
fn clean_carried(carried: &ProviderState, redactor: &Redactor) -> Option<ProviderState> {
    let mut value = serde_json::to_value(carried).ok()?;
    redactor.value(&mut value);
    serde_json::from_value(value).ok()
}

fn clean_call(call: &ToolCall, redactor: &Redactor) -> ToolCall {
    ToolCall::new(
        redactor.text(&call.id),
        redactor.text(&call.name),
        redactor.text(&call.arguments),
    )
}

impl RecordedError {
    pub(crate) fn new(error: &ModelError, redactor: &Redactor) -> Self {
        RecordedError {
            category: error.category,
            message: redactor.text(&error.message),
            retry: error.retry.and_then(|retry| match retry {
                Retry::No => Some(RetryKind::No),
                Retry::Transport => Some(RetryKind::Transport),
                Retry::Feedback => Some(RetryKind::Feedback),
                Retry::Adapted => Some(RetryKind::Adapted),
                _ => None,
            }),
            retry_after_ms: error
                .retry_after
                .map(|wait| wait.as_millis().try_into().unwrap_or(u64::MAX)),
            status: error.status,
            request_id: redactor.option(error.request_id.as_ref()),
            usage: error.usage.as_deref().copied(),
            answered: error.answered(),
            sent: error.sent,
            reached: error.reached,
            answer: redactor.option(error.answer.as_deref().map(|answer| &answer.content)),
        }
    }

    pub(crate) fn error(self) -> ModelError {
        let mut error = ModelError::new(self.category, self.message);
        error.retry = self.retry.map(|again| match again {
            RetryKind::No => Retry::No,
            RetryKind::Transport => Retry::Transport,
            RetryKind::Feedback => Retry::Feedback,
            RetryKind::Adapted => Retry::Adapted,
        });
        error.retry_after = self.retry_after_ms.map(Duration::from_millis);
        error.status = self.status;
        error.request_id = self.request_id;
        error.usage = self.usage.map(Box::new);
        error.set_answered(self.answered);
        error.sent = self.sent;
        error.reached = self.reached;
        error.answer = self
            .answer
            .map(|answer| Box::new(Message::assistant(answer)));
        error
    }
}
