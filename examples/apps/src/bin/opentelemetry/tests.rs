//! What arrives at the exporters.

use opentelemetry::Value;
use opentelemetry::trace::{SpanId, SpanKind, Status};
use opentelemetry_sdk::trace::SpanData;

use super::*;

fn get<'s>(span: &'s SpanData, key: &str) -> Option<&'s Value> {
    span.attributes
        .iter()
        .find(|one| one.key.as_str() == key)
        .map(|one| &one.value)
}

fn text(span: &SpanData, key: &str) -> String {
    get(span, key)
        .map(|value| value.as_str().into_owned())
        .unwrap_or_default()
}

async fn exported() -> (Telemetry, Vec<SpanData>) {
    let telemetry = Telemetry::new();
    let subscribed = telemetry.subscribe();
    assert_eq!(
        explore(&telemetry).await.unwrap(),
        "An oak door. It opens with the key."
    );
    drop(subscribed);
    let spans = telemetry.spans().unwrap();
    (telemetry, spans)
}

#[tokio::test]
async fn calls_are_spans_and_attempts_are_clients_below_them() {
    let (_, spans) = exported().await;
    let named = |name: &str| {
        spans
            .iter()
            .filter(|span| span.name == name)
            .collect::<Vec<_>>()
    };
    let [explore] = named("explore")[..] else {
        panic!("{spans:?}")
    };
    let [choose] = named("choose")[..] else {
        panic!("{spans:?}")
    };
    let [describe] = named("describe")[..] else {
        panic!("{spans:?}")
    };
    let attempts = named("chat gpt-6-luna");
    assert_eq!((attempts.len(), spans.len()), (3, 6));

    assert_eq!(explore.parent_span_id, SpanId::INVALID);
    for call in [choose, describe] {
        assert_eq!(call.parent_span_id, explore.span_context.span_id());
        assert_eq!(
            text(call, "llmnode.call.parent"),
            text(explore, "llmnode.call.id")
        );
        assert_eq!(
            (&call.span_kind, &call.status),
            (&SpanKind::Internal, &Status::Unset)
        );
    }
    let below = |call: &SpanData| {
        let id = call.span_context.span_id();
        attempts
            .iter()
            .filter(|attempt| attempt.parent_span_id == id)
            .count()
    };
    assert_eq!((below(choose), below(describe)), (2, 1));
    assert!(
        spans
            .iter()
            .all(|span| span.span_context.trace_id() == explore.span_context.trace_id())
    );
}

#[tokio::test]
async fn attempts_have_the_attributes_of_the_conventions() {
    let (_, spans) = exported().await;
    let attempts: Vec<_> = spans
        .iter()
        .filter(|span| span.span_kind == SpanKind::Client)
        .collect();
    let of = |kind: &str, node: &str| {
        let is = |span: &&SpanData| {
            text(span, "llmnode.attempt.kind") == kind && text(span, "llmnode.node") == node
        };
        attempts.iter().copied().find(is).unwrap()
    };
    let (bad, good, described) = (
        of("first", "choose"),
        of("correction", "choose"),
        of("first", "describe"),
    );
    for attempt in [bad, good, described] {
        assert_eq!(text(attempt, "gen_ai.operation.name"), "chat");
        assert_eq!(text(attempt, "gen_ai.provider.name"), "custom");
        assert_eq!(text(attempt, "gen_ai.request.model"), "gpt-6-luna");
        assert_eq!(
            text(attempt, "gen_ai.response.finish_reasons"),
            r#"["stop"]"#
        );
        // Numbers arrive as numbers.
        assert_eq!(
            get(attempt, "gen_ai.usage.input_tokens"),
            Some(&Value::I64(10))
        );
        assert!(matches!(
            get(attempt, "gen_ai.usage.output_tokens"),
            Some(Value::I64(1..))
        ));
        assert!(text(attempt, "llmnode.attempt.id").starts_with(&text(attempt, "llmnode.call.id")));
        assert!(
            get(attempt, "gen_ai.input.messages").is_none() && get(attempt, "otel.name").is_none()
        );
    }
    assert_eq!(
        get(good, "gen_ai.request.temperature"),
        None,
        "nobody set one"
    );
    assert_eq!(
        get(described, "gen_ai.request.max_tokens"),
        Some(&Value::I64(100))
    );
    assert_eq!(text(bad, "error.type"), "validation_error");
    assert!(matches!(bad.status, Status::Error { .. }));
    assert!(get(good, "error.type").is_none() && good.status == Status::Unset);
}

#[tokio::test]
async fn metrics_come_from_the_hook() {
    let (telemetry, _) = exported().await;
    let metrics = telemetry.metrics().unwrap();
    assert!(
        metrics.contains(&("gen_ai.client.operation.duration".to_owned(), 3)),
        "{metrics:?}"
    );
    assert!(
        metrics.contains(&("gen_ai.client.token.usage".to_owned(), 6)),
        "{metrics:?}"
    );
}

#[tokio::test]
async fn the_tree_shows_what_stands_below_what() {
    let (_, spans) = exported().await;
    let tree = tree::of(&spans);
    let lines: Vec<_> = tree.lines().filter(|line| !line.contains('·')).collect();
    assert_eq!(
        lines,
        [
            "explore",
            "  choose",
            "    chat gpt-6-luna failed",
            "    chat gpt-6-luna",
            "  describe",
            "    chat gpt-6-luna"
        ]
    );
}
