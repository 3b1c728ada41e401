//! `Reply` and `StubReply` have the same words, and mean the same by them, on each API.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::{StubServer, TestClock};
use serde_json::json;

use crate::apis::Api;

/// Counts the letters of a word.
#[tool]
fn count(word: String) -> usize {
    word.len()
}

#[llm_node(prompt = "How many letters has \"abc\"?", tools = [Count], max_tokens = 100, transport_retries = 0, deadline = 60s)]
struct Letters;

/// What became of one call whose first request got this reply; all others get `3`.
#[derive(Debug, PartialEq)]
struct Outcome {
    answer: Result<String, Category>,
    tools: usize,
    usage_is_known: bool,
    retry_after: Option<Duration>,
}

async fn outcome(model: Arc<dyn ChatModel>) -> Outcome {
    let run = Run::new(model).with_clock(TestClock::new());
    let ended = run.call(&Letters).report().await;
    let usage_is_known = run.ledger().total().total.total().is_some();
    match ended {
        Ok(report) => Outcome {
            answer: Ok(report.value),
            tools: report
                .record
                .attempts
                .iter()
                .map(|attempt| attempt.tools.len())
                .sum(),
            usage_is_known,
            retry_after: None,
        },
        Err(error) => Outcome {
            answer: Err(error.category()),
            tools: 0,
            usage_is_known,
            retry_after: error.retry_after(),
        },
    }
}

/// The same words, written once, as a reply of each kind.
struct Both {
    words: &'static str,
    scripted: fn() -> Reply,
    served: fn() -> StubReply,
}

macro_rules! both {
    ($reply:ident => $($words:expr),* $(,)?) => {
        vec![$(Both {
            words: stringify!($words),
            scripted: || {
                type $reply = Reply;
                $words
            },
            served: || {
                type $reply = StubReply;
                $words
            },
        }),*]
    };
}

fn all() -> Vec<Both> {
    both!(R =>
        R::text("3"),
        R::text("3").after(Duration::from_millis(1)),
        R::pieces(["3", " letters"]),
        R::json(json!({"letters": 3})),
        R::text("").and_call("count", json!({"word": "abc"})),
        R::text("").and_call("count", json!({"word": "abc"})).and_call("count", json!({"word": "d"})),
        R::text("Three").reasoning("abc has three").pause(Duration::ZERO),
        R::text("3").finish_reason("stop"),
        R::text("3").finish_reason("length"),
        R::text("3").finish_reason("content_filter"),
        R::text("3").finish(llmnode::FinishReason::Length),
        R::text("3").without_usage(),
        R::null_content(),
        R::hang_up(),
        R::text("3").cut_short(),
        R::for_request(|_| R::text("3")),
        R::failure(Category::RateLimitError),
        R::failure(Category::RateLimitError).retry_after(Duration::from_secs(2)),
        R::failure(Category::ServerError),
        R::failure(Category::Network),
        R::failure(Category::Timeout),
        R::failure(Category::ApiKeyError),
        R::failure(Category::QuotaError),
        R::failure(Category::NotFound),
        R::failure(Category::BadRequest),
        R::failure(Category::ContextLengthError),
        R::failure(Category::ContentFilter),
        R::failure(Category::Refusal),
        R::failure(Category::TruncatedOutput),
        R::failure(Category::BadResponse),
        R::failure(Category::EmptyResponse),
    )
}

/// These two have one word for a model that declines and for a filter.
fn said_by(api: Api, answer: Result<String, Category>) -> Result<String, Category> {
    match answer {
        Err(Category::Refusal) if matches!(api, Api::Anthropic | Api::Gemini) => {
            Err(Category::ContentFilter)
        }
        answer => answer,
    }
}

