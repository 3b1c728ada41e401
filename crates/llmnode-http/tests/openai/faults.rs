//! Everything that can go wrong on the way, each with its category, its recovery and a message for a person.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use llmnode_runtime::{
    AttemptRecord, Category, ChatModel, Limits, Retry, Run, Settings, TestClock,
};
use llmnode_stub::StubReply;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::support::{
    Ask, Greet, Seen, ask, builder, error_of, model, nowhere, raw_server, request, sends, server,
};
use crate::tls::AUTHORITY;

#[tokio::test]
async fn unreachable_servers() {
    let base_url = nowhere().await;
    let error = ask(&model(&base_url)).await.unwrap_err();
    assert_eq!((error.category, error.retry), (Category::Network, None));
    // What the server never saw claims no usage.
    assert_eq!((&error.usage, error.reached), (&None, false));
    let host = base_url
        .trim_start_matches("http://")
        .trim_end_matches("/v1");
    assert!(
        error.message.starts_with(host) && error.message.contains("refused"),
        "{error}"
    );
}

#[tokio::test]
async fn unreachable_servers_are_tried_again_and_accounted_for() {
    let clock = TestClock::new();
    let run = Run::new(model(&nowhere().await)).with_clock(clock.clone());
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::Network, 3)
    );
    assert_eq!((run.ledger().total().requests, clock.waits().len()), (0, 2));
}

/// The figures of calls that failed before a connection was made.
fn assert_no_request(run: &Run, attempts: &[AttemptRecord]) {
    assert!(!attempts.is_empty());
    for attempt in attempts {
        assert!(
            attempt.unsent && attempt.estimate.is_none() && attempt.usage.is_none(),
            "{attempt:?}"
        );
    }
    let total = run.ledger().total();
    assert_eq!(
        (total.requests, total.total.total(), total.cost.total()),
        (0, Some(0), Some(0.0))
    );
    assert_eq!(total.estimated, 0);
}

#[tokio::test]
async fn what_got_no_connection_is_no_request() {
    // One closes each connection, the other answers a handshake by words.
    let closes = raw_tcp(|_| async {}).await;
    let speaks_no_tls = raw_tcp(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.read(&mut [0; 1024]).await;
    });
    let over_tls = |address: SocketAddr| format!("https://{address}/v1");
    let name = format!("http://{}.invalid/v1", "x".repeat(64));
    for base_url in [
        nowhere().await,
        over_tls(closes),
        over_tls(speaks_no_tls.await),
        name,
    ] {
        let model = builder(&base_url)
            .without_key()
            .root_certificates(AUTHORITY)
            .build()
            .unwrap();
        let run = Run::new(model).with_clock(TestClock::new());
        let run = run.with_limits(Limits::new().requests(1).tokens(1));
        for _ in 0..2 {
            let error = run.call(&Greet).await.unwrap_err();
            assert_eq!(
                (error.category(), error.attempts().len()),
                (Category::Network, 3),
                "{error}"
            );
            assert!(error.to_string().contains("after 3 attempts"), "{error}");
            assert_no_request(&run, error.attempts());
        }
    }
}

#[tokio::test]
async fn what_is_dropped_before_it_has_a_connection_is_no_request() {
    let (arrive, mut arrived) = tokio::sync::mpsc::unbounded_channel();
    let silent = raw_tcp(move |stream| {
        arrive.send(()).unwrap();
        async move { (stream, std::future::pending::<()>().await).1 }
    });
    let silent = silent.await;
    let model = |scheme| {
        let model = builder(&format!("{scheme}://{silent}/v1")).root_certificates(AUTHORITY);
        Run::new(model.build().unwrap()).with_limits(Limits::new().requests(9))
    };
    let run = model("https");
    // Twice: it is dropped, and its time is up.
    tokio::select! {
        outcome = run.call(&Greet) => panic!("nobody shakes hands: {outcome:?}"),
        _ = arrived.recv() => {}
    }
    let mut settings = Settings::new();
    settings.transport_retries = Some(0);
    settings.attempt_timeout = Some(Duration::from_millis(50));
    let error = run
        .call(&Greet)
        .settings(settings.clone())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Timeout);
    assert!(
        error.message().contains("no connection within 50ms"),
        "{error}"
    );
    let attempts: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .flat_map(|call| call.attempts.clone())
        .collect();
    assert_eq!(attempts.len(), 2);
    assert_no_request(&run, &attempts);

    // What was sent is unknown.
    let run = model("http");
    assert!(run.call(&Greet).settings(settings).await.is_err());
    let total = run.ledger().total();
    assert_eq!((total.requests, total.total.unreported_calls), (1, 1));
    assert!(total.estimated > 0);
}

