//! `docs/service.md`: its lines of code are the service's, and `UPDATE=1 cargo test` writes its table anew.

use std::path::{Path, PathBuf};

use llmnode::Category::{self, *};

use super::*;
use crate::problem::status_of;

/// A server that fails in one way, and what `/reply` makes of it. `/triage` has a fallback for each.
struct Failing {
    server: &'static str,
    reply: StubReply,
    category: Category,
    status: u16,
    retry_after: Option<u64>,
    /// How long each request takes by the clock.
    takes: Option<Duration>,
    /// What answers the first request.
    first: Option<StubReply>,
}

fn failing(server: &'static str, reply: StubReply, category: Category, status: u16) -> Failing {
    Failing {
        server,
        reply,
        category,
        status,
        retry_after: None,
        takes: None,
        first: None,
    }
}

impl Failing {
    /// The server asks for a wait.
    fn wait(self, seconds: u64) -> Failing {
        Failing {
            reply: self.reply.retry_after(seconds),
            retry_after: Some(seconds),
            ..self
        }
    }

    /// Each request takes this time.
    fn takes(self, seconds: u64) -> Failing {
        Failing {
            takes: Some(Duration::from_secs(seconds)),
            ..self
        }
    }

    /// The first request is answered with this.
    fn first(self, reply: StubReply) -> Failing {
        Failing {
            first: Some(reply),
            ..self
        }
    }

    async fn service(&self) -> Service {
        let clock = TestClock::new();
        let reply = match self.takes {
            None => self.reply.clone(),
            Some(time) => slow(self.reply.clone(), time, clock.clone()),
        };
        let service = Service::with_clock(reply, clock).await;
        self.first
            .iter()
            .for_each(|first| service.server.push(first.clone()));
        service
    }

    /// Asks both routes, each with a server of its own.
    async fn row(&self) -> String {
        let (sorting, drafting) = (self.service().await, self.service().await);
        let (sorted, drafted) = (
            sorting.ticket("triage").await,
            drafting.ticket("reply").await,
        );
        for answered in [&sorted, &drafted] {
            assert!(
                !answered.body.contains(SECRET),
                "{}: {}",
                self.server,
                answered.body
            );
        }
        let ([sort, draft], server) = ([sorted.json(), drafted.json()], self.server);
        assert_eq!(sorted.status, StatusCode::OK, "{server}: {sort}");
        assert_eq!(
            (&sort["used_fallback"], &sort["result"]["team"]),
            (&json!("fallback_value"), &json!("inbox"))
        );
        assert_eq!(drafted.status.as_u16(), self.status, "{server}: {draft}");
        assert_eq!(draft["error"], self.category.as_str(), "{server}: {draft}");
        assert_eq!(drafted.retry_after, self.retry_after, "{server}: {draft}");
        assert_eq!(
            (&sort["cost"], sorted.time),
            (&draft["cost"], drafted.time),
            "{server}"
        );
        assert_eq!(
            drafting.send("GET", "/costs", "").await.json()["acme"],
            draft["cost"],
            "{server}"
        );
        let requests = drafting.server.requests_seen();
        assert_eq!(sorting.server.requests_seen(), requests, "{server}");
        let wait = drafted
            .retry_after
            .map(|seconds| seconds.to_string())
            .unwrap_or_default();
        let seconds = drafted.time.as_secs();
        let (known, unknown) = (&draft["cost"]["known"], &draft["cost"]["unknown_calls"]);
        // Nothing that is known is no sum.
        let known = if known == 0.0 {
            String::new()
        } else {
            known.to_string()
        };
        let (reply, category) = (drafted.status.as_u16(), self.category);
        format!(
            "| {server} | {requests} | {seconds} | {known} | {unknown} | {reply} | `{category}` | {wait} |\n"
        )
    }
}

/// The failures of the way to the model.
fn of_the_way() -> Vec<Failing> {
    let slow_down = || error(429, "rate_limit_exceeded", "Rate limit reached.");
    vec![
        failing("429", slow_down(), RateLimitError, 503),
        failing("429, `retry-after: 2`", slow_down(), RateLimitError, 503).wait(2),
        failing("429, `retry-after: 90`", slow_down(), RateLimitError, 503).wait(90),
        failing("429, `retry-after: 15`", slow_down(), RateLimitError, 503).wait(15),
        failing(
            "500",
            error(500, "internal", "The server had an error."),
            ServerError,
            502,
        ),
        failing("closes the connection", StubReply::hang_up(), Network, 502),
        failing("never answers", StubReply::stall(), Timeout, 504).takes(5),
        failing(
            "429, `retry-after: 9`, then never answers",
            StubReply::stall(),
            Timeout,
            504,
        )
        .takes(5)
        .first(slow_down().retry_after(9)),
    ]
}

