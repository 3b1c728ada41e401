//! What a refusal says of our request: which part is not wanted, and what is sent in its place.
//!
//! In: the status, what the body's fields say, the server's text without the words
//! of the prompt ([`message`](super::message)), and what was sent. Out: a [`Fact`]
//! that changes the request, with what it holds together with, or nothing. In this
//! order, since what is said exactly goes before what has to be guessed:
//!
//! 1. a phrase that is conclusive by itself ([`CONCLUSIVE`]);
//! 2. the field that the body's `param` names, or a path in the text
//!    (`tools[0].function.parameters`). If it is none that can be sent otherwise,
//!    nothing is read;
//! 3. a field's name in the text, of those that this request has: the one that is
//!    named first, with the longest name. How much the model thinks comes last:
//!    servers name it beside the part that they refuse. If the first name is the
//!    user's own, from `extra`, nothing is read.
//!
//! A part is left out only where the text or the body's code says that it is not
//! taken ([`NOT_HERE`]), not where its value is out of range: then a maximum or
//! minimum is used, if the text has one.

use llmnode_model::{Reasoning, ResponseFormat};

use super::effort_fault::{self, EffortFault};
use super::efforts::{EFFORTS, Thinking};
use super::fields::{CONTENTS, Field, NAMES, TOP};
use super::parts::{Condition, Fact, Part, Parts, Situation, Thought, WhenThinking};
use super::phrases::{
    CONCLUSIVE, NAMED_CHOICE, NO_SUCH_EFFORT, NOT_HERE, NOT_HERE_CODES, ONE_TEMPERATURE, ONLY,
    any_of,
};
use super::quirks::{Choice, Quirks};
use super::response_formats::{FormatFault, ResponseFormats, ruled_out};
use super::values::{bounds, named_values};
use crate::http::error_body::ErrorBody;
use crate::http::refused_turns::{TurnPart, refused_turn};

/// What was sent, as far as it is ours. What the user wrote is `users`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent<'a> {
    pub(crate) situation: Situation<'a>,
    pub(crate) quirks: Quirks,
    pub(crate) parts: Parts,
    /// The limit on tokens, and whether it has an older name.
    pub(crate) limit: Option<(u32, bool)>,
    pub(crate) effort: Option<(Reasoning, Thinking)>,
    pub(crate) format: Option<ResponseFormat>,
    /// How a call is forced.
    pub(crate) choice: Option<Choice>,
    pub(crate) functions: Vec<&'a str>,
    pub(crate) users: Vec<&'a str>,
}

/// The server's words.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    pub(crate) status: u16,
    pub(crate) error: &'a ErrorBody,
    /// Without the words of the prompt.
    pub(crate) text: &'a str,
    /// With them, for the name of a function.
    pub(crate) quoting: &'a str,
}

/// Only conclusive phrases count under these.
/// llama.cpp reports a schema that it cannot compile as its own failure.
const SERVER_FAILURES: [u16; 2] = [500, 503];
/// Statuses of a request that is not taken as it is.
pub(crate) const REFUSALS: [u16; 5] = [400, 403, 404, 422, 501];

/// Changes the request, or is `None`.
/// A fact that would change nothing is none: the attempt loop would ask the same
/// again.
pub(crate) fn read(refusal: &Refusal<'_>, sent: &Sent<'_>) -> Option<(Fact, Condition)> {
    let Refusal {
        status,
        error,
        text,
        ..
    } = *refusal;
    let is_refusal = REFUSALS.contains(&status);
    if !is_refusal && !SERVER_FAILURES.contains(&status) {
        return None;
    }
    let param = error.param.as_deref().unwrap_or_default();
    // What is said of the conversation comes first: its texts also name settings.
    if let Some(turn) = refused_turn(param, text).filter(|_| is_refusal)
        && let Some(part) = part_of_turn(turn, sent)
    {
        return Some((Fact::LeaveOut(part), Condition::default()));
    }
    let conclusive = CONCLUSIVE
        .iter()
        .find(|(phrase, field, _)| text.contains(phrase) && has(*field, sent));
    let field = match conclusive {
        Some((_, Field::Schema, _)) if is_of_a_tool(refusal, sent) => Field::ToolSchema,
        Some((_, field, _)) => *field,
        None if is_refusal => field(refusal, sent)?,
        None => return None,
    };
    let refuses = conclusive.is_some() || rejects_field(field, error, text);
    let fact = fact(field, refusal, sent, refuses)?;
    let mut quirks = sent.quirks;
    quirks.add(&fact, sent.situation);
    if quirks == sent.quirks {
        return None;
    }
    let condition = condition(&fact, text, sent.situation);
    Some((fact, condition))
}

