//! The categories that `recover` knows, by name. The crate's tests hold them against `Category::ALL`.

/// What a category calls for, as the runtime's `Group` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Answer,
    Transport,
    Final,
    Node,
    Stop,
}

pub(crate) const CATEGORIES: [(&str, Group); 25] = [
    ("schema_error", Group::Answer),
    ("validation_error", Group::Answer),
    ("empty_response", Group::Answer),
    ("rate_limit_error", Group::Transport),
    ("server_error", Group::Transport),
    ("network", Group::Transport),
    ("timeout", Group::Transport),
    ("api_key_error", Group::Final),
    ("quota_error", Group::Final),
    ("not_found", Group::Final),
    ("bad_request", Group::Final),
    ("context_length_error", Group::Final),
    ("content_filter", Group::Final),
    ("refusal", Group::Final),
    ("truncated_output", Group::Final),
    ("bad_response", Group::Final),
    ("exec_error", Group::Node),
    ("limit_exceeded", Group::Stop),
    ("limit_unenforceable", Group::Stop),
    ("cancelled", Group::Stop),
    ("panic", Group::Stop),
    ("aborted", Group::Stop),
    ("prep_error", Group::Stop),
    ("config_error", Group::Stop),
    ("paused", Group::Stop),
];

/// The one category of the group `Stop` that a value may stand for.
pub(crate) const LIMIT: &str = "limit_exceeded";

/// What the same request meets again, so that no `retry` helps.
pub(crate) const NOT_RETRYABLE: [&str; 5] =
    ["api_key_error", "quota_error", "not_found", "bad_request", "context_length_error"];