/// What the same request would meet again.
fn final_ones() -> Vec<Failing> {
    let text = |text: &str| StubReply::text(text).usage(400, 50);
    let too_long = error(400, "context_length_exceeded", "The prompt is too long.");
    vec![
        failing(
            "401",
            error(401, "invalid_api_key", "Incorrect API key."),
            ApiKeyError,
            500,
        ),
        failing(
            "429, no credit left",
            error(429, "insufficient_quota", "No quota."),
            QuotaError,
            503,
        ),
        failing(
            "404",
            error(404, "model_not_found", "No such model."),
            NotFound,
            500,
        ),
        failing(
            "400",
            error(400, "invalid_value", "Invalid messages."),
            BadRequest,
            500,
        ),
        failing(
            "400, the prompt is too long",
            too_long,
            ContextLengthError,
            413,
        ),
        failing(
            "filters the answer",
            text(SECRET).finish_reason("content_filter"),
            ContentFilter,
            422,
        ),
        failing(
            "refuses",
            StubReply::refusal(SECRET).usage(400, 50),
            Refusal,
            422,
        ),
        failing(
            "breaks the answer off",
            text("{\"te").finish_reason("length"),
            TruncatedOutput,
            502,
        ),
        failing("an HTML page", StubReply::html(200), BadResponse, 502),
    ]
}

/// Bad answers: each is asked for once more.
fn bad_answers() -> Vec<Failing> {
    let text = |text: &str| StubReply::text(text).usage(400, 50);
    vec![
        failing("prose for JSON", text(SECRET), SchemaError, 502),
        failing(
            "an unknown team, an unsigned letter",
            wrong(),
            ValidationError,
            502,
        ),
        failing("an empty answer", text(""), EmptyResponse, 502),
    ]
}

fn error(status: u16, code: &str, message: &str) -> StubReply {
    StubReply::error(status, "error", code, &format!("{message} ({SECRET})"))
}

/// Of the type that is asked for, but not valid.
fn wrong() -> StubReply {
    StubReply::for_request(|request| {
        let is_triage = request.body().contains("Teams:");
        let triage = json!({"team": SECRET, "urgency": "Low", "summary": SECRET});
        StubReply::json(if is_triage {
            triage
        } else {
            json!({"text": SECRET})
        })
        .usage(400, 50)
    })
}

/// Each request moves the clock.
fn slow(reply: StubReply, time: Duration, clock: TestClock) -> StubReply {
    StubReply::for_request(move |_| {
        let clock = clock.clone();
        tokio::spawn(async move { clock.sleep(time).await });
        reply.clone()
    })
}

#[tokio::test]
async fn each_failure_has_its_status_and_its_cost_and_quotes_nobody() {
    let mut rows = Vec::new();
    for failing in of_the_way()
        .into_iter()
        .chain(final_ones())
        .chain(bad_answers())
    {
        rows.push(failing.row().await);
    }
    let head = "| the server | requests | seconds | cost | unknown | `/reply` | `error` | `retry-after` |\n\
                |---|---|---|---|---|---|---|---|\n";
    let table = format!("{head}{}", rows.concat());
    println!("{table}");
    is_in_the_page(&table);
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/service.md")
}

/// The page has the table between two comments.
fn is_in_the_page(table: &str) {
    let page = std::fs::read_to_string(path()).unwrap();
    let (before, rest) = page.split_once("<!-- table -->\n").unwrap();
    let (written, after) = rest.split_once("<!-- /table -->").unwrap();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(
            path(),
            format!("{before}<!-- table -->\n{table}<!-- /table -->{after}"),
        )
        .unwrap();
        return;
    }
    assert_eq!(
        written, table,
        "docs/service.md has another table: UPDATE=1 writes it anew"
    );
}

#[test]
fn the_code_of_the_page_is_the_services() {
    let page = std::fs::read_to_string(path()).unwrap();
    let code = page
        .split("```rust\n")
        .skip(1)
        .filter_map(|block| block.split("```").next());
    let lines: Vec<_> = code.flat_map(str::lines).collect();
    assert!(lines.len() > 40, "{lines:?}");
    let service = [
        include_str!("../run.rs"),
        include_str!("../desk.rs"),
        include_str!("../problem.rs"),
    ];
    // Which names a part of the page needs is its own.
    for line in lines
        .into_iter()
        .filter(|line| !line.starts_with("use llmnode::{"))
    {
        assert!(service.iter().any(|file| file.contains(line)), "{line}");
    }
}

#[test]
fn the_page_begins_with_the_small_service() {
    let page = std::fs::read_to_string(path()).unwrap();
    let (_, program) = page.split_once("```rust,ignore\n").unwrap();
    let (program, _) = program.split_once("```\n").unwrap();
    assert_eq!(program, include_str!("../../small_service.rs"));
    for &category in Category::ALL {
        let is_operators = status_of(category).0 == StatusCode::INTERNAL_SERVER_ERROR;
        let is_named = program.contains(&format!("{category:?}"));
        assert!(is_operators || is_named, "{category} has its status there");
    }
}

/// The table of categories, too.
#[test]
fn the_page_has_the_status_of_each_category() {
    let page = std::fs::read_to_string(path()).unwrap();
    let (_, rows) = page.split_once("| category | status |").unwrap();
    for &category in Category::ALL {
        let named = rows.lines().find(|row| {
            row.split(" | ")
                .next()
                .is_some_and(|cell| cell.contains(&format!("`{category}`")))
        });
        let row = named
            .or(rows.lines().find(|row| row.starts_with("| all others")))
            .unwrap();
        let status = row.split(" | ").nth(1).unwrap();
        assert_eq!(status, status_of(category).0.as_str(), "{category}");
    }
}