/// Whether the field itself is not taken. Otherwise its value is at fault, and
/// another one may be taken.
fn rejects_field(field: Field, error: &ErrorBody, text: &str) -> bool {
    let has_code = NOT_HERE_CODES.iter().any(|(code, _)| error.has(code));
    if has_code || any_of(text, NOT_HERE) || has_word_only(text) {
        return true;
    }
    match field {
        Field::Part(Part::System) => offers_other_roles(text),
        Field::Part(Part::Temperature) => any_of(text, ONE_TEMPERATURE),
        _ => false,
    }
}

/// Whether the refusal names a field of the request, so that no model has read it.
pub(crate) fn names_a_field(refusal: &Refusal<'_>, sent: &Sent<'_>) -> bool {
    if let Some(param) = &refusal.error.param
        && !param.is_empty()
    {
        return true;
    }
    path(refusal.text).is_some() || field(refusal, sent).is_some()
}

/// `input should be 'user' or 'assistant'`
fn offers_other_roles(text: &str) -> bool {
    let roles = ["system", "developer", "user", "assistant", "tool"];
    match named_values(text, &roles) {
        Some(offer) => offer.contains(&"user") && !offer.contains(&"system"),
        None => false,
    }
}

/// `only 1 is allowed`, `only temperature=1 is supported`, `is only available for ..`.
fn has_word_only(text: &str) -> bool {
    let Some((_, behind)) = text.split_once("only ") else {
        return false;
    };
    let sentence = behind.split(". ").next().unwrap_or_default();
    any_of(sentence, ONLY)
}

/// `None`: the request has no such part.
fn part_of_turn(turn: TurnPart, sent: &Sent<'_>) -> Option<Part> {
    let parts: &[Part] = match turn {
        TurnPart::CallId => &[Part::CallIds],
        // Another beginning may also have been sent for that remedy, or has none on this API.
        TurnPart::BoundThoughts => &[Part::BoundThoughts, Part::Carried],
        TurnPart::Reasoning => &[Part::CarriedFields],
        TurnPart::NoReasoning => &[Part::BareAnswers],
        TurnPart::ServerToolsMark => &[Part::ServerSideTools],
    };
    parts
        .iter()
        .copied()
        .find(|part| sent.parts.contains(*part))
}

/// Whether the request has it.
fn has(field: Field, sent: &Sent<'_>) -> bool {
    match field {
        Field::Part(part) => sent.parts.contains(part),
        Field::Limit => sent.limit.is_some(),
        Field::Effort => sent.effort.is_some(),
        Field::Format | Field::JsonSchema => has_format(sent),
        Field::Schema => has_schema(sent),
        Field::NamedSchema => has_schema(sent) || !sent.functions.is_empty(),
        Field::ToolSchema | Field::Tools => has_function(sent),
        Field::ToolChoice => sent.choice.is_some(),
        Field::OnlyStreams => !sent.parts.contains(Part::Stream),
    }
}

/// A form of the answer that is a field of the request.
fn has_format(sent: &Sent<'_>) -> bool {
    use ResponseFormat::{JsonObject, Schema, Strict};
    matches!(sent.format, Some(Strict | Schema | JsonObject))
}

fn has_schema(sent: &Sent<'_>) -> bool {
    use ResponseFormat::{JsonObject, Schema, Strict, Tool};
    matches!(sent.format, Some(Strict | Schema | JsonObject | Tool))
        || sent.parts.contains(Part::Choices)
}

fn has_function(sent: &Sent<'_>) -> bool {
    sent.situation.tools || sent.format == Some(ResponseFormat::Tool)
}

/// `None`: it names nothing that can be sent otherwise.
fn field(refusal: &Refusal<'_>, sent: &Sent<'_>) -> Option<Field> {
    let Refusal {
        error,
        text,
        quoting,
        ..
    } = *refusal;
    if let Some(param) = &error.param
        && !param.is_empty()
    {
        return sent_field(&param.to_lowercase(), text, sent);
    }
    if let Some(path) = path(text) {
        let field = sent_field(path, text, sent);
        let is_of_the_prompt = CONTENTS.iter().any(|name| path.starts_with(name));
        if field.is_some() || is_of_the_prompt {
            return field;
        }
    }
    let named = named(text, sent).or_else(|| effort_by_its_values(text, sent))?;
    // The name of a function means its schema, never the answer's.
    let is_of_an_answer = matches!(named, Field::JsonSchema | Field::Schema);
    if is_of_an_answer && names_a_function(quoting, sent) {
        return Some(Field::ToolSchema);
    }
    Some(named)
}

