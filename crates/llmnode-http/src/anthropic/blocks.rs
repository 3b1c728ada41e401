//! The blocks of an answer, whether they came whole or in pieces.
//!
//! An answer is a list of blocks: texts, thoughts, calls, and what Anthropic's own
//! tools did. From it come three things. The *completion* is what the program
//! reads. The *parts* are what goes back with the next turn, block for block:
//! thoughts are signed, and the API refuses them if one byte differs or if they
//! stand in another order. The *usage* is what was billed.
//!
//! A block is kept as it was written (`raw`) as long as possible, since writing it
//! anew would change numbers, the order of members, and escapes.

use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::{Category, Completion, FinishReason, ModelError, Retry, ToolCall};
use llmnode_reader::Flag;
use llmnode_reader::text::one_line;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::usage::MessageUsage;
use crate::api::ends;
use crate::api::expected_calls::{ExpectedCalls, take_answer};
use crate::api::read_answer::{CutBy, ReadAnswer, ReadResult, Unreadable};
use crate::api::unreadable::broken_piece;

/// No answer has as many, and each of them takes many times the memory of its bytes.
pub(super) const MOST_BLOCKS: usize = 10_000;

/// A block, whole or so far.
#[derive(Debug)]
pub(super) struct Block {
    /// Of the members, read once: each look at them hashes a name.
    pub(super) kind: BlockKind,
    members: Map<String, Value>,
    /// As it was written, unless pieces changed its members.
    pub(super) raw: Option<Box<RawValue>>,
    /// The pieces of the arguments. None of them: the block has them.
    pub(super) input: String,
}

/// The types of blocks that are read; others are what Anthropic's own tools do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    RedactedThinking,
    ToolUse,
    OfOwnTool,
}

impl BlockKind {
    fn of(members: &Map<String, Value>) -> Self {
        match members.get("type").and_then(Value::as_str) {
            Some("text") => BlockKind::Text,
            Some("thinking") => BlockKind::Thinking,
            Some("redacted_thinking") => BlockKind::RedactedThinking,
            Some("tool_use") => BlockKind::ToolUse,
            _ => BlockKind::OfOwnTool,
        }
    }

    /// The members that a block of this kind has to have as texts.
    fn texts(self) -> &'static [&'static str] {
        match self {
            BlockKind::Text => &["text"],
            BlockKind::Thinking => &["thinking"],
            BlockKind::ToolUse => &["name", "id"],
            BlockKind::RedactedThinking | BlockKind::OfOwnTool => &[],
        }
    }
}

/// What a message has beside its blocks.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) stop: Option<String>,
    // The category of a refusal, and the sentence about it.
    pub(super) refusal: Option<(String, String)>,
    pub(super) usage: MessageUsage,
}

impl Block {
    /// A block that came in one piece, or the begin of one.
    pub(super) fn whole_of(raw: &RawValue) -> Result<Block, ModelError> {
        let members = serde_json::from_str(raw.get()).map_err(broken_piece)?;
        let block = Block {
            kind: BlockKind::of(&members),
            members,
            raw: Some(raw.to_owned()),
            input: String::new(),
        };
        block.check()?;
        Ok(block)
    }

    /// For a server that leaves out the event in which a block begins.
    pub(super) fn of_text() -> Block {
        let members = [("type".to_owned(), Value::from("text"))]
            .into_iter()
            .collect();
        Block {
            kind: BlockKind::Text,
            members,
            raw: None,
            input: String::new(),
        }
    }

