//! Spans as a tree.

use std::fmt::Write;

use opentelemetry::trace::{SpanId, Status};
use opentelemetry_sdk::trace::SpanData;

/// The spans, each below its parent, with those attributes that say something here.
pub fn of(spans: &[SpanData]) -> String {
    let mut spans: Vec<_> = spans.iter().collect();
    spans.sort_by_key(|span| span.start_time);
    let mut tree = String::new();
    below(SpanId::INVALID, 0, &spans, &mut tree);
    tree
}

fn below(parent: SpanId, depth: usize, spans: &[&SpanData], to: &mut String) {
    for span in spans.iter().filter(|span| span.parent_span_id == parent) {
        let failed = if matches!(span.status, Status::Error { .. }) {
            " failed"
        } else {
            ""
        };
        // Writing to a `String` does not fail.
        let _ = writeln!(
            to,
            "{:indent$}{}{failed}",
            "",
            span.name,
            indent = 2 * depth
        );
        for attribute in span
            .attributes
            .iter()
            .filter(|one| is_shown(one.key.as_str()))
        {
            let (key, value) = (&attribute.key, &attribute.value);
            let _ = writeln!(to, "{:indent$}  · {key} = {value}", "", indent = 2 * depth);
        }
        below(span.span_context.span_id(), depth + 1, spans, to);
    }
}

/// The layer adds the place in the code and the thread.
fn is_shown(key: &str) -> bool {
    ["gen_ai.", "llmnode.", "error."]
        .iter()
        .any(|prefix| key.starts_with(prefix))
}
