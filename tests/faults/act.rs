//! What the server does with a request.

use std::time::Duration;

use llmnode::stub_server::{LoggedRequest, StubReply};
use serde_json::json;

use super::http_date;

/// How a server says that it wants a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Seconds,
    Milliseconds,
    Date,
    /// The header as a gateway renames it.
    Renamed,
    /// In the body, as Google does.
    Body,
}

/// What the server does with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Good,
    GoodWithoutUsage,
    /// Whole, but stopped at a length limit.
    GoodButStopped,
    /// With a pause in the middle of the body.
    GoodInTwo,
    NoJson,
    WrongType,
    Invalid,
    Empty,
    NoContent,
    NoChoices,
    Stopped,
    Refused,
    Filtered,
    /// 429, which may ask for a wait of so many seconds.
    Busy(Option<(Ask, u16)>),
    /// 503 whose body breaks off.
    HalfError,
    Failed,
    ErrorPage,
    Page,
    /// A redirect to the same server.
    Moved,
    WrongKey,
    TooLong,
    Compressed,
    /// Longer than the client's cap.
    Huge,
    HangUp,
    Reset,
    Garbage,
    HalfBody,
    ResetMidway,
    Stall,
    StallMidway,
}

impl Act {
    /// The wait that the server asks for, less what passes until the client reads a date.
    pub(crate) fn asked(self) -> Option<Duration> {
        let Act::Busy(Some((ask, seconds))) = self else {
            return None;
        };
        let passed = if ask == Ask::Date { 2 } else { 0 };
        Some(Duration::from_secs(
            u64::from(seconds).saturating_sub(passed),
        ))
    }

    pub(crate) fn reply(self, request: &LoggedRequest) -> StubReply {
        let id = request.request_id();
        let number = id.trim_start_matches("req-").parse().unwrap_or(0_u64);
        // Each request's own usage, so that a figure in the wrong place is found.
        let usage = |reply: StubReply| reply.usage(10 + number % 997, 1 + number % 31);
        let answer = |value: u32| usage(StubReply::json(json!({"request": id, "value": value})));
        let text = |text: &str| usage(StubReply::text(text));
        match self {
            Act::Good => answer(7),
            Act::GoodWithoutUsage => answer(7).without_usage(),
            Act::GoodButStopped => answer(7).finish_reason("length"),
            Act::GoodInTwo => answer(7).body_after(Duration::from_millis(3)),
            Act::Invalid => answer(700),
            Act::WrongType => usage(StubReply::json(json!({"request": id, "value": -1}))),
            Act::NoJson => text("I would rather not say."),
            Act::Empty => text(" \n"),
            Act::NoContent => usage(StubReply::null_content()),
            Act::NoChoices => usage(StubReply::no_choices()),
            Act::Stopped => text(r#"{"request": "re"#).finish_reason("length"),
            Act::Refused => usage(StubReply::refusal("I can't help with that.")),
            Act::Filtered => text("").finish_reason("content_filter"),
            Act::HalfBody => answer(7).cut_short(),
            Act::ResetMidway => answer(7).reset_midway(),
            Act::StallMidway => answer(7).body_after(Duration::from_secs(3600)),
            Act::Compressed => answer(7).header("content-encoding", "gzip"),
            Act::Huge => usage(StubReply::huge(1 << 20)),
            _ => self.without_answer(),
        }
    }

    fn without_answer(self) -> StubReply {
        let error = |status, kind, code| StubReply::error(status, kind, code, "as scheduled");
        match self {
            Act::Busy(None) => error(429, "requests", "rate_limit_exceeded"),
            Act::Busy(Some((ask, seconds))) => busy(ask, seconds),
            Act::HalfError => error(503, "server_error", "overloaded").cut_short(),
            Act::ErrorPage => StubReply::html(502),
            Act::Page => StubReply::html(200),
            Act::Moved => StubReply::redirect("/v1/chat/completions?moved"),
            Act::WrongKey => error(401, "invalid_request_error", "invalid_api_key"),
            Act::TooLong => error(400, "invalid_request_error", "context_length_exceeded"),
            Act::HangUp => StubReply::hang_up(),
            Act::Reset => StubReply::reset(),
            Act::Garbage => StubReply::garbage(),
            Act::Stall => StubReply::stall(),
            _ => error(500, "server_error", "internal_error"),
        }
    }
}

fn busy(ask: Ask, seconds: u16) -> StubReply {
    let error = StubReply::error(429, "requests", "rate_limit_exceeded", "slow down");
    match ask {
        Ask::Seconds => error.retry_after(seconds),
        Ask::Milliseconds => error.header("retry-after-ms", format!("{seconds}000")),
        Ask::Renamed => error.header("llm_provider-retry-after", seconds.to_string()),
        Ask::Date => {
            error.retry_after(http_date::from_now(&format!("+{seconds}s")).unwrap_or_default())
        }
        Ask::Body => {
            let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")}]);
            let error = json!({"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": details});
            StubReply::raw(429, json!({"error": error}).to_string())
        }
    }
}