#[tokio::test]
async fn the_same_words_end_a_call_the_same_way() {
    for Both {
        words,
        scripted,
        served,
    } in all()
    {
        let model = ScriptedModel::new().script([scripted()]).otherwise(|_| "3");
        let expected = outcome(Arc::new(model)).await;
        for api in Api::ALL {
            let server = StubServer::builder()
                .script([served()])
                .default_reply(StubReply::text("3"));
            let server = server.start().await.unwrap();
            let found = outcome(api.model(&server.base_url())).await;
            assert_eq!(
                found.answer,
                said_by(api, expected.answer.clone()),
                "{api:?}: {words}"
            );
            assert_eq!(found.tools, expected.tools, "{api:?}: {words}");
            assert_eq!(found.retry_after, expected.retry_after, "{api:?}: {words}");
            if expected.answer.is_ok() {
                assert_eq!(
                    found.usage_is_known, expected.usage_is_known,
                    "{api:?}: {words}"
                );
            }
        }
    }
}

/// A reply that never comes ends at the deadline on the run's clock. On a server, the test moves that clock.
#[tokio::test]
async fn a_reply_that_never_comes_ends_at_the_deadline() {
    for scripted in [Reply::never(), Reply::stall()] {
        let model = ScriptedModel::new().script([scripted]);
        assert_eq!(
            outcome(Arc::new(model)).await.answer,
            Err(Category::Timeout)
        );
    }
    for served in [StubReply::never(), StubReply::stall()] {
        let clock = TestClock::new();
        let moved = Mutex::new(clock.clone());
        let reply = StubReply::for_request(move |_| {
            let clock = moved.lock().unwrap().clone();
            tokio::spawn(
                async move { llmnode::Clock::sleep(&clock, Duration::from_secs(60)).await },
            );
            served.clone()
        });
        let server = StubServer::builder().script([reply]).start().await.unwrap();
        let run = Run::new(Api::Chat.model(&server.base_url())).with_clock(clock);
        assert_eq!(
            run.call(&Letters).await.unwrap_err().category(),
            Category::Timeout
        );
    }
}

/// What one request cost that got this reply, and no other: `None` is unknown.
async fn cost_of(api: Api, reply: &StubReply) -> Option<f64> {
    let server = StubServer::builder()
        .default_reply(reply.clone())
        .start()
        .await
        .unwrap();
    let run = Run::new(api.model(&server.base_url())).with_clock(TestClock::new());
    let error = run.call(&Letters).await.unwrap_err();
    let usage = error.usage();
    assert_eq!(
        usage.total.total().is_some(),
        usage.cost.total().is_some(),
        "{error}"
    );
    assert_eq!(run.ledger().total(), usage);
    // A price makes neither known nor unknown what a refusal is.
    let priced = Run::new(api.model(&server.base_url())).with_clock(TestClock::new());
    let priced = priced.with_prices(Prices::new().model("m", Price::per_million(1.0, 2.0)));
    let again = priced.call(&Letters).await.unwrap_err();
    assert_eq!(again.usage().cost.total(), usage.cost.total(), "{again}");
    usage.cost.total()
}

#[tokio::test]
async fn what_is_refused_before_a_model_reads_it_costs_a_known_0() {
    let error = |status, message: &str| StubReply::error(status, "error", (), message);
    let refused = [
        error(401, "Incorrect API key provided."),
        error(402, "Your balance is too low."),
        error(403, "You are not allowed to use this model."),
        error(404, "No such model."),
        error(429, "Slow down."),
        error(400, "tools.0.custom.input_schema: JSON schema is invalid"),
        error(422, "messages[0].content: value is too deep"),
    ];
    for reply in refused {
        for api in Api::ALL {
            assert_eq!(cost_of(api, &reply).await, Some(0.0), "{api:?}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn what_a_model_may_have_read_costs_nobody_knows_what() {
    let error = |status, message: &str| StubReply::error(status, "error", (), message);
    let unknown = [
        error(400, "The request is no good."),
        error(413, "The prompt is too long."),
        error(
            400,
            "The prompt was rejected by the content management policy.",
        ),
        error(500, "Internal error."),
        error(503, "Not available: rate limit of another service."),
        StubReply::hang_up(),
        StubReply::text("3").cut_short(),
        StubReply::html(200),
    ];
    for reply in unknown {
        for api in Api::ALL {
            assert_eq!(cost_of(api, &reply).await, None, "{api:?}: {reply:?}");
        }
    }
}
