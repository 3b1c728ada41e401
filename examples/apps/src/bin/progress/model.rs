//! A model that takes its time.

use std::time::Duration;

use llmnode::{BoxFuture, ChatModel, Completion, ModelError, Request, Sink};

/// Judges by the number in the review, after up to a tenth of a second.
pub(crate) struct SlowModel;

impl ChatModel for SlowModel {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let number = number(request);
            tokio::time::sleep(Duration::from_millis(20 + number * 37 % 80)).await;
            if number % 50 == 49 {
                let mut refused = Completion::new("");
                refused.refusal = Some("I would rather not judge this one.".to_owned());
                return Ok(refused);
            }
            let mood = if number.is_multiple_of(3) {
                "Annoyed"
            } else {
                "Pleased"
            };
            Ok(Completion::new(format!("{{\"value\": \"{mood}\"}}")))
        })
    }
}

/// What the prompt ends with.
fn number(request: &Request) -> u64 {
    let review = request
        .messages
        .last()
        .map_or("", |message| message.content.as_str());
    review
        .rsplit(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
