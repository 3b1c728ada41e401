//! An order that is one JSON document.

use std::sync::Arc;

#[cfg(any(feature = "anthropic", feature = "gemini"))]
use bytes::Bytes;
#[cfg(any(feature = "anthropic", feature = "gemini"))]
use llmnode_model::batch::{BatchOrder, OrderLine};

/// The body that an order is sent with, and sent again with if need be. `before`:
/// what stands in front of the body of a line, which ends with a bracket. OpenAI's
/// order is a file.
#[cfg(any(feature = "anthropic", feature = "gemini"))]
pub(crate) fn order_body(
    order: &mut BatchOrder,
    begin: &str,
    end: &str,
    before: impl Fn(&OrderLine) -> String,
) -> Bytes {
    if let Some(body) = &order.body {
        return Bytes::from_owner(Shared(Arc::clone(body)));
    }
    // Taken, and dropped one by one: no line is in memory twice for long.
    let lines = std::mem::take(&mut order.lines);
    let bytes: usize = lines.iter().map(|line| line.body.len() + 128).sum();
    let mut body = Vec::with_capacity(bytes + begin.len() + end.len());
    body.extend_from_slice(begin.as_bytes());
    for (at, line) in lines.into_iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(before(&line).as_bytes());
        body.extend_from_slice(&line.body);
        body.push(b'}');
    }
    body.extend_from_slice(end.as_bytes());
    let body = Arc::new(body);
    order.body = Some(Arc::clone(&body));
    Bytes::from_owner(Shared(body))
}

/// What a connection sends of an order.
pub(crate) struct Shared(pub(crate) Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
