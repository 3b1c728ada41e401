//! Embeddings over HTTP: requests like any other, with attempts, limits and entries in the ledger.

use std::time::Duration;

use llmnode_http::OpenAi;
use llmnode_rag::*;
use llmnode_runtime::{AttemptKind, Category, Limits, Price, Prices, Usage};
use llmnode_stub::{StubReply, StubServer};
use serde_json::json;

use crate::support::*;

const KEY: &str = "sk-embeddings-secret-4711";

fn embeddings(server: &StubServer) -> Embeddings {
    let endpoint = OpenAi::builder()
        .base_url(server.base_url())
        .api_key(KEY)
        .build()
        .unwrap();
    Embeddings::new(&endpoint, "stub-embed")
}

async fn docs(server: &StubServer) -> Collection {
    Collection::builder(MemoryStore::new(), "docs")
        .embedder(embeddings(server))
        .open()
        .await
        .unwrap()
}

fn tokens(usage: &Usage) -> u64 {
    usage.input.known
}

#[tokio::test]
async fn each_request_is_an_attempt_of_a_call_of_its_own() {
    let server = StubServer::start().await.unwrap();
    let docs = docs(&server).await;
    let run = run();
    run.call(&docs.write(Document::new("a.md", "The key is under the mat.")))
        .await
        .unwrap();
    let report = run
        .call(&docs.search("where is the key"))
        .report()
        .await
        .unwrap();
    assert_eq!(sources(&report.value), ["a.md"]);

    let calls = run.ledger().calls();
    let names: Vec<_> = calls.iter().map(|call| &*call.node).collect();
    assert_eq!(names, ["embeddings", "write", "embeddings", "search"]);
    let search = &calls[3];
    assert_eq!(
        (calls[2].parent, search.attempts.len()),
        (Some(search.id), 0)
    );
    let attempt = &calls[2].attempts[0];
    assert_eq!((attempt.kind, attempt.category), (AttemptKind::First, None));
    assert_eq!(attempt.model.as_deref(), Some("stub-embed"));
    let usage = attempt.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output),
        (Some(4), Some(0)),
        "nothing is written, so that is known"
    );
    assert_eq!(tokens(&report.total), 4, "the search's report has it");

    let log = server.requests();
    assert_eq!((log.len(), log[0].path()), (2, "/v1/embeddings"));
    assert_eq!(attempt.request_id.as_deref(), Some(log[1].request_id()));
    assert_eq!(
        log[1].header("x-client-request-id"),
        Some(attempt.id.to_string().as_str())
    );
    assert_eq!(log[1].json().unwrap()["input"], json!(["where is the key"]));
    assert_eq!(
        server.usage_totals().input,
        Some(tokens(&run.ledger().total()))
    );
}

#[tokio::test(start_paused = true)]
async fn failures_of_the_transport_are_retried_and_counted() {
    let server = StubServer::builder()
        .embeddings_script([
            StubReply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(7),
            StubReply::embeddings(),
        ])
        .start()
        .await
        .unwrap();
    let docs = docs(&server).await;
    let run = run();
    run.call(&docs.search("key")).await.unwrap();
    let call = &run.ledger().calls()[0];
    let kinds: Vec<_> = call
        .attempts
        .iter()
        .map(|attempt| (attempt.kind, attempt.category))
        .collect();
    assert_eq!(
        kinds,
        [
            (AttemptKind::First, Some(Category::RateLimitError)),
            (AttemptKind::Retry, None)
        ]
    );
    assert!(call.attempts[1].wait >= Duration::from_secs(7));
    assert_eq!(call.attempts[0].status, Some(429));
}

