//! Which tools a request lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use llmnode_model::ext::{CALL_TOOL, FoundTools, FoundWay, SEARCH_TOOLS};
use llmnode_model::{ApiKind, Category, ChatModel, Message, Request, Role, ToolSpec};
use llmnode_reader::OutputSchema;
use llmnode_reader::text::one_line;
use serde_json::{Value, json};

use super::index::{Index, Indexed};
use crate::error::NodeError;

/// With fewer tools, a search costs more than it saves.
const FEWEST_TOOLS: usize = 20;

/// Models choose badly from more tools, whatever the window: from 30 to 50 on, as
/// Anthropic's page on the tool search says.
const MOST_TO_CHOOSE_FROM: usize = 50;

/// The tools that are not listed have to take more than this part of the window,
/// unless there are too many to choose from.
const SHARE_OF_WINDOW: u64 = 10;

/// Tokens of the smallest window in use, for models of which nobody says which one they have.
const SMALLEST_WINDOW: u64 = 8_192;

/// How many tools a search finds.
pub(super) const MOST_FOUND: usize = 5;

/// Tokens of a prompt whose beginning is not to be changed.
const LONG_PROMPT: usize = 4_000;

const BYTES_OF_A_TOKEN: usize = 4;

/// So many groups are named in the description of the search, which every request has.
const MOST_GROUPS: usize = 40;

/// The search of a conversation.
pub(in crate::run) struct Search {
    pub(super) index: Index,
    /// The places of the tools of the index among all.
    pub(super) deferred: Vec<usize>,
    /// What every request lists.
    always: Vec<ToolSpec>,
    /// Names of groups, with the number of their tools.
    pub(super) groups: String,
}

impl Search {
    /// Leaves out of the request what is not needed yet. `None`: all tools are
    /// listed. `window`: as somebody has set it, and not as a refusal has named it,
    /// since the next process has to list the same tools.
    ///
    /// # Errors
    /// A tool or the answer has a name of the search's own.
    pub(in crate::run) fn begin(
        request: &mut Request,
        model: &dyn ChatModel,
        window: Option<u64>,
    ) -> Result<Option<Box<Self>>, NodeError> {
        let tools = Arc::clone(&request.tools);
        if !is_worth_a_search(&tools, window) {
            return Ok(None);
        }
        check_names(&tools, request.output.as_deref())?;
        let search = Box::new(Search::of(&tools));
        request.all_tools = Some(tools);
        search.find_for_question(request, model);
        search.list(request);
        Ok(Some(search))
    }

    fn of(tools: &[ToolSpec]) -> Self {
        let mut deferred = Vec::new();
        let mut always = Vec::new();
        for (place, tool) in tools.iter().enumerate() {
            if tool.deferred {
                deferred.push(place);
            } else {
                always.push(tool.clone());
            }
        }
        let groups = groups(deferred.iter().map(|&place| &tools[place]));
        always.push(search_tools(deferred.len(), &groups));
        always.push(call_tool());
        let indexed = deferred.iter().map(|&place| indexed(&tools[place]));
        Search {
            index: Index::of(indexed),
            deferred,
            always,
            groups,
        }
    }

    /// A question of a conversation in which tools were found before does not
    /// change a long beginning.
    fn find_for_question(&self, request: &mut Request, model: &dyn ChatModel) {
        let has_found_before = request
            .messages
            .iter()
            .any(|message| message.found().is_some());
        let stays = has_found_before && self.way(request, model, false) != FoundWay::Listed;
        let tools = Arc::clone(request.all_tools.as_ref().unwrap_or(&request.tools));
        let Some(question) = question(request) else {
            return;
        };
        let mut names = Vec::new();
        if !stays {
            let fitting = self.index.best(&question.content, MOST_FOUND, |_| true);
            for at in fitting {
                names.push(tools[self.deferred[at]].name.to_string());
            }
        }
        set_found(question, names);
    }

    /// How a model is to call what is found now. `carries`: the answer that
    /// searches has thoughts beside it.
    pub(super) fn way(&self, request: &Request, model: &dyn ChatModel, carries: bool) -> FoundWay {
        if model.searches_tools(request) {
            return FoundWay::Native;
        }
        // Anthropic's signed thoughts hold for the tools that were listed then.
        let binds_thoughts = model.api_kind() == Some(ApiKind::Anthropic);
        let mut carried = request.messages.iter().filter_map(Message::carried);
        let has_thoughts = carries || carried.next().is_some();
        if binds_thoughts && has_thoughts {
            return FoundWay::Shown;
        }
        if prompt_tokens(request) > LONG_PROMPT {
            return FoundWay::Shown;
        }
        FoundWay::Listed
    }

    /// Lists what was found in the conversation so far, in the order in which it
    /// was found: the beginning of the list stays.
    pub(in crate::run) fn list(&self, request: &mut Request) {
        let mut listed = self.always.clone();
        for found in request.messages.iter().filter_map(Message::found) {
            if found.way != FoundWay::Listed {
                continue;
            }
            for name in &found.names {
                if listed.iter().any(|tool| tool.name == *name) {
                    continue;
                }
                // A tool of an earlier turn may be gone.
                let tool = request.callable().iter().find(|tool| tool.name == *name);
                listed.extend(tool.cloned());
            }
        }
        request.tools = listed.into();
    }

    /// The tools that an earlier process found for the question, in place of those found now.
    pub(in crate::run) fn restore(&self, request: &mut Request, names: Vec<String>) {
        if let Some(question) = question(request) {
            set_found(question, names);
        }
        self.list(request);
    }
}

