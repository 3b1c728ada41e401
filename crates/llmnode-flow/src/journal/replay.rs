//! Answers of models and results of tools that an earlier process got, and that are returned again.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use llmnode_model::internal::{is_old_hash, sha256, sha256_hex};
use llmnode_reader::text::plural;
use llmnode_runtime::ext::{Compaction, JournaledAnswer};
use llmnode_runtime::{Message, Request, ToolCall, Usage};
use serde_json::json;

use super::record::{Answered, Compacted, ToolEnded};

type Answer = (JournaledAnswer, Option<Box<Usage>>);

/// A conversation is known by the request that it begins with, the tool call that
/// it is within, and its place among equals. A tool call whose result was kept is
/// not made again, so its conversations must not count for others.
#[derive(Default)]
pub(super) struct ReplayStore {
    prefix: String,
    answers: HashMap<(String, String), VecDeque<Answer>>,
    results: HashMap<(String, String), VecDeque<Message>>,
    compactions: HashMap<(String, String), VecDeque<Compaction>>,
    /// How many conversations began with each request.
    begun: HashMap<String, usize>,
    /// Places among them that items of a map left without an answer: each is asked
    /// again, and keeps its place.
    left: HashMap<String, BTreeSet<usize>>,
}

impl ReplayStore {
    pub(super) fn new(prefix: String, left: Vec<ReplayEntry>) -> Self {
        let mut replay = ReplayStore {
            prefix,
            ..ReplayStore::default()
        };
        for one in left {
            match one {
                ReplayEntry::Answer(answered, usage) => {
                    let Answered {
                        request,
                        conversation,
                        answer: text,
                        calls,
                        carried,
                        carried_by_answer,
                        model,
                        rejected,
                        found,
                        ..
                    } = answered;
                    let accepted = !rejected;
                    // A turn that the provider paused has no calls.
                    let is_round = !calls.is_empty() || carried.is_some();
                    let conversation = conversation.unwrap_or_default();
                    let carried = carried.or(carried_by_answer).map(Arc::new);
                    let answer = JournaledAnswer {
                        text,
                        calls,
                        carried,
                        is_round,
                        accepted,
                        model,
                        found,
                    };
                    replay
                        .answers
                        .entry((conversation, request))
                        .or_default()
                        .push_back((answer, usage));
                }
                ReplayEntry::Compaction(compacted) => replay
                    .compactions
                    .entry((compacted.conversation, compacted.request))
                    .or_default()
                    .push_back(compacted.compaction),
                ReplayEntry::Result(ended) => {
                    let result = if ended.failed {
                        ended.result.failed()
                    } else {
                        ended.result
                    };
                    replay
                        .results
                        .entry((ended.conversation, ended.call))
                        .or_default()
                        .push_back(result);
                }
            }
        }
        replay
    }