/// The field of a path, if the request has it.
fn sent_field(path: &str, text: &str, sent: &Sent<'_>) -> Option<Field> {
    let field = of_path(path, text, sent)?;
    if !has(field, sent) {
        return None;
    }
    Some(field)
}

/// Whether the text names one of the functions that were sent.
fn names_a_function(quoting: &str, sent: &Sent<'_>) -> bool {
    sent.functions
        .iter()
        .any(|name| names_function(quoting, name))
}

/// A text without the field's name, as gateways send it on, which offers other
/// words for the one that was sent.
fn effort_by_its_values(text: &str, sent: &Sent<'_>) -> Option<Field> {
    let Some((_, Thinking::Effort(effort))) = sent.effort else {
        return None;
    };
    let effort = effort.as_str();
    let offer = named_values(text, &EFFORTS.map(|(_, name, _)| name))?;
    if offer.contains(&effort) || !effort_fault::has_word(text, effort) {
        return None;
    }
    Some(Field::Effort)
}

/// Whether a schema that is refused is one of the node's tools', by a path or its name.
fn is_of_a_tool(refusal: &Refusal<'_>, sent: &Sent<'_>) -> bool {
    let param = refusal.error.param.as_deref().map(str::to_lowercase);
    let path = param
        .as_deref()
        .filter(|param| !param.is_empty())
        .or_else(|| path(refusal.text));
    match path.and_then(|path| of_path(path, refusal.text, sent)) {
        Some(field) => field == Field::ToolSchema,
        None => names_a_function(refusal.quoting, sent),
    }
}

/// The field of the request that the text names first, of those that count. Of two
/// names at one place the longer is meant: `tool_choice`, and not `tool`.
fn first_named(text: &str, sent: &Sent<'_>, counts: impl Fn(Field) -> bool) -> Option<NamedField> {
    let mut first: Option<NamedField> = None;
    for (name, field) in NAMES {
        if !counts(*field) || !has(*field, sent) {
            continue;
        }
        let Some(at) = find_name(text, name) else {
            continue;
        };
        let named = NamedField {
            at,
            length: name.len(),
            field: *field,
        };
        if first.as_ref().is_none_or(|first| named.is_before(first)) {
            first = Some(named);
        }
    }
    first
}

/// A field, and where the text names it.
struct NamedField {
    at: usize,
    length: usize,
    field: Field,
}

impl NamedField {
    fn is_before(&self, other: &NamedField) -> bool {
        if self.at == other.at {
            return self.length > other.length;
        }
        self.at < other.at
    }
}

/// The field that the text names first; how the model thinks, if it names no other.
fn named(text: &str, sent: &Sent<'_>) -> Option<Field> {
    let users = sent
        .users
        .iter()
        .filter_map(|name| find_name(text, &name.to_lowercase()))
        .min();
    // Tools are named beside what they do not go with, and cannot be left out.
    let mut part = first_named(text, sent, |field| {
        !matches!(field, Field::Effort | Field::Tools)
    });
    if part.is_none() && !sends_effort_alone(sent) {
        part = first_named(text, sent, |field| field == Field::Tools);
    }
    if part.is_none() {
        part = first_named(text, sent, |field| field == Field::Effort);
    }
    let NamedField { at, field, .. } = part?;
    // A field of the user's own that is named before it is what the refusal means.
    match users {
        Some(user) if user <= at => None,
        _ => Some(field),
    }
}

/// Tools that the node wrote cannot be left out; then the effort beside them can.
fn sends_effort_alone(sent: &Sent<'_>) -> bool {
    sent.effort.is_some() && sent.format != Some(ResponseFormat::Tool)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Where the text has this name by itself.
/// As a word: `stream` is not `streaming`.
fn find_name(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let behind = text[at + name.len()..].chars().next();
        let begins = !name.starts_with(is_of_name) || !before.is_some_and(is_of_name);
        let ends = !name.ends_with(is_of_name) || !behind.is_some_and(is_of_name);
        begins && ends
    })
}