/// A server that does with each connection what `act` does.
async fn raw_tcp<F>(act: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(act(stream));
        }
    });
    address
}

#[tokio::test]
async fn connections_that_break() {
    for reply in [
        StubReply::hang_up(),
        StubReply::reset(),
        StubReply::garbage(),
        StubReply::text("hello").cut_short(),
    ] {
        let error = error_of(reply.clone()).await;
        assert_eq!(
            (error.category, error.retry, error.usage),
            (Category::Network, None, None),
            "{reply:?}"
        );
    }
    let chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{\"id\":\r\n";
    let error = ask(&model(&sends(chunk).await)).await.unwrap_err();
    assert_eq!(
        (error.category, error.status),
        (Category::Network, Some(200))
    );
    assert!(error.message.contains("broke off after 6 bytes"), "{error}");
    let headers = (0..200)
        .map(|n| format!("x-{n}: 1\r\n"))
        .collect::<String>();
    let error = ask(&model(
        &sends(format!("HTTP/1.1 200 OK\r\n{headers}\r\n{{}}")).await,
    ))
    .await
    .unwrap_err();
    assert_eq!(error.category, Category::Network);
}

#[tokio::test]
async fn compressed_though_not_asked() {
    let gzip = |body: &[u8]| {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    };
    // Said to be compressed, and is not: an answer is taken, anything else is broken.
    let answer = gzip(br#"{"choices":[{"message":{"content":"hi"}}]}"#);
    assert_eq!(ask(&model(&sends(answer).await)).await.unwrap().text, "hi");
    let error = ask(&model(&sends(gzip(b"{}")).await)).await.unwrap_err();
    assert_eq!((error.category, error.retry), (Category::Network, None));
    let error = ask(&model(&sends(gzip(b"\x1f\x8b\x08\0\0")).await))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::BadResponse, Some(Retry::No))
    );
    assert!(
        error.message.contains("accept-encoding: identity"),
        "{error}"
    );
    let refused =
        b"HTTP/1.1 429 Slow\r\ncontent-encoding: br\r\ncontent-length: 3\r\n\r\n\xff\xfe\xfd";
    let error = ask(&model(&sends(refused).await)).await.unwrap_err();
    assert_eq!(error.category, Category::RateLimitError);
    assert!(
        error.message.ends_with("answered 429: nothing more"),
        "{error}"
    );
}