    pub(super) fn conversation(
        &mut self,
        request: &Request,
        names: [Option<&str>; 3],
        within: Option<&str>,
    ) -> String {
        let name = name(request, names);
        let name = within.map_or_else(
            || name.clone(),
            |call| sha256_hex(json!([call, name]).to_string().as_bytes()),
        );
        let place = self
            .left
            .get_mut(&name)
            .and_then(BTreeSet::pop_first)
            .unwrap_or_else(|| {
                let begun = self.begun.entry(name.clone()).or_default();
                *begun += 1;
                *begun - 1
            });
        format!("{}{name}-{place}", self.prefix)
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(super) fn put_back(&mut self, conversations: &[Arc<str>]) {
        for conversation in conversations {
            let rest = conversation
                .strip_prefix(&self.prefix)
                .and_then(|rest| rest.rsplit_once('-'));
            if let Some((name, place)) =
                rest.and_then(|(name, place)| Some((name, place.parse().ok()?)))
            {
                self.left.entry(name.to_owned()).or_default().insert(place);
            }
        }
    }

    pub(super) fn answer(&mut self, conversation: &str, request: &str) -> Option<Answer> {
        self.answers
            .get_mut(&(conversation.to_owned(), request.to_owned()))?
            .pop_front()
    }

    pub(super) fn compaction(&mut self, conversation: &str, request: &str) -> Option<Compaction> {
        self.compactions
            .get_mut(&(conversation.to_owned(), request.to_owned()))?
            .pop_front()
    }

    pub(super) fn result(&mut self, conversation: &str, call: &ToolCall) -> Option<Message> {
        self.results
            .get_mut(&(conversation.to_owned(), name_of_call(call)))?
            .pop_front()
    }

    /// What its answers used, in words. `None`: it has none that a request could match.
    pub(super) fn figures(&self) -> Option<String> {
        if self.answers.keys().all(|(_, request)| is_old_hash(request)) {
            return None;
        }
        let (count, unknown, usage) = self.count();
        let of_unknown = if unknown > 0 {
            format!("; unknown of {unknown}")
        } else {
            String::new()
        };
        let answers = plural(count, "answer");
        let tokens = usage.total.known;
        let cost = usage.cost.known();
        (count > 0).then(|| format!("{answers} ({tokens} tokens, cost {cost}{of_unknown})"))
    }

    /// How many answers there are, of how many it is unknown what they used, and
    /// what the others did.
    fn count(&self) -> (u64, u64, Usage) {
        let mut count = 0;
        let mut unknown = 0;
        let mut usage = Usage::default();
        for (_, used) in self.answers.values().flatten() {
            count += 1;
            match used {
                Some(used) => usage += **used,
                None => unknown += 1,
            }
        }
        (count, unknown, usage)
    }

    pub(super) fn warn_of_unused(&self) {
        let (unused, unknown, usage) = self.count();
        if unused > 0 {
            tracing::warn!(
                target: "llmnode::journal", unused, unknown, tokens = usage.total.known, cost = usage.cost.known(),
                "{unused} answers in the journal were not used, since other requests were made, as \
                 after a changed prompt; they took {} tokens and cost {}; of {unknown} it is \
                 unknown",
                usage.total.known, usage.cost.known()
            );
        }
    }

    /// What a completed step left is of no use to the next one.
    pub(super) fn next_step(&mut self, prefix: String) {
        self.warn_of_unused();
        *self = ReplayStore {
            prefix,
            ..ReplayStore::default()
        };
    }
}

#[derive(Clone)]
pub(super) enum ReplayEntry {
    Answer(Answered, Option<Box<Usage>>),
    Result(ToolEnded),
    Compaction(Compacted),
}

pub(super) fn name_of_call(call: &ToolCall) -> String {
    sha256_hex(
        json!([call.id, call.name, call.arguments])
            .to_string()
            .as_bytes(),
    )
}

/// The id of a request in a batch: 43 letters, digits, `-` and `_`, which every
/// provider takes. A conversation has the id of its journal and its place among
/// equals in its name, so that no two requests of a map have the same.
pub(super) fn line_id(conversation: &str, request: &Request, names: [Option<&str>; 3]) -> String {
    let whole = json!([conversation, name(request, names)]).to_string();
    base64url(&sha256(whole.as_bytes()))
}

/// Without padding.
fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .chain([&0; 2])
            .take(3)
            .fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        for letter in 0..=three.len() {
            text.push(LETTERS[bits >> (18 - 6 * letter) & 63].into());
        }
    }
    text
}

/// A hash of everything in a request that changes what a model answers.
pub(super) fn name(request: &Request, names: [Option<&str>; 3]) -> String {
    let Request {
        messages,
        output,
        response_format,
        temperature,
        max_tokens,
        reasoning,
        extra,
        extra_on,
        ..
    } = request;
    let schema = output
        .as_ref()
        .map(|schema| (schema.name(), schema.plain()));
    // Figures are no part of what is asked.
    let messages: Vec<Cow<'_, Message>> = messages.iter().map(Message::bare).collect();
    let mut whole = json!([
        messages,
        schema,
        response_format,
        temperature,
        max_tokens,
        extra,
        names
    ]);
    if let Some(whole) = whole.as_array_mut() {
        whole.extend(reasoning.map(|reasoning| json!({"reasoning": reasoning})));
        whole.extend(extra_on.as_ref().map(|fields| json!({"extra_on": fields})));
        whole.extend(
            // What is found on the way is no part of what is asked.
            request
                .callable()
                .iter()
                .map(|tool| json!([tool.name, tool.description, tool.schema.plain()])),
        );
    }
    sha256_hex(whole.to_string().as_bytes())
}