/// Behind a word for functions, or in quotation marks.
fn names_function(text: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    text.match_indices(&name).any(|(at, _)| {
        let before = &text[..at];
        let is_behind_a_word = ["function ", "function: ", "tool ", "tool: "]
            .iter()
            .any(|word| before.ends_with(word));
        is_behind_a_word || before.ends_with(['\'', '"', '`', '[', '(', '‘', '“'])
    })
}

/// A path from the top of the request, such as `response_format.type` or
/// `tools[0]`; a name of its top, where the text begins with it (`system: extra
/// inputs are not permitted`).
fn path(text: &str) -> Option<&str> {
    if let Some((name, _)) = text.split_once(": ") {
        let name = without_body(name);
        if TOP.contains(&name) {
            return Some(name);
        }
    }
    for word in text.split(|c: char| !is_of_name(c) && !matches!(c, '.' | '[' | ']')) {
        let path = without_body(word.trim_end_matches('.'));
        let top = top_of(path);
        let is_ours = TOP.contains(&top) || CONTENTS.contains(&top);
        if path.len() > top.len() && is_ours {
            return Some(path);
        }
    }
    None
}

/// FastAPI begins its paths with the place of the request.
fn without_body(path: &str) -> &str {
    path.strip_prefix("body.").unwrap_or(path)
}