/// The names of the tools that were found for the question.
pub(in crate::run) fn found_for_question(request: &Request) -> Vec<String> {
    let question = request
        .question
        .and_then(|at| request.messages.get(usize::from(at)));
    match question.and_then(Message::found) {
        Some(found) => found.names.clone(),
        None => Vec::new(),
    }
}

/// A conversation goes on: its question has the tools that it had. `before`: the
/// prompt as it was sent.
pub(in crate::run) fn take_over(request: &mut Request, before: &[Message]) {
    let questions = before
        .iter()
        .rev()
        .filter(|message| message.role == Role::User);
    let Some(found) = questions.filter_map(Message::found).next() else {
        return;
    };
    let names = found.names.clone();
    if let Some(question) = question(request) {
        set_found(question, names);
    }
}

fn question(request: &mut Request) -> Option<&mut Message> {
    let at = request.question.map(usize::from)?;
    request.messages.get_mut(at)
}

fn set_found(question: &mut Message, names: Vec<String>) {
    let found = FoundTools {
        names,
        way: FoundWay::Listed,
    };
    *question = question.clone().finding(Some(found));
}

/// Whether there are too many tools to choose from, or so many and such long ones
/// that a search costs less than to list them all in every request.
fn is_worth_a_search(tools: &[ToolSpec], window: Option<u64>) -> bool {
    if tools.len() < FEWEST_TOOLS {
        return false;
    }
    let deferred: Vec<&ToolSpec> = tools.iter().filter(|tool| tool.deferred).collect();
    if deferred.len() > MOST_TO_CHOOSE_FROM {
        return true;
    }
    let bytes: usize = deferred.into_iter().map(bytes_of).sum();
    let tokens = (bytes / BYTES_OF_A_TOKEN) as u64;
    let window = window.unwrap_or(SMALLEST_WINDOW);
    tokens.saturating_mul(SHARE_OF_WINDOW) >= window
}

fn bytes_of(tool: &ToolSpec) -> usize {
    let schema = tool.schema.plain().get();
    tool.name.len() + tool.description.len() + schema.len()
}

/// Estimated, since nobody counts a prompt before it is sent.
fn prompt_tokens(request: &Request) -> usize {
    let mut bytes = 0;
    for message in &request.messages {
        bytes += message.content.len();
        for call in message.calls() {
            bytes += call.arguments.len();
        }
    }
    for tool in request.tools.iter() {
        bytes += bytes_of(tool);
    }
    bytes / BYTES_OF_A_TOKEN
}

fn check_names(tools: &[ToolSpec], answer: Option<&OutputSchema>) -> Result<(), NodeError> {
    let answer = answer.map(OutputSchema::name);
    for reserved in [SEARCH_TOOLS, CALL_TOOL] {
        let is_tool = tools.iter().any(|tool| tool.name == reserved);
        if is_tool || answer == Some(reserved) {
            let why = format!(
                "a tool or the output is called {reserved:?}, as a tool is that is added for deferred tools; rename it, or leave out \
                 `deferred`"
            );
            return Err(NodeError::new(Category::ConfigError, why));
        }
    }
    Ok(())
}

fn indexed(tool: &ToolSpec) -> Indexed<'_> {
    let mut parameters = String::new();
    let schema = tool.schema.plain().get();
    let schema = serde_json::from_str(schema).unwrap_or_default();
    add_parameters(&schema, 0, &mut parameters);
    Indexed {
        name: &tool.name,
        description: &tool.description,
        parameters,
        group: tool.group(),
    }
}

/// Names and descriptions, at any depth that a person would read.
fn add_parameters(schema: &Value, depth: usize, to: &mut String) {
    const DEEPEST: usize = 4;
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, property) in properties {
        to.push_str(name);
        to.push(' ');
        if let Some(description) = property.get("description").and_then(Value::as_str) {
            to.push_str(description);
            to.push(' ');
        }
        if depth < DEEPEST {
            add_parameters(property, depth + 1, to);
        }
    }
}

/// Groups of one tool say nothing.
fn groups<'t>(tools: impl Iterator<Item = &'t ToolSpec>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in tools {
        *counts.entry(tool.group()).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    let mut shown = Vec::new();
    for (group, count) in counts.iter().take(MOST_GROUPS) {
        let group = one_line(*group, 64);
        shown.push(format!("{group} ({count})"));
    }
    shown.join(", ")
}

fn search_tools(number: usize, groups: &str) -> ToolSpec {
    let about = if groups.is_empty() {
        String::new()
    } else {
        format!(", about: {groups}")
    };
    let description = format!(
        "Finds tools that are not listed here. There are {number} more{about}. Search before you say that something cannot be done."
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool does, in a few words."}
        },
        "required": ["query"],
        "additionalProperties": false
    });
    spec(SEARCH_TOOLS, description, schema)
}

fn call_tool() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the tool."},
            "arguments": {"type": "string", "description": "Its arguments: a JSON object, as text."}
        },
        "required": ["name", "arguments"],
        "additionalProperties": false
    });
    let description = "Calls a tool that `search_tools` has found and that is not listed here.";
    spec(CALL_TOOL, description.to_owned(), schema)
}

fn spec(name: &'static str, description: String, schema: Value) -> ToolSpec {
    let schema = OutputSchema::from_value(name, schema);
    ToolSpec::new(name, description, Arc::new(schema))
}