    /// Takes a member of a delta: a text is appended, arguments are gathered, and
    /// anything else takes the place of what was there. Once a member has changed, the
    /// block is no longer as it was written (`raw`), and is written anew. A delta that
    /// cannot be of this block is an error: it would change what the model said.
    pub(super) fn add(&mut self, name: String, value: Value) -> Result<(), ModelError> {
        let is_elsewhere = match &*name {
            "text" | "thinking" => self.is_call(),
            "partial_json" => matches!(self.kind, BlockKind::Text | BlockKind::Thinking),
            _ => false,
        };
        if is_elsewhere {
            return Err(broken_piece(format!(
                "`{name}` is added to a block `{}`",
                self.text("type")
            )));
        }
        match (&*name, value) {
            ("type", _) | (_, Value::Null) => {}
            ("partial_json", Value::String(piece)) => self.input += &piece,
            ("partial_json" | "text" | "thinking" | "signature", value) if !value.is_string() => {
                return Err(broken_piece(format!("`{name}` of a delta is no text")));
            }
            // Citations come one by one and make a list.
            ("citation", citation) => {
                self.raw = None;
                let list = self
                    .members
                    .entry("citations")
                    .or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(citation);
                }
            }
            (_, value) => {
                self.raw = None;
                match (self.members.get_mut(&name), value) {
                    (Some(Value::String(text)), Value::String(piece)) => text.push_str(&piece),
                    (_, value) => {
                        self.members.insert(name, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// What a block of a known kind has to have.
    /// Other kinds are passed on as they are: new ones come every few months.
    fn check(&self) -> Result<(), ModelError> {
        let broken = self.kind.texts().iter().find(|name| {
            let value = self.members.get(**name);
            !matches!(value, None | Some(Value::Null | Value::String(_)))
        });
        match broken {
            None => Ok(()),
            Some(name) => Err(broken_piece(format!(
                "`{name}` of a block `{}` is no text",
                self.text("type")
            ))),
        }
    }

    pub(super) fn text(&self, member: &str) -> &str {
        self.members
            .get(member)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// A call that Anthropic executes itself, or its result.
    /// By exclusion, since Anthropic adds tools of its own.
    fn is_of_own_tool(&self) -> bool {
        self.kind == BlockKind::OfOwnTool
    }

    pub(super) fn is_call(&self) -> bool {
        self.kind == BlockKind::ToolUse
    }

    /// As written: a number may have more digits than a float.
    pub(super) fn arguments(&self) -> String {
        #[derive(serde::Deserialize)]
        struct Call<'a> {
            #[serde(borrow)]
            input: &'a RawValue,
        }
        if !self.input.trim().is_empty() {
            return self.input.trim().to_owned();
        }
        let raw = self
            .raw
            .as_deref()
            .and_then(|raw| serde_json::from_str::<Call<'_>>(raw.get()).ok());
        match (raw, self.members.get("input")) {
            (Some(call), _) => call.input.get().to_owned(),
            (None, Some(input)) => input.to_string(),
            (None, None) => "{}".to_owned(),
        }
    }

    /// Members of the API that a message does not model. Empty lists and nulls mean nothing.
    /// What stands beside the text or the call, such as citations: it goes back
    /// with it.
    fn beside(&self, modelled: &[&str]) -> Option<Json> {
        let rest: Map<String, Value> = self
            .members
            .iter()
            .filter(|(name, value)| !modelled.contains(&name.as_str()) && has_content(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if rest.is_empty() {
            None
        } else {
            Json::of(&rest)
        }
    }

    /// The whole block for the next turn. With arguments that came in pieces it is
    /// put together, without parsing the arguments.
    fn whole(&self) -> Option<Json> {
        if self.input.trim().is_empty() {
            return self
                .raw
                .as_deref()
                .map_or_else(|| Json::of(&self.members), |raw| Some(Json::new(raw)));
        }
        let mut others = self.members.clone();
        others.remove("input");
        Json::of(&WithInput {
            others,
            input: serde_json::from_str(&self.input).ok()?,
        })
    }
}

/// An empty list of citations is in every block of text.
fn has_content(value: &Value) -> bool {
    !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
}

/// A block whose arguments came in pieces.
#[derive(Serialize)]
struct WithInput<'a> {
    #[serde(flatten)]
    others: Map<String, Value>,
    input: &'a RawValue,
}

/// The blocks of an answer, sorted: what the program reads, the thoughts, and what
/// goes back with the next turn. In the order of the blocks: positions are what
/// makes it possible to put them together again.
struct BlockContents {
    completion: Completion,
    reasoning: String,
    parts: Vec<CarriedPart>,
}

impl BlockContents {
    fn of(blocks: &[Block]) -> Self {
        let mut completion = Completion::new("");
        let mut reasoning = String::new();
        let mut parts = Vec::new();
        for block in blocks {
            match block.kind {
                BlockKind::Text => {
                    let text = block.text("text");
                    completion.text += text;
                    // By its length alone: the text itself is in the completion,
                    // and may be edited.
                    parts.push(CarriedPart::Text {
                        bytes: text.len(),
                        beside: block.beside(&["type", "text"]),
                    });
                }
                BlockKind::ToolUse => {
                    let call =
                        ToolCall::new(block.text("id"), block.text("name"), block.arguments());
                    parts.push(CarriedPart::Call {
                        at: completion.calls.len(),
                        beside: block.beside(&["type", "id", "name", "input"]),
                    });
                    completion.calls.push(call);
                }
                _ => {
                    reasoning += block.text("thinking");
                    parts.extend(block.whole().map(CarriedPart::Other));
                }
            }
        }
        BlockContents {
            completion,
            reasoning,
            parts,
        }
    }
}

/// A text or a call with nothing beside it.
/// Such parts say nothing that the message does not say.
fn is_plain(part: &CarriedPart) -> bool {
    matches!(
        part,
        CarriedPart::Text { beside: None, .. } | CarriedPart::Call { beside: None, .. }
    )
}

/// `has_ended`: the message came to the end that this API has for one.
/// The order: a refusal first, since its answer is not to be used; then the texts
/// and calls; then whether the end can be trusted; at last what has to be carried.
pub(super) fn completion(
    head: Head,
    blocks: &[Block],
    has_ended: bool,
    expected: ExpectedCalls<'_>,
) -> ReadResult {
    let (usage, impossible) = head.usage.figures();
    if let Some((category, why)) = &head.refusal {
        let why = one_line(why, 300);
        let message = format!(
            "Anthropic withheld the answer ({}): {why}",
            one_line(category, 40)
        );
        let withheld = ModelError::new(Category::ContentFilter, message).retry(Retry::No);
        return Err(Unreadable::failure(withheld, usage));
    }
    let BlockContents {
        mut completion,
        reasoning,
        mut parts,
    } = BlockContents::of(blocks);
    // Asked before the function for the answer is taken out of the calls: to know
    // whether the model took the forced call.
    let has_call = !completion.calls.is_empty();
    take_answer(&mut completion, expected);
    completion.reasoning = Some(reasoning);
    completion.finish = head.stop.as_deref().and_then(ends::finish);
    if let Some(doubt) = ends::doubt(&completion, has_ended) {
        return Err(Unreadable::failure(doubt, usage));
    }
    completion.model = head.model;
    completion.response_id = head.id;
    if completion.calls.is_empty() && blocks.iter().any(Block::is_call) {
        // A call of the function for the answer goes back as a text, behind the thoughts.
        parts.retain(|part| matches!(part, CarriedPart::Other(_)));
    }
    let is_whole = completion.finish != Some(FinishReason::Continue);
    if is_whole && parts.iter().all(is_plain) {
        // The message alone says as much.
        parts.clear();
    }
    let mut read = ReadAnswer::new(completion, has_call, parts, (usage, impossible));
    if head.usage.has_other_price() {
        read.flags.push(Flag::OtherPrice);
    }
    // A limit that cuts an answer can be raised and the request sent again, but not
    // if Anthropic's own tools have run before: they would run twice.
    read.cut = match head.stop.as_deref() {
        Some("max_tokens") if blocks.iter().any(Block::is_of_own_tool) => CutBy::LimitAfterTools,
        Some("max_tokens") => CutBy::Limit,
        _ => CutBy::Other,
    };
    Ok(read)
}