/// The first name of a path.
fn top_of(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

fn has_any(path: &str, names: &[&str]) -> bool {
    names.iter().any(|name| path.contains(name))
}

/// The field that a path leads to, whatever the request has. `path`: a name alone,
/// too. Rows of one top stand in the order in which they have to be asked: what
/// stands deeper in the path comes first.
fn of_path(path: &str, text: &str, sent: &Sent<'_>) -> Option<Field> {
    let top = top_of(path);
    if has_any(path, &["prompt_cache_key"]) {
        return Some(Field::Part(Part::CacheKey));
    }
    if has_any(path, &["prompt_cache"]) {
        return Some(Field::Part(Part::CacheOptions));
    }
    if has_any(path, &["cache_control"]) {
        return Some(Field::Part(Part::Cache));
    }
    let field = match top {
        "tools" if has_any(path, &["schema", "parameters"]) && is_answers(path, sent) => {
            Field::Schema
        }
        "tools" if has_any(path, &["parametersjsonschema", "parameters_json_schema"]) => {
            Field::Part(Part::JsonSchemaParameters)
        }
        "tools" if has_any(path, &["schema", "parameters"]) => Field::ToolSchema,
        "tools" if has_any(path, &["strict"]) => Field::Part(Part::StrictFunctions),
        "tools" => Field::Tools,
        "toolconfig" | "tool_config" if has_any(path, &["server"]) => {
            Field::Part(Part::ServerSideTools)
        }
        "tool_choice" | "toolconfig" | "tool_config" => Field::ToolChoice,
        "output_config" | "text" | "response_format" | "generation_config" | "generationconfig"
            if has_any(
                path,
                &[
                    "schema.",
                    "format.schema",
                    "response_schema",
                    "json_schema.strict",
                ],
            ) =>
        {
            Field::Schema
        }
        "output_config"
            if has_any(path, &["effort"])
                || !has_any(path, &["format"]) && sent.effort.is_some() =>
        {
            Field::Effort
        }
        "generation_config" | "generationconfig" if has_any(path, &["thinking"]) => Field::Effort,
        "reasoning" if has_any(path, &["summary"]) => Field::Part(Part::Summary),
        "reasoning" | "thinking" | "reasoning_effort" => Field::Effort,
        "include" => Field::Part(Part::Include),
        "store" => Field::Part(Part::Store),
        "stream" => Field::Part(Part::Stream),
        "system" | "instructions" | "system_instruction" => Field::Part(Part::System),
        top if CONTENTS.contains(&top) => of_content(path, text)?,
        _ => named_in_path(path)?,
    };
    Some(field)
}

/// A path into the conversation: what was carried, or the role of the system.
fn of_content(path: &str, text: &str) -> Option<Field> {
    let carried = [
        "reasoning_content",
        "reasoning_details",
        "thinking_blocks",
        "thought_signature",
        "extra_content",
    ];
    if carried
        .into_iter()
        .any(|name: &str| path.contains(name) || text.contains(name))
    {
        return Some(Field::Part(Part::CarriedFields));
    }
    if path.contains("signature") || path.contains("encrypted_content") {
        return Some(Field::Part(Part::Carried));
    }
    let is_of_system = text.contains("system") || offers_other_roles(text);
    if path.ends_with("role") && is_of_system {
        return Some(Field::Part(Part::System));
    }
    None
}

/// The longest name, since a path has several.
fn named_in_path(path: &str) -> Option<Field> {
    let (_, field) = NAMES
        .iter()
        .filter(|(name, _)| find_name(path, name).is_some())
        .max_by_key(|(name, _)| name.len())?;
    Some(*field)
}

/// The function for the answer stands behind those of the node.
fn is_answers(path: &str, sent: &Sent<'_>) -> bool {
    if sent.format != Some(ResponseFormat::Tool) {
        return false;
    }
    let digits = path
        .split(|c: char| !c.is_ascii_digit())
        .find(|digits| !digits.is_empty());
    let index: Option<usize> = digits.and_then(|digits| digits.parse().ok());
    match index {
        Some(index) => index >= sent.functions.len(),
        None => true,
    }
}

/// What follows for the next request.
fn fact(field: Field, refusal: &Refusal<'_>, sent: &Sent<'_>, refuses: bool) -> Option<Fact> {
    let text = refusal.text;
    match field {
        Field::Limit => limit(text, sent, refuses),
        Field::Effort => effort(text, sent, refuses),
        Field::Part(part) => refuses.then_some(Fact::LeaveOut(part)),
        Field::Format | Field::JsonSchema => format(field, text, sent, refuses),
        Field::Schema => schema(sent),
        Field::NamedSchema if names_a_function(refusal.quoting, sent) => tool_schema(sent),
        Field::NamedSchema => schema(sent),
        Field::ToolSchema => tool_schema(sent),
        Field::Tools if refuses && sent.format == Some(ResponseFormat::Tool) => {
            formats(FormatFault::Tools, sent).filter(|_| !sent.situation.tools)
        }
        Field::ToolChoice => tool_choice(text, sent, refuses),
        Field::OnlyStreams => Some(Fact::OnlyStreams),
        Field::Tools => None,
    }
}

/// A number that is offered, or the other name of the field.
fn limit(text: &str, sent: &Sent<'_>, refuses: bool) -> Option<Fact> {
    let (limit, has_older_name) = sent.limit?;
    let name = [
        "max_completion_tokens",
        "max_output_tokens",
        "maxoutputtokens",
        "max_tokens",
    ];
    let name = name.into_iter().find(|name| text.contains(name));
    if let Some(bounds) = bounds(text, name)
        && bounds.excludes(limit)
    {
        return match bounds.most {
            Some(most) if limit > most && most > 0 => Some(Fact::MostTokens(most)),
            _ => bounds.least.map(Fact::LeastTokens),
        };
    }
    if refuses && has_older_name {
        return Some(Fact::OlderLimit);
    }
    None
}

/// Another way to think.
fn effort(text: &str, sent: &Sent<'_>, refuses: bool) -> Option<Fact> {
    let refuses = refuses || any_of(text, NO_SUCH_EFFORT);
    let fault = effort_fault::refused(sent.effort?, sent.quirks.reasoning, text, refuses)?;
    Some(match fault {
        EffortFault::Refused(refused) => Fact::Efforts(refused),
        EffortFault::Budget(bounds) => Fact::Budget {
            least: bounds.least,
            most: bounds.most,
        },
    })
}

/// Which of the forms are ruled out depends on what is offered in their place.
fn format(field: Field, text: &str, sent: &Sent<'_>, refuses: bool) -> Option<Fact> {
    if let Some(offer) = named_values(text, &["json_object", "json_schema", "text"]) {
        let offers_schema = offer.contains(&"json_schema");
        let offers_object = offer.contains(&"json_object");
        let fault = match (offers_schema, offers_object) {
            (true, true) => return None,
            (false, true) => FormatFault::JsonSchema,
            (true, false) => FormatFault::FormatType,
            (false, false) => FormatFault::Format,
        };
        return formats(fault, sent);
    }
    if !refuses {
        return None;
    }
    let is_of_a_type =
        text.contains("json_object") || text.contains("format type") || text.contains(".type");
    let fault = match field {
        Field::JsonSchema => FormatFault::JsonSchema,
        _ if text.contains("json_schema") => FormatFault::JsonSchema,
        _ if is_of_a_type => FormatFault::FormatType,
        _ => FormatFault::Format,
    };
    formats(fault, sent)
}

fn formats(fault: FormatFault, sent: &Sent<'_>) -> Option<Fact> {
    let out = ruled_out(fault, sent.format?);
    if out.is_empty() {
        return None;
    }
    Some(Fact::Formats(out))
}

/// Lists first: they are what is new in a known type's schema.
fn schema(sent: &Sent<'_>) -> Option<Fact> {
    if sent.parts.contains(Part::Choices) {
        return Some(Fact::LeaveOut(Part::Choices));
    }
    let format = sent.format?;
    let name = sent.situation.schema?;
    let out: ResponseFormats = ruled_out(FormatFault::Schema, format);
    if out.is_empty() {
        return None;
    }
    Some(Fact::Schema(name.to_owned(), out))
}

/// Nothing of a tool can be left out but the lists of the state, and how its
/// parameters are written.
fn tool_schema(sent: &Sent<'_>) -> Option<Fact> {
    let parts = [
        Part::Choices,
        Part::StrictFunctions,
        Part::JsonSchemaParameters,
    ];
    let part = parts.into_iter().find(|part| sent.parts.contains(*part))?;
    Some(Fact::LeaveOut(part))
}

/// From by name to any, and from any to none: each step forces less.
fn tool_choice(text: &str, sent: &Sent<'_>, refuses: bool) -> Option<Fact> {
    let choice = sent.choice?;
    let offer = named_values(text, &["none", "auto", "required", "any"]);
    let offers_any = match &offer {
        Some(offer) => offer.contains(&"required") || offer.contains(&"any"),
        None => false,
    };
    if !refuses && offer.is_none() {
        return None;
    }
    let refuses_any =
        text.contains("'required'") || text.contains("to required") || text.contains("\"any\"");
    let is_by_name = offers_any || (any_of(text, NAMED_CHOICE) && !refuses_any);
    match choice {
        Choice::ByName if is_by_name => Some(Fact::NamedChoice),
        Choice::Any if offers_any => None,
        Choice::ByName | Choice::Any => Some(Fact::ForcedChoice),
        Choice::Free => None,
    }
}

fn has_any_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| effort_fault::has_word(text, word))
}

