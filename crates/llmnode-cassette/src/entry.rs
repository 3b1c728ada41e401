//! One request and what came of it, as it stands in the file.

use std::time::Duration;

use llmnode_runtime::{
    Category, Completion, Dialect, FinishReason, Flag, ModelError, Retry, TokenUsage, ToolCall,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clean::Cleaner;

/// One request and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) request: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) completion: Option<Answer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Told::is_empty")]
    pub(crate) told: Told,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<Stream>,
}

/// A [`Completion`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TokenUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_id: Option<String>,
}

/// A [`ModelError`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    category: Category,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<Again>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<TokenUsage>,
    sent: bool,
    reached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

/// A [`Retry`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Again {
    No,
    Transport,
    Feedback,
    Adapted,
}

/// What the model told of the attempt beside its answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Told {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dialect: Option<Dialect>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) flags: Vec<Flag>,
}

/// The pieces that a stream came in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Stream {
    /// The text, where the answer does not have it, since the stream failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Where in the text one piece ends and the next one begins, in bytes.
    pub(crate) boundaries: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasoning: Vec<Thought>,
}

/// A piece of reasoning.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Thought {
    /// How much of the text stands before it, in bytes.
    pub(crate) at: usize,
    pub(crate) text: String,
}

impl Told {
    fn is_empty(&self) -> bool {
        self.dialect.is_none() && self.refused.is_empty() && self.flags.is_empty()
    }
}

impl Answer {
    pub(crate) fn new(completion: &Completion, cleaner: &Cleaner) -> Self {
        Answer {
            text: cleaner.text(&completion.text),
            calls: completion.calls.iter().map(|call| cleaned(call, cleaner)).collect(),
            refusal: cleaner.option(completion.refusal.as_ref()),
            finish: completion.finish.as_ref().map(|finish| finish.as_str().to_owned()),
            usage: completion.usage,
            model: cleaner.option(completion.model.as_ref()),
            request_id: cleaner.option(completion.request_id.as_ref()),
            response_id: cleaner.option(completion.response_id.as_ref()),
        }
    }

    pub(crate) fn completion(self) -> Completion {
        let mut completion = Completion::new(self.text);
        completion.calls = self.calls;
        completion.refusal = self.refusal;
        completion.finish = self.finish.map(|word| match word.as_str() {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "content_filter" => FinishReason::ContentFilter,
            "error" => FinishReason::Error,
            _ => FinishReason::Other(word),
        });
        completion.usage = self.usage;
        completion.model = self.model;
        completion.request_id = self.request_id;
        completion.response_id = self.response_id;
        completion
    }
}

fn cleaned(call: &ToolCall, cleaner: &Cleaner) -> ToolCall {
    ToolCall::new(cleaner.text(&call.id), cleaner.text(&call.name), cleaner.text(&call.arguments))
}

impl Failure {
    pub(crate) fn new(error: &ModelError, cleaner: &Cleaner) -> Self {
        Failure {
            category: error.category,
            message: cleaner.text(&error.message),
            retry: error.retry.and_then(|retry| match retry {
                Retry::No => Some(Again::No),
                Retry::Transport => Some(Again::Transport),
                Retry::Feedback => Some(Again::Feedback),
                Retry::Adapted => Some(Again::Adapted),
                _ => None,
            }),
            retry_after_ms: error.retry_after.map(|wait| wait.as_millis().try_into().unwrap_or(u64::MAX)),
            status: error.status,
            request_id: cleaner.option(error.request_id.as_ref()),
            usage: error.usage,
            sent: error.sent,
            reached: error.reached,
            answer: cleaner.option(error.answer.as_ref()),
        }
    }

    pub(crate) fn error(self) -> ModelError {
        let mut error = ModelError::new(self.category, self.message);
        error.retry = self.retry.map(|again| match again {
            Again::No => Retry::No,
            Again::Transport => Retry::Transport,
            Again::Feedback => Retry::Feedback,
            Again::Adapted => Retry::Adapted,
        });
        error.retry_after = self.retry_after_ms.map(Duration::from_millis);
        error.status = self.status;
        error.request_id = self.request_id;
        error.usage = self.usage;
        error.sent = self.sent;
        error.reached = self.reached;
        error.answer = self.answer;
        error
    }
}
