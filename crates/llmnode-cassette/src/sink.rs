//! Records what a model reports while it answers, and replays it.

use llmnode_model::ext::{PromptParts, Redactor};
use std::time::Duration;

use llmnode_model::gate::RateLimits;
use llmnode_runtime::{ApiKind, BoxFuture, Delta, Flag, ResponseFormat, Sink, TokenUsage};

use crate::entry::{AttemptMetadata, ReasoningPiece, RecordedStream};

pub(crate) struct RecordingSink<'a> {
    outer: &'a mut dyn Sink,
    metadata: AttemptMetadata,
    text: String,
    stream: RecordedStream,
}

impl<'a> RecordingSink<'a> {
    pub(crate) fn new(outer: &'a mut dyn Sink) -> Self {
        RecordingSink {
            outer,
            metadata: AttemptMetadata::default(),
            text: String::new(),
            stream: RecordedStream::default(),
        }
    }

    /// `answer`: the text of the answer, and the same as written to the file.
    pub(crate) fn finish(
        self,
        answer: Option<(&str, &str)>,
        redactor: &Redactor,
    ) -> (AttemptMetadata, Option<RecordedStream>) {
        let RecordingSink {
            mut metadata,
            text,
            mut stream,
            ..
        } = self;
        metadata
            .refused
            .iter_mut()
            .for_each(|part| *part = redactor.text(part));
        if text.is_empty() && stream.reasoning.is_empty() {
            return (metadata, None);
        }
        let written = match answer {
            Some((answer, written)) if answer == text => written.to_owned(),
            Some(_) => return (metadata, None),
            None => stream.text.insert(redactor.text(&text)).clone(),
        };
        // After the first redaction, it is unknown where a piece ended.
        let same = text
            .bytes()
            .zip(written.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let whole = text == written;
        stream.boundaries.retain(|at| whole || *at <= same);
        stream.reasoning = clean_reasoning(stream.reasoning, redactor);
        if !whole {
            stream
                .reasoning
                .iter_mut()
                .for_each(|thought| thought.at = thought.at.min(same));
        }
        (metadata, Some(stream))
    }
}

/// Redacted as one text, since a piece may hold half a secret; from the first
/// change on, it is one piece.
fn clean_reasoning(mut pieces: Vec<ReasoningPiece>, redactor: &Redactor) -> Vec<ReasoningPiece> {
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let clean = redactor.text(&whole);
    if clean == whole {
        return pieces;
    }
    let same = whole
        .bytes()
        .zip(clean.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let mut kept = 0;
    let mut end = 0;
    while let Some(piece) = pieces
        .get(kept)
        .filter(|piece| end + piece.text.len() <= same)
    {
        end += piece.text.len();
        kept += 1;
    }
    pieces.truncate(kept + 1);
    // The tail belongs to the piece that changed, or to the last one if none did.
    let rest = clean.get(end..).unwrap_or_default();
    match pieces.get_mut(kept) {
        Some(changed) => changed.text = rest.to_owned(),
        None => pieces
            .last_mut()
            .into_iter()
            .for_each(|last| last.text.push_str(rest)),
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

impl Sink for RecordingSink<'_> {
    fn wait(&self, time: Option<Duration>) -> BoxFuture<'_, ()> {
        self.outer.wait(time)
    }

    fn request_id(&mut self, id: &str) {
        self.outer.request_id(id);
    }

    fn wants_prompt(&self) -> bool {
        self.outer.wants_prompt()
    }

    fn prompt_before(&self) -> Option<&PromptParts> {
        self.outer.prompt_before()
    }

    fn prompt(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        self.outer.prompt(parts, ttl);
    }

    fn begins(&mut self) {
        self.outer.begins();
    }

    fn usage(&mut self, usage: TokenUsage) {
        self.outer.usage(usage);
    }

    fn response_format(&mut self, response_format: ResponseFormat) {
        self.metadata.response_format = Some(response_format);
        self.outer.response_format(response_format);
    }

    // Not written: whichever API carried a request, it is the same one.
    fn api(&mut self, api: ApiKind) {
        self.outer.api(api);
    }

    fn refused(&mut self, part: &str) {
        self.metadata.refused.push(part.to_owned());
        self.outer.refused(part);
    }

    fn unsent(&mut self) {
        self.outer.unsent();
    }

    fn flag(&mut self, flag: Flag) {
        self.metadata.flags.push(flag.clone());
        self.outer.flag(flag);
    }

    fn wants_rate_limits(&self) -> bool {
        self.outer.wants_rate_limits()
    }

    fn rate_limits(&mut self, limits: RateLimits) {
        self.outer.rate_limits(limits);
    }

    fn listens(&self) -> bool {
        self.outer.listens()
    }

    fn delta(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => {
                if !self.text.is_empty() {
                    self.stream.boundaries.push(self.text.len());
                }
                self.text.push_str(text);
            }
            Delta::Reasoning(text) => {
                let piece = ReasoningPiece {
                    at: self.text.len(),
                    text: text.to_owned(),
                };
                self.stream.reasoning.push(piece);
            }
            _ => {}
        }
        self.outer.delta(delta);
    }
}

/// Yields between pieces, so that each is an event.
pub(crate) async fn replay(
    metadata: &AttemptMetadata,
    stream: Option<&RecordedStream>,
    text: &str,
    sink: &mut dyn Sink,
) {
    if let Some(response_format) = metadata.response_format {
        sink.response_format(response_format);
    }
    metadata.refused.iter().for_each(|part| sink.refused(part));
    metadata
        .flags
        .iter()
        .for_each(|flag| sink.flag(flag.clone()));
    let Some(stream) = stream.filter(|_| sink.listens()) else {
        return;
    };
    let text = stream.text.as_deref().unwrap_or(text);
    let mut thoughts = stream.reasoning.iter().peekable();
    let mut from = 0;
    for at in stream.boundaries.iter().copied().chain([text.len()]) {
        while let Some(thought) = thoughts.next_if(|thought| thought.at <= from) {
            sink.delta(Delta::Reasoning(&thought.text));
            tokio::task::yield_now().await;
        }
        // The boundaries of an edited file may be invalid.
        if let Some(piece) = text.get(from..at).filter(|piece| !piece.is_empty()) {
            sink.delta(Delta::Text(piece));
            tokio::task::yield_now().await;
            from = at;
        }
    }
    thoughts.for_each(|thought| sink.delta(Delta::Reasoning(&thought.text)));
}