/// What the refusal names beside the part, if the request has it.
fn condition(fact: &Fact, text: &str, situation: Situation<'_>) -> Condition {
    let of_tools = ["tool", "tools", "function", "functions"];
    let of_thinking = [
        "thinking",
        "thoughts",
        "reasoning",
        "reasoning_effort",
        "enable_thinking",
    ];
    let with_tools = situation.tools && has_any_word(text, &of_tools);
    let thinks = situation.thought == Thought::On;
    let names_thinking = has_any_word(text, &of_thinking);
    match fact {
        Fact::Efforts(_) => Condition {
            with_tools,
            ..Condition::default()
        },
        Fact::Formats(_) => {
            let thought = if thinks && names_thinking {
                WhenThinking::Asked
            } else {
                WhenThinking::Always
            };
            Condition {
                with_tools,
                thought,
            }
        }
        Fact::ForcedChoice | Fact::NamedChoice if thinks => Condition {
            thought: WhenThinking::Asked,
            ..Condition::default()
        },
        // Many models take one while they do not think.
        Fact::LeaveOut(Part::Temperature) if situation.thought != Thought::Off => Condition {
            thought: WhenThinking::UnlessOff,
            ..Condition::default()
        },
        _ => Condition::default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::message::{decoded, without_prompt};
    use super::*;

    fn everything(format: ResponseFormat) -> Sent<'static> {
        use Part::{
            Cache, CarriedFields, Include, ParallelCalls, StreamOptions, Summary, System,
            Temperature,
        };
        let parts = [
            Temperature,
            StreamOptions,
            Include,
            Summary,
            ParallelCalls,
            Cache,
            System,
            CarriedFields,
        ];
        Sent {
            situation: Situation {
                schema: Some("Advice"),
                ..Situation::default()
            },
            parts: parts.into_iter().fold(Parts::default(), Parts::with),
            limit: Some((9000, true)),
            format: Some(format),
            choice: (format == ResponseFormat::Tool).then_some(Choice::ByName),
            users: vec!["seed", "prompt_cache_key"],
            ..Sent::default()
        }
    }

    fn of(status: u16, message: &str, fields: serde_json::Value, sent: &Sent<'_>) -> Option<Fact> {
        let mut body = json!({"error": {"message": message}});
        fields
            .as_object()
            .into_iter()
            .flatten()
            .for_each(|(name, value)| body["error"][name] = value.clone());
        let error = ErrorBody::read(body.to_string().as_bytes());
        let text = without_prompt(&error.message, &json!({"messages": []}), "gpt-x");
        let refusal = Refusal {
            status,
            error: &error,
            text: &text,
            quoting: &decoded(&error.message),
        };
        read(&refusal, sent).map(|(fact, _)| fact)
    }

    fn of_text(message: &str, format: ResponseFormat) -> Option<Fact> {
        of(400, message, json!({}), &everything(format))
    }

    #[test]
    fn a_part_that_is_not_taken() {
        let out = |part| Some(Fact::LeaveOut(part));
        for (message, expected) in [
            (
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                Some(Fact::OlderLimit),
            ),
            (
                "invalid temperature: only 1 is allowed for this model",
                out(Part::Temperature),
            ),
            (
                "`temperature` is deprecated for this model",
                out(Part::Temperature),
            ),
            ("temperature: only 1.0 is supported", out(Part::Temperature)),
            (
                "temperature is only supported for other models",
                out(Part::Temperature),
            ),
            (
                "You do not have access to explicit prompt caching with cache_control",
                out(Part::Cache),
            ),
            (
                "temperature must be 1.0 when thinking",
                out(Part::Temperature),
            ),
            ("temperature must be between 0 and 2", None),
            (
                "temperature: non-default values are not supported",
                out(Part::Temperature),
            ),
            (
                "cache_control: Extra inputs are not permitted",
                out(Part::Cache),
            ),
            (
                "Unrecognized request argument supplied: stream_options",
                out(Part::StreamOptions),
            ),
            (
                "Developer instruction is not enabled for models/gemma-3-27b-it",
                out(Part::System),
            ),
            ("System role not supported", out(Part::System)),
            (
                "Conversation roles must alternate user/assistant/user/assistant/...",
                out(Part::System),
            ),
            (
                "body.messages.2.assistant.reasoning_content: Extra inputs are not permitted",
                out(Part::CarriedFields),
            ),
            (
                "This model only support stream mode, please enable the stream parameter",
                Some(Fact::OnlyStreams),
            ),
            (
                "parameter.enable_thinking must be set to false for non-streaming calls",
                Some(Fact::OnlyStreams),
            ),
            // Values out of range, fields of the user's, and what is in no request.
            ("Invalid 'temperature': decimal below minimum value", None),
            ("Unsupported parameter: 'seed'", None),
            (
                "Unrecognized request argument supplied: prompt_cache_key",
                None,
            ),
            (
                "messages.0.content: temperature is not supported in a text",
                None,
            ),
            ("no", None),
        ] {
            assert_eq!(
                of_text(message, ResponseFormat::Strict),
                expected,
                "{message}"
            );
        }
        assert_eq!(
            of(
                500,
                "temperature is not supported",
                json!({}),
                &everything(ResponseFormat::Strict)
            ),
            None
        );
        let of_seed = json!({"param": "seed", "code": "unsupported_parameter"});
        assert_eq!(
            of(
                400,
                "temperature",
                of_seed,
                &everything(ResponseFormat::Strict)
            ),
            None
        );
    }

    #[test]
    fn a_number_beyond_the_bounds() {
        for (message, expected) in [
            (
                "max_tokens is too large: 9000. This model supports at most 4096",
                Some(Fact::MostTokens(4096)),
            ),
            (
                "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens",
                Some(Fact::MostTokens(8192)),
            ),
            (
                "Range of max_tokens should be [1, 8192]",
                Some(Fact::MostTokens(8192)),
            ),
            (
                "max_tokens must be at least 10000",
                Some(Fact::LeastTokens(10_000)),
            ),
            ("max_tokens must be at least 1", None),
        ] {
            assert_eq!(
                of_text(message, ResponseFormat::Prompt),
                expected,
                "{message}"
            );
        }
    }

    #[test]
    fn a_schema_and_a_format() {
        use ResponseFormat::{JsonObject, Schema, Strict, Tool};
        let schema = |formats: &[_]| {
            Some(Fact::Schema(
                "Advice".to_owned(),
                ResponseFormats::of(formats),
            ))
        };
        let formats = |formats: &[_]| Some(Fact::Formats(ResponseFormats::of(formats)));
        for (message, format, expected) in [
            (
                "output_config.format.schema: Invalid schema: The compiled grammar is too large.",
                Strict,
                schema(&[Strict]),
            ),
            (
                "Schema is too complex for compilation. Try reducing the number of tools.",
                Tool,
                schema(&[Tool, Strict]),
            ),
            (
                "'m' does not support output format",
                Strict,
                formats(&[Strict, Schema, JsonObject]),
            ),
            (
                "Failed to compile the grammar within the time limit. Please simplify your schema.",
                Tool,
                schema(&[Tool, Strict]),
            ),
            (
                "Constraint is too tall for serving",
                Strict,
                schema(&[Strict]),
            ),
            (
                "Controlled generation is not supported",
                Strict,
                formats(&[Strict, Schema]),
            ),
            (
                "'response_format.type' must be 'text' or 'json_object'",
                Strict,
                formats(&[Strict, Schema]),
            ),
            (
                "'response_format.type' must be 'json_schema' or 'text'",
                JsonObject,
                formats(&[JsonObject]),
            ),
            (
                "Json mode response is not supported when enable_thinking is true",
                JsonObject,
                formats(&[Strict, Schema, JsonObject]),
            ),
            (
                "Failed to initialize samplers: Unexpected empty grammar stack",
                Schema,
                schema(&[Strict, Schema]),
            ),
            (
                "`tool calling` is not supported with this model",
                Tool,
                formats(&[Tool]),
            ),
        ] {
            assert_eq!(of_text(message, format), expected, "{message}");
        }
    }

    #[test]
    fn the_name_of_a_function_means_its_schema() {
        let sent = Sent {
            functions: vec!["search"],
            ..everything(ResponseFormat::Strict)
        };
        for message in [
            "Invalid schema for function 'search': In context=(), object schema missing \
             properties.",
            "tools[0].function.parameters: unsupported json schema",
            "The JSON schema of the tool search is not supported",
        ] {
            assert_eq!(of(400, message, json!({}), &sent), None, "{message}");
        }
    }

    #[test]
    fn a_forced_call() {
        for (message, expected) in [
            (
                "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
                Some(Fact::NamedChoice),
            ),
            (
                "Thinking mode does not support this tool_choice",
                Some(Fact::ForcedChoice),
            ),
            (
                "tool_choice specified is incompatible with thinking enabled",
                Some(Fact::ForcedChoice),
            ),
            (
                "tool_choice: type \"tool\" and \"any\" are not supported for this model.",
                Some(Fact::ForcedChoice),
            ),
            (
                "tool_choice forces tool use is not compatible with this model.",
                Some(Fact::ForcedChoice),
            ),
            (
                "This model only supports tool_choice auto",
                Some(Fact::ForcedChoice),
            ),
            (
                "Cannot force a tool call when thinking is enabled",
                Some(Fact::ForcedChoice),
            ),
        ] {
            assert_eq!(
                of_text(message, ResponseFormat::Tool),
                expected,
                "{message}"
            );
        }
    }

    /// The part beside it, not how the model thinks.
    #[test]
    fn the_effort_comes_last() {
        let effort = Some((
            Reasoning::Low,
            Thinking::Effort(super::super::efforts::Effort::Low),
        ));
        let sent = Sent {
            effort,
            ..everything(ResponseFormat::Tool)
        };
        for (message, expected) in [
            (
                "gpt-5 models don't support temperature=0.7. For gpt-5.1, temperature is supported \
                 when reasoning_effort='none'",
                Fact::LeaveOut(Part::Temperature),
            ),
            (
                "Thinking mode does not support this tool_choice",
                Fact::ForcedChoice,
            ),
        ] {
            assert_eq!(
                of(400, message, json!({}), &sent),
                Some(expected),
                "{message}"
            );
        }
        let read = of(
            400,
            "think value \"low\" is not supported for this model",
            json!({}),
            &sent,
        );
        assert!(matches!(read, Some(Fact::Efforts(_))), "{read:?}");
        let read = of(
            400,
            "This model always engages in thinking and cannot be disabled; please use high, or max",
            json!({}),
            &sent,
        );
        assert!(matches!(read, Some(Fact::Efforts(_))), "{read:?}");
    }
}