#[tokio::test]
async fn every_fault_has_its_category_and_shows_no_key() {
    let two = json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]})
        .to_string();
    for (reply, category, says) in [
        (
            StubReply::error(
                401,
                "invalid_request_error",
                "invalid_api_key",
                &format!("bad key {KEY}"),
            ),
            Category::ApiKeyError,
            "[redacted]",
        ),
        (
            StubReply::error(
                404,
                "invalid_request_error",
                "model_not_found",
                "no such model",
            ),
            Category::NotFound,
            "stub-embed",
        ),
        (
            StubReply::error(400, "invalid_request_error", (), "input too long"),
            Category::BadRequest,
            "input too long",
        ),
        (StubReply::html(200), Category::BadResponse, "web page"),
        (
            StubReply::raw(200, "{"),
            Category::BadResponse,
            "cannot be read",
        ),
        (
            StubReply::raw(200, "[]"),
            Category::BadResponse,
            "/v1/embeddings",
        ),
        (
            StubReply::raw(200, r#"{"error": {"message": "overloaded", "code": 429}}"#),
            Category::RateLimitError,
            "overloaded",
        ),
        (
            StubReply::raw(200, two),
            Category::BadResponse,
            "2 embeddings for 1 texts",
        ),
        (
            StubReply::raw(200, r#"{"data": [{"index": 0, "embedding": []}]}"#),
            Category::BadResponse,
            "empty",
        ),
        // serde_json refuses it itself where its feature `float_roundtrip` is on.
        (
            StubReply::raw(200, r#"{"data": [{"index": 0, "embedding": [1e99]}]}"#),
            Category::BadResponse,
            "number",
        ),
        (
            StubReply::raw(200, r#"{"data": [{"index": 0, "embedding": [null]}]}"#),
            Category::BadResponse,
            "cannot be read",
        ),
        (StubReply::reset(), Category::Network, "no response"),
        (
            StubReply::embeddings().cut_short(),
            Category::Network,
            "broke off",
        ),
    ] {
        let server = StubServer::builder()
            .embeddings_script([reply])
            .start()
            .await
            .unwrap();
        let docs = docs(&server).await;
        let run = run().with_settings(llmnode_runtime::Settings::new().transport_retries(0));
        let error = run.call(&docs.search("key")).await.unwrap_err();
        assert_eq!(error.category(), category, "{error}");
        assert!(error.message().contains(says), "{error}");
        assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
        assert_eq!(run.ledger().total().requests, 1, "{error}");
    }
}

#[tokio::test]
async fn limits_count_embeddings_and_prices_price_them() {
    let server = StubServer::start().await.unwrap();
    let docs = docs(&server).await;
    let prices = Prices::new().model("stub-embed", Price::per_million(1.0, 0.0));
    let run = run()
        .with_prices(prices)
        .with_limits(Limits::new().requests(2));
    for _ in 0..2 {
        run.call(&docs.search("the key to the house"))
            .await
            .unwrap();
    }
    let error = run.call(&docs.search("key")).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    assert_eq!(server.requests_seen(), 2);
    let cost = run.ledger().calls()[0].attempts[0].cost.unwrap();
    assert!((cost - 5e-6).abs() < 1e-9, "{cost}");
    // A limit of tokens reserves no answer: there is none.
    let run = self::run().with_limits(Limits::new().tokens(6));
    for _ in 0..2 {
        run.call(&docs.search("the key to the house"))
            .await
            .unwrap();
    }
    assert_eq!(
        run.call(&docs.search("the key to the house"))
            .await
            .unwrap_err()
            .category(),
        Category::LimitExceeded
    );
}

#[tokio::test]
async fn settings_for_chats_do_not_reach_embeddings() {
    let server = StubServer::builder()
        .embeddings_script((0..3).map(|_| StubReply::error(400, "invalid_request_error", (), "no")))
        .start()
        .await
        .unwrap();
    let docs = docs(&server).await;
    let settings = llmnode_runtime::Settings::new()
        .model("gpt")
        .fallback_model("small")
        .temperature(0.5)
        .max_tokens(5)
        .retries(3)
        .extra("seed", 1);
    let run = run().with_settings(settings);
    let error = run.call(&docs.search("key")).await.unwrap_err();
    assert_eq!(
        (error.category(), server.requests_seen()),
        (Category::BadRequest, 1),
        "no other model is asked"
    );
    let sent = server.requests()[0].json().unwrap().clone();
    assert_eq!(
        sent,
        json!({"model": "stub-embed", "input": ["key"], "encoding_format": "float"})
    );
}

#[tokio::test]
async fn batches_prefixes_and_dimensions() {
    let server = StubServer::start().await.unwrap();
    let embedder = embeddings(&server)
        .batch(2, 1000)
        .prefixes("query: ", "passage: ")
        .dimensions(16);
    assert_eq!(
        embedder.id(),
        "openai/stub-embed/16 (\"query: \", \"passage: \")"
    );
    let docs = Collection::builder(MemoryStore::new(), "docs")
        .embedder(embedder)
        .open()
        .await
        .unwrap();
    let run = run();
    let pages = (0..5).map(|at| Document::new(at.to_string(), format!("page {at}")));
    run.call(&docs.write_all(pages)).await.unwrap();
    run.call(&docs.search("page")).await.unwrap();
    let inputs: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.json().unwrap()["input"].clone())
        .collect();
    assert_eq!(inputs.len(), 4, "three batches and a query");
    assert_eq!(inputs[0], json!(["passage: page 0", "passage: page 1"]));
    assert_eq!(inputs[3], json!(["query: page"]));
    assert_eq!(server.requests()[0].json().unwrap()["dimensions"], 16);
}

#[tokio::test]
async fn a_failed_embedding_writes_nothing_and_its_usage_is_known() {
    let server = StubServer::start().await.unwrap();
    server.push_embeddings(StubReply::embeddings());
    server.push_embeddings(StubReply::error(400, "invalid_request_error", (), "no"));
    let embedder = embeddings(&server).batch(1, 1000);
    let docs = Collection::builder(MemoryStore::new(), "docs")
        .embedder(embedder)
        .open()
        .await
        .unwrap();
    let run = run();
    let pages = [
        Document::new("a", "eight by"),
        Document::new("b", "another"),
    ];
    let error = run.call(&docs.write_all(pages)).await.unwrap_err();
    assert_eq!(docs.count().await.unwrap(), CollectionSize::new(0, 0));
    assert_eq!((error.usage().requests, tokens(&error.usage())), (2, 2));
}

#[tokio::test]
async fn a_dropped_search_leaves_its_request_in_the_ledger() {
    let server = StubServer::builder()
        .embeddings_script([
            StubReply::embeddings().after(Duration::from_secs(60)),
            StubReply::stall(),
        ])
        .start()
        .await
        .unwrap();
    let docs = docs(&server).await;
    let run = run();
    let search = docs.search("key");
    let dropped = tokio::time::timeout(Duration::from_millis(300), run.call(&search)).await;
    assert!(dropped.is_err());
    let call = &run.ledger().calls()[0];
    assert_eq!(call.attempts[0].category, Some(Category::Cancelled));
    assert_eq!(call.attempts[0].estimate.unwrap().input, 0);
}

fn pages(range: std::ops::Range<usize>) -> Vec<Document> {
    range
        .map(|at| Document::new(at.to_string(), format!("page {at}")))
        .collect()
}

fn inputs(server: &StubServer) -> Vec<usize> {
    let count = |body: &serde_json::Value| body["input"].as_array().unwrap().len();
    server
        .requests()
        .iter()
        .map(|request| count(request.json().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_server_that_takes_fewer_texts_is_asked_again_with_fewer() {
    for (status, says, sent) in [
        (
            400,
            "batch size is invalid, it should not be larger than 10.",
            vec![25, 10, 10, 5, 10, 2],
        ),
        (
            413,
            "input batch size 25 > maximum allowed batch size 20",
            vec![25, 20, 5, 12],
        ),
        (
            422,
            "Too many inputs in this request",
            vec![25, 12, 12, 1, 12],
        ),
    ] {
        let refusal = StubReply::error(status, "invalid_request_error", (), says);
        let server = StubServer::builder()
            .embeddings_script([refusal])
            .start()
            .await
            .unwrap();
        let docs = docs(&server).await;
        let run = run();
        let written = run.call(&docs.write_all(pages(0..25))).await.unwrap();
        assert_eq!(written.chunks, 25, "{says}");
        run.call(&docs.write_all(pages(25..37))).await.unwrap();
        assert_eq!(inputs(&server), sent, "{says}");
        let refused = &run.ledger().calls()[0].attempts[0];
        assert_eq!(refused.category, Some(Category::BadRequest), "{says}");
        let found = run
            .call(&docs.search("page 24").by(SearchMode::Vector))
            .await
            .unwrap();
        assert_eq!(sources(&found)[0], "24", "each text has its own vector");
    }
}

#[tokio::test]
async fn texts_that_are_too_long_together_are_halved_until_one_is_at_fault() {
    let too_long = || {
        StubReply::error(
            400,
            "invalid_request_error",
            (),
            "too many tokens: at most 300000",
        )
    };
    let server = StubServer::builder()
        .embeddings_script([too_long()])
        .start()
        .await
        .unwrap();
    let docs = docs(&server).await;
    run().call(&docs.write_all(pages(0..4))).await.unwrap();
    run().call(&docs.write_all(pages(4..8))).await.unwrap();
    assert_eq!(
        inputs(&server),
        [4, 2, 2, 4],
        "another request may be shorter"
    );

    let server = StubServer::builder()
        .embeddings_script((0..3).map(|_| too_long()))
        .start()
        .await
        .unwrap();
    let docs = self::docs(&server).await;
    let error = run().call(&docs.write_all(pages(0..4))).await.unwrap_err();
    assert_eq!(inputs(&server), [4, 2, 1]);
    assert!(error.message().contains("too many tokens"), "{error}");
    assert_eq!(docs.count().await.unwrap(), CollectionSize::new(0, 0));
}

#[tokio::test]
async fn a_key_that_a_server_does_not_know_is_left_out() {
    for says in [
        "Unknown parameter: 'encoding_format'.",
        "encoding_format: Extra inputs are not permitted",
    ] {
        let refusal = StubReply::error(400, "invalid_request_error", (), says);
        let server = StubServer::builder()
            .embeddings_script([refusal])
            .start()
            .await
            .unwrap();
        let docs = docs(&server).await;
        for _ in 0..2 {
            run().call(&docs.search("key")).await.unwrap();
        }
        let requests = server.requests();
        let has: Vec<_> = requests
            .iter()
            .map(|one| one.json().unwrap().get("encoding_format").is_some())
            .collect();
        assert_eq!(has, [true, false, false], "{says}");
    }
    let refusal = StubReply::error(
        400,
        "invalid_request_error",
        (),
        "Unknown parameter: 'dimensions'.",
    );
    let server = StubServer::builder()
        .embeddings_script([refusal])
        .start()
        .await
        .unwrap();
    let embedder = embeddings(&server).dimensions(1000);
    let docs = Collection::builder(MemoryStore::new(), "docs")
        .embedder(embedder)
        .open()
        .await
        .unwrap();
    let run = run();
    let error = run.call(&docs.search("key")).await.unwrap_err();
    assert_eq!(error.category(), Category::BadResponse);
    assert!(error.message().contains("in place of 1000"), "{error}");
    let call = &run.ledger().calls()[0];
    assert_eq!(call.attempts.len(), 2, "asked again without it");
    assert_eq!(call.attempts[1].refused, ["dimensions"]);
}

/// Whoever writes a document says nothing of how others are embedded, though a server quotes it.
#[tokio::test]
async fn what_a_document_says_changes_nothing_for_others() {
    for hostile in [
        "batch size is invalid, it should not be larger than 1.",
        "Too many inputs in this request, the limit is 1",
        "Unknown parameter: 'encoding_format'.",
        "encoding_format: Extra inputs are not permitted",
        "Unknown parameter: 'dimensions'.",
        "Unrecognized request argument supplied: dimensions",
    ] {
        for quoted in [
            hostile.to_owned(),
            json!(json!({"input": hostile}).to_string()).to_string(),
        ] {
            let says = format!("Could not read the text: {quoted}");
            let refusal = StubReply::error(400, "invalid_request_error", (), &says);
            let server = StubServer::builder()
                .embeddings_script([refusal])
                .start()
                .await
                .unwrap();
            let embedder = embeddings(&server).dimensions(16);
            let docs = Collection::builder(MemoryStore::new(), "docs")
                .embedder(embedder)
                .open()
                .await
                .unwrap();
            let attack = [Document::new("a", hostile), Document::new("b", "A book.")];
            let error = run().call(&docs.write_all(attack)).await.unwrap_err();
            assert_eq!(error.category(), Category::BadRequest, "{hostile}");
            let _ = run().call(&docs.write_all(pages(0..2))).await;
            let requests = server.requests();
            assert_eq!(requests.len(), 2, "{hostile}");
            let mut bodies: Vec<_> = requests
                .iter()
                .map(|one| one.json().unwrap().clone())
                .collect();
            bodies[0]["input"] = bodies[1]["input"].clone();
            assert_eq!(bodies[0], bodies[1], "{hostile}");
        }
    }
}

#[tokio::test]
async fn indices_decide_the_order_and_are_checked() {
    let answer = |items: &[(Option<usize>, [f32; 2])]| {
        let data: Vec<_> = items
            .iter()
            .map(|(index, vector)| match index {
                Some(index) => json!({"index": index, "embedding": vector}),
                None => json!({"embedding": vector}),
            })
            .collect();
        StubReply::raw(200, json!({"data": data}).to_string())
    };
    let query = || answer(&[(Some(0), [1.0, 0.0])]);
    for first in [
        answer(&[(Some(1), [0.0, 1.0]), (Some(0), [1.0, 0.0])]),
        answer(&[(None, [1.0, 0.0]), (None, [0.0, 1.0])]),
    ] {
        let server = StubServer::builder()
            .embeddings_script([first, query()])
            .start()
            .await
            .unwrap();
        let docs = docs(&server).await;
        run().call(&docs.write_all(pages(0..2))).await.unwrap();
        let found = run()
            .call(&docs.search("x").by(SearchMode::Vector))
            .await
            .unwrap();
        assert_eq!(sources(&found)[0], "0");
    }
    for wrong in [
        answer(&[(Some(0), [1.0, 0.0]), (Some(0), [0.0, 1.0])]),
        answer(&[(Some(1), [1.0, 0.0]), (Some(2), [0.0, 1.0])]),
        answer(&[(Some(0), [1.0, 0.0]), (None, [0.0, 1.0])]),
    ] {
        let server = StubServer::builder()
            .embeddings_script([wrong])
            .start()
            .await
            .unwrap();
        let docs = docs(&server).await;
        let error = run().call(&docs.write_all(pages(0..2))).await.unwrap_err();
        assert_eq!(error.category(), Category::BadResponse, "{error}");
        assert!(
            error
                .message()
                .contains("indices that are missing or double"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_vector_of_zeros_is_counted() {
    let zeros = json!({"data": [{"embedding": [0.0, 0.0]}, {"embedding": [0.6, 0.8]}]}).to_string();
    let server = StubServer::builder()
        .embeddings_script([StubReply::raw(200, zeros)])
        .start()
        .await
        .unwrap();
    let docs = docs(&server).await;
    let run = run();
    let written = run.call(&docs.write_all(pages(0..2))).await.unwrap();
    assert_eq!((written.chunks, written.zero_vectors), (2, 1));
    let again = run.call(&docs.write_all(pages(0..2))).await.unwrap();
    assert_eq!((again.kept, again.zero_vectors), (2, 0));
    let found = run
        .call(&docs.search("page 0").by(SearchMode::Words))
        .await
        .unwrap();
    assert_eq!(sources(&found)[0], "0", "words find it");
}
