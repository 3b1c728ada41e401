//! The blocks of an answer, whether they came whole or in pieces.

use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::{Category, Completion, FinishReason, ModelError, Retry, ToolCall};
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

#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) stop: Option<String>,
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

    /// Takes a member of a delta.
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
    fn beside(&self, own: &[&str]) -> Option<Json> {
        let rest: Map<String, Value> = self
            .members
            .iter()
            .filter(|(name, value)| !own.contains(&name.as_str()) && has_content(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if rest.is_empty() {
            None
        } else {
            Json::of(&rest)
        }
    }

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

/// The blocks of an answer, sorted: what the program reads, the thoughts, and what goes back with the next turn.
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
fn is_plain(part: &CarriedPart) -> bool {
    matches!(
        part,
        CarriedPart::Text { beside: None, .. } | CarriedPart::Call { beside: None, .. }
    )
}

/// `has_ended`: the message came to the end that this API has for one.
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
    read.cut = match head.stop.as_deref() {
        Some("max_tokens") if blocks.iter().any(Block::is_of_own_tool) => CutBy::LimitAfterTools,
        Some("max_tokens") => CutBy::Limit,
        _ => CutBy::Other,
    };
    Ok(read)
}