#[tokio::test]
async fn names_that_nobody_knows() {
    let start = Instant::now();
    let model = builder("http://no-such-host.invalid/v1").without_key();
    let error = ask(&model
        .connect_timeout(Duration::from_secs(3))
        .build()
        .unwrap())
    .await
    .unwrap_err();
    // A resolver that is not there may take its time: then the connect timeout ends it.
    assert!(
        matches!(error.category, Category::Network | Category::Timeout),
        "{error}"
    );
    assert!(
        error
            .message
            .starts_with("no-such-host.invalid: no connection"),
        "{error}"
    );
    assert_eq!((error.retry, error.usage), (None, None));
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    // A label of a name has at most 63 characters, so that no resolver is asked.
    let long = format!("http://{}.invalid/v1", "x".repeat(64));
    let error = ask(&builder(&long).without_key().build().unwrap())
        .await
        .unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::Network, None),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_answers_no_connection() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let _listener = socket.listen(1).unwrap();
    // So many that nobody accepts that the system answers no more.
    let mut crowd = Vec::new();
    let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100));
    while let Ok(stream) = connect() {
        crowd.push(stream);
    }
    let model =
        builder(&format!("http://{address}/v1")).connect_timeout(Duration::from_millis(200));
    let start = Instant::now();
    let error = ask(&model.build().unwrap()).await.unwrap_err();
    assert_eq!(
        (error.category, error.retry, error.reached),
        (Category::Timeout, None, false)
    );
    assert!(
        error
            .message
            .ends_with("no connection within 200ms (connect timeout)"),
        "{error}"
    );
    assert!(
        (200..20_000).contains(&start.elapsed().as_millis()),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn the_attempt_timeout_covers_every_phase() {
    const TIMEOUT: Duration = Duration::from_millis(200);
    let slow = |bytes: &'static [u8]| {
        raw_server(move |mut stream| async move {
            for byte in bytes {
                if stream.write_all(&[*byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let stalls = server([StubReply::stall()]).await;
    let stalls_later = server([StubReply::text("hello").body_after(Duration::from_secs(60))]).await;
    for (base_url, state) in [
        (stalls.base_url(), "no response began within 200ms"),
        (stalls_later.base_url(), "bytes within 200ms"),
        (
            slow(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await,
            "no response began within 200ms",
        ),
        (
            slow(b"HTTP/1.1 200 OK\r\n\r\n{     \"a\": 1 }").await,
            "within 200ms",
        ),
    ] {
        let model = builder(&base_url).attempt_timeout(TIMEOUT).build().unwrap();
        let start = Instant::now();
        let error = ask(&model).await.unwrap_err();
        assert_eq!(
            (error.category, error.retry, &error.usage),
            (Category::Timeout, None, &None)
        );
        assert!(
            error.message.contains(state) && error.message.contains("attempt timeout"),
            "{error}"
        );
        assert!(
            (TIMEOUT..Duration::from_secs(20)).contains(&start.elapsed()),
            "{:?}",
            start.elapsed()
        );
    }
}

#[tokio::test]
async fn an_attempt_timeout_of_the_request_holds_instead_of_the_builders() {
    let server = server([
        StubReply::text("hello").after(Duration::from_millis(300)),
        StubReply::stall(),
    ])
    .await;
    let model = builder(&server.base_url())
        .attempt_timeout(Duration::from_millis(50))
        .build()
        .unwrap();
    let mut request = request();
    request.attempt_timeout = Some(Duration::from_secs(60));
    assert_eq!(
        model
            .complete(&request, &mut Seen::default())
            .await
            .unwrap()
            .text,
        "hello"
    );
    request.attempt_timeout = Some(Duration::from_millis(70));
    let error = model
        .complete(&request, &mut Seen::default())
        .await
        .unwrap_err();
    assert!(
        error.message.contains("no response began within 70ms"),
        "{error}"
    );
}

#[tokio::test]
async fn the_connect_timeout_covers_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    let silent =
        tokio::spawn(async move { (listener.accept().await, std::future::pending::<()>().await) });
    let model = builder(&base_url).root_certificates(AUTHORITY);
    let model = model
        .connect_timeout(Duration::from_millis(150))
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.category, Category::Timeout);
    assert!(
        error
            .message
            .contains("no connection within 150ms (connect timeout)"),
        "{error}"
    );
    assert_eq!(error.usage, None);
    silent.abort();
}

#[tokio::test]
async fn what_is_no_completion() {
    for (reply, category, retry) in [
        (StubReply::html(200), Category::BadResponse, Some(Retry::No)),
        (
            StubReply::raw(200, ""),
            Category::BadResponse,
            Some(Retry::Transport),
        ),
        (
            StubReply::raw(200, "{\"id\":"),
            Category::BadResponse,
            Some(Retry::Transport),
        ),
        (
            StubReply::raw(200, "[".repeat(1_000_000)),
            Category::BadResponse,
            Some(Retry::No),
        ),
        (
            StubReply::no_choices(),
            Category::EmptyResponse,
            Some(Retry::Transport),
        ),
        (
            StubReply::raw(200, r#"{"error":{"message":"busy","code":429}}"#),
            Category::RateLimitError,
            None,
        ),
        (
            StubReply::huge(10 << 20),
            Category::BadResponse,
            Some(Retry::No),
        ),
    ] {
        let error = error_of(reply).await;
        assert_eq!(
            (error.category, error.retry, error.status),
            (category, retry, Some(200)),
            "{error}"
        );
        assert!(error.message.len() < 800, "{}", error.message.len());
    }
    assert!(error_of(StubReply::html(200)).await.message.contains("/v1"));
    assert!(
        error_of(StubReply::huge(10 << 20))
            .await
            .message
            .contains("8388608 bytes (body cap)")
    );
    // Where the length is not announced, the cap holds while reading.
    let body = "x".repeat(200_000);
    let endless = sends(format!("HTTP/1.1 200 OK\r\n\r\n{body}")).await;
    let capped = builder(&endless).max_body_bytes(100_000).build().unwrap();
    assert!(
        ask(&capped)
            .await
            .unwrap_err()
            .message
            .contains("100000 bytes (body cap)")
    );
    // What is announced but never sent takes no memory.
    let announced = sends("HTTP/1.1 200 OK\r\ncontent-length: 9223372036854775807\r\n\r\n{").await;
    let uncapped = builder(&announced)
        .max_body_bytes(usize::MAX)
        .build()
        .unwrap();
    assert_eq!(
        ask(&uncapped).await.unwrap_err().category,
        Category::Network
    );
}

#[tokio::test]
async fn errors_of_the_provider() {
    for (reply, category) in [
        (
            StubReply::error(401, "authentication_error", 401, "Invalid API Key"),
            Category::ApiKeyError,
        ),
        (
            StubReply::error(403, "permission_error", (), "no"),
            Category::ApiKeyError,
        ),
        (
            StubReply::error(
                404,
                "invalid_request_error",
                "model_not_found",
                "no model m",
            ),
            Category::NotFound,
        ),
        (
            StubReply::error(400, "invalid_request_error", (), "bad field"),
            Category::BadRequest,
        ),
        (
            StubReply::error(400, "x", "context_length_exceeded", "too long"),
            Category::ContextLengthError,
        ),
        (
            StubReply::error(400, "x", "content_filter", "filtered"),
            Category::ContentFilter,
        ),
        (
            StubReply::error(429, "requests", "rate_limit_exceeded", "slow"),
            Category::RateLimitError,
        ),
        (
            StubReply::error(429, "insufficient_quota", "insufficient_quota", "pay"),
            Category::QuotaError,
        ),
        (
            StubReply::error(500, "server_error", (), "oops"),
            Category::ServerError,
        ),
        (StubReply::html(502), Category::ServerError),
        (StubReply::raw(503, "overloaded"), Category::ServerError),
        (
            StubReply::raw(404, r#"{"detail":"Not Found"}"#),
            Category::NotFound,
        ),
    ] {
        let error = error_of(reply).await;
        assert_eq!((error.category, error.retry), (category, None), "{error}");
        assert!(
            error
                .message
                .contains(&format!("answered {}", error.status.unwrap())),
            "{error}"
        );
        assert!(error.request_id.is_some());
    }
    let error = error_of(StubReply::error(
        401,
        "authentication_error",
        401,
        "Invalid API Key",
    ))
    .await;
    assert!(
        error
            .message
            .contains("Invalid API Key; no key was sent: set it with `.api_key(..)`"),
        "{error}"
    );
    let long = error_of(StubReply::error(400, "x", (), &"very ".repeat(10_000))).await;
    assert!(long.message.len() < 700);
}

#[tokio::test]
async fn what_a_server_says_about_another_try() {
    let error = error_of(StubReply::raw(429, "slow").retry_after(20)).await;
    assert_eq!(
        (error.retry, error.retry_after),
        (None, Some(Duration::from_secs(20)))
    );
    let error =
        error_of(StubReply::raw(503, "").header("llm_provider-retry-after-ms", "644")).await;
    assert_eq!(error.retry_after, Some(Duration::from_millis(644)));
    let error =
        error_of(StubReply::raw(429, "slow: please try again in 6m0s").header("retry-after", "0"))
            .await;
    assert_eq!(
        error.retry_after,
        Some(Duration::from_secs(360)),
        "the text says it where no header does"
    );
    let error = error_of(StubReply::raw(429, "please try again in 6m0s").retry_after(2)).await;
    assert_eq!(error.retry_after, Some(Duration::from_secs(2)));
    let error = error_of(StubReply::raw(400, "bad prompt: 'try again in 20s'")).await;
    assert_eq!(
        (error.category, error.retry_after),
        (Category::BadRequest, None)
    );
    let error = error_of(StubReply::raw(429, "").header("retry-after", "1e300")).await;
    assert_eq!(error.retry_after, Some(Duration::MAX));
    let error = error_of(StubReply::raw(400, "").header("x-should-retry", "true")).await;
    assert_eq!(
        (error.category, error.retry),
        (Category::BadRequest, Some(Retry::Transport))
    );
    let error = error_of(StubReply::raw(503, "").header("x-should-retry", "false")).await;
    assert_eq!(
        (error.category, error.retry),
        (Category::ServerError, Some(Retry::No))
    );
}

#[tokio::test]
async fn waits_are_those_of_the_server() {
    let server = server([
        StubReply::raw(429, "slow").retry_after(3),
        StubReply::text("hello"),
    ])
    .await;
    let clock = TestClock::new();
    let run = Run::new(model(&server.base_url())).with_clock(clock.clone());
    assert_eq!(run.call(&Greet).await.unwrap(), "hello");
    assert!(clock.waits()[0] >= Duration::from_secs(3));
    assert_eq!(server.requests_seen(), 2);
}

#[tokio::test]
async fn the_longest_of_repeated_waits_counts() {
    let waits = "retry-after: 5\r\nretry-after: 30\r\nretry-after: 7";
    let answer = |body: &str| {
        let length = body.len();
        format!("HTTP/1.1 429 Slow\r\n{waits}\r\ncontent-length: {length}\r\n\r\n{body}")
    };
    for (body, seconds) in [
        ("{}", 30),
        (r#"{"retry_after":60}"#, 60),
        (r#"{"retry_after":1}"#, 30),
    ] {
        let error = ask(&model(&sends(answer(body)).await)).await.unwrap_err();
        assert_eq!(
            error.retry_after,
            Some(Duration::from_secs(seconds)),
            "{body}"
        );
    }
}

#[tokio::test]
async fn usage_in_an_error_counts() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": -5, "total_tokens": 12});
    let error = json!({"error": {"message": "no", "code": "content_filter"}, "usage": usage});
    let server = server([StubReply::raw(400, error.to_string())]).await;
    let run = Run::new(model(&server.base_url()));
    let error = run.call(&Greet).await.unwrap_err();
    let attempt = &error.attempts()[0];
    assert_eq!(
        (error.category(), attempt.usage.unwrap().input),
        (Category::ContentFilter, Some(10))
    );
    assert_eq!(
        attempt.flags.len(),
        1,
        "the negative figure is unknown, and flagged"
    );
    assert_eq!(run.ledger().total().total.total(), Some(12));
}

#[tokio::test]
async fn events_in_answer_to_a_plain_request_are_read() {
    let sse = |events: &[&str]| {
        let body: String = events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect();
        StubReply::raw(200, body).header("content-type", "text/event-stream")
    };
    let begin = r#"{"id":"r","choices":[{"delta":{"content":"Hel"}}]}"#;
    let end = r#"{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#;
    let failed = r#"{"error":{"code":429,"message":"slow down"}}"#;
    let server = server([
        sse(&[begin, end, "[DONE]"]),
        sse(&[begin, failed]),
        sse(&[begin, "[DONE]"]),
    ])
    .await;
    let model = model(&server.base_url());
    let completion = ask(&model).await.unwrap();
    assert_eq!(
        (completion.text.as_str(), completion.usage.unwrap().input),
        ("Hello", Some(3))
    );
    assert_eq!(
        ask(&model).await.unwrap_err().category,
        Category::RateLimitError
    );
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.category, error.retry), (Category::Network, None));
}

#[tokio::test]
async fn an_answer_of_half_a_character_is_corrected() {
    let body = r#"{"choices":[{"message":{"content":"a \ud83d"},"finish_reason":"stop"}]}"#;
    let server = server([StubReply::raw(200, body), StubReply::text("7")]).await;
    let run = Run::new(model(&server.base_url()));
    let report = run
        .call(&Ask::<u8>(PhantomData))
        .retries(1)
        .report()
        .await
        .unwrap();
    assert_eq!((report.value, report.record.attempts.len()), (7, 2));
    let messages = server.requests()[1].json().unwrap()["messages"].clone();
    assert_eq!(messages[1]["content"], "a \u{fffd}");
    assert!(
        messages[2]["content"]
            .as_str()
            .unwrap()
            .contains("no JSON in the answer"),
        "{messages}"
    );
    let flags = &report.record.attempts[0].flags;
    assert!(
        flags.iter().any(|flag| flag.to_string() == "unreadable"),
        "{flags:?}"
    );
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection() {
    let ((arrive, arrived), (close, closed)) = (oneshot::channel(), oneshot::channel());
    let reports = std::sync::Mutex::new(Some((arrive, close)));
    let base_url = raw_server(move |mut stream| {
        let (arrive, close) = reports.lock().unwrap().take().unwrap();
        async move {
            arrive.send(()).unwrap();
            let end = stream.read(&mut [0; 1]).await;
            close.send(matches!(end, Ok(0) | Err(_))).unwrap();
        }
    })
    .await;
    let model = model(&base_url);
    tokio::select! {
        outcome = ask(&model) => panic!("nothing is answered: {outcome:?}"),
        arrived = arrived => arrived.unwrap(),
    }
    assert!(
        tokio::time::timeout(Duration::from_secs(20), closed)
            .await
            .unwrap()
            .unwrap()
    );
}
