//! The categories that `recover` accepts, by name. A test compares them with `Category::ALL`.

/// Mirrors the runtime's `Group`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Answer,
    Transport,
    Final,
    Node,
    Stop,
}

/// All are listed, those that cannot be recovered from as well: their message says
/// why.
pub(crate) const CATEGORIES: [(&str, Group); 26] = [
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
    ("conflict", Group::Stop),
];

/// The only category of the group `Stop` that a fallback may follow.
pub(crate) const LIMIT: &str = "limit_exceeded";

/// The same request would fail again.
pub(crate) const NOT_RETRYABLE: [&str; 5] = [
    "api_key_error",
    "quota_error",
    "not_found",
    "bad_request",
    "context_length_error",
];
