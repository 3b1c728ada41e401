//! What a model reads of a search, and of a call of a tool that is not listed.

use std::sync::Arc;

use llmnode_model::ext::{CALL_TOOL, FoundTools, FoundWay, SEARCH_TOOLS};
use llmnode_model::{ChatModel, Message, Request, Role, ToolCall, ToolSpec};
use llmnode_reader::text::{nearest, one_line};
use serde_json::Value;

use super::deferred::{MOST_FOUND, Search};
use super::through::called_name;
use crate::run::tools::outcome::{ToolEffect, ToolOutcome};
use crate::run::tools::value::ToolReply;

/// The most bytes of a sentence of a description.
const MOST_OF_A_SENTENCE: usize = 200;

/// The most bytes of a schema in a result.
const MOST_OF_A_SCHEMA: usize = 8 * 1024;

/// The most names that are shown where nothing fits.
const MOST_NAMES: usize = 500;

/// After how many searches without a result all names are shown.
const MISSES: usize = 2;

/// The search during one round.
#[derive(Clone, Copy)]
pub(in crate::run) struct Finding<'s> {
    search: &'s Search,
    /// How what is found in this round is called.
    way: FoundWay,
}

impl Search {
    /// The search during a round. `carries`: the round's answer has thoughts beside it.
    pub(in crate::run) fn finding(
        &self,
        request: &Request,
        model: &dyn ChatModel,
        carries: bool,
    ) -> Finding<'_> {
        let way = self.way(request, model, carries);
        Finding { search: self, way }
    }
}

impl Finding<'_> {
    /// The answer to a call that no tool has the name of.
    pub(in crate::run::tools) fn answer(&self, call: &ToolCall, request: &Request) -> ToolOutcome {
        match &*call.name {
            SEARCH_TOOLS => self.searched(&query(&call.arguments), request),
            CALL_TOOL => match called_name(&call.arguments) {
                Some(name) => self.unknown(&name, request),
                None => ToolOutcome::refused(
                    "invalid_arguments",
                    "These arguments were not accepted: `name` is the name of a tool, and `arguments` are its arguments",
                ),
            },
            name => self.unknown(name, request),
        }
    }

    fn searched(&self, query: &str, request: &Request) -> ToolOutcome {
        let places = self.fitting(query, request);
        let text = if places.is_empty() {
            self.nothing_fits(request)
        } else {
            self.listing(&places, request)
        };
        let found = self.found(&places, request);
        let reply = ToolReply::new(text);
        ToolOutcome::done(reply, None).finding(found)
    }

    /// The name is what the model looks for.
    fn unknown(&self, name: &str, request: &Request) -> ToolOutcome {
        let mut places = self.fitting(name, request);
        let tools = request.callable();
        let names = tools.iter().map(|tool| &*tool.name);
        // A slip of the pen has no word in common with the name.
        if let Some(meant) = nearest(name, names)
            && let Some(place) = place_of(tools, meant)
            && !places.contains(&place)
        {
            places.push(place);
        }
        let shown = one_line(name, MOST_OF_A_SENTENCE);
        let rest = if places.is_empty() {
            self.nothing_fits(request)
        } else {
            self.listing(&places, request)
        };
        let message = format!("there is no tool {shown:?}. {rest}");
        let found = self.found(&places, request);
        ToolOutcome::refused("unknown_tool", message).finding(found)
    }

    /// Places among all tools. What is listed already is no news, so there are others beside it.
    fn fitting(&self, query: &str, request: &Request) -> Vec<usize> {
        let Search {
            index, deferred, ..
        } = self.search;
        let mut found = index.best(query, MOST_FOUND, |_| true);
        let mut news = found
            .iter()
            .filter(|at| self.is_news(**at, request))
            .count();
        for other in index.best(query, MOST_FOUND, |at| self.is_news(at, request)) {
            if news < MOST_FOUND && !found.contains(&other) {
                found.push(other);
                news += 1;
            }
        }
        found.into_iter().map(|at| deferred[at]).collect()
    }

    /// Of a place in the index.
    fn is_news(&self, at: usize, request: &Request) -> bool {
        let tool = &request.callable()[self.search.deferred[at]];
        !is_listed(request, &tool.name)
    }

    fn found(&self, places: &[usize], request: &Request) -> FoundTools {
        let tools = request.callable();
        let names = places.iter().map(|&place| tools[place].name.to_string());
        FoundTools {
            names: names.collect(),
            way: self.way,
        }
    }

    fn listing(&self, places: &[usize], request: &Request) -> String {
        let mut listing = match self.way {
            FoundWay::Shown => format!(
                "These tools fit. Call those that are not listed by `{CALL_TOOL}`, with arguments of their schemas:"
            ),
            FoundWay::Listed | FoundWay::Native => {
                "These tools fit, and can be called now:".to_owned()
            }
        };
        for &place in places {
            let tool = &request.callable()[place];
            let name = &tool.name;
            let sentence = first_sentence(&tool.description);
            listing.push_str(&format!("\n- {name}: {sentence}"));
            if self.way != FoundWay::Listed && !is_listed(request, &tool.name) {
                listing.push_str("\n  ");
                listing.push_str(&schema(tool));
            }
        }
        listing
    }

    fn nothing_fits(&self, request: &Request) -> String {
        let misses_before = request
            .messages
            .iter()
            .filter(|message| message.role == Role::Tool)
            .filter_map(Message::found)
            .filter(|found| found.names.is_empty())
            .count();
        if misses_before + 1 >= MISSES {
            let mut names: Vec<&str> = Vec::new();
            for tool in request.callable().iter().take(MOST_NAMES) {
                names.push(&tool.name);
            }
            let names = names.join(", ");
            return format!("No tool fits. All tools are: {names}");
        }
        match &*self.search.groups {
            "" => "No tool fits. Search in other words.".to_owned(),
            groups => format!(
                "No tool fits; these groups of tools exist: {groups}. Search in other words."
            ),
        }
    }

    /// A tool was called that is not listed: it is from now on, or the model reads
    /// its schema if it needs it.
    pub(in crate::run::tools) fn noted(
        &self,
        mut outcome: ToolOutcome,
        call: &ToolCall,
        request: &Request,
    ) -> ToolOutcome {
        if is_listed(request, &call.name) {
            return outcome;
        }
        let tools = request.callable();
        let Some(place) = place_of(tools, &call.name) else {
            return outcome;
        };
        let is_shown = call.through.is_some() || self.way != FoundWay::Listed;
        if !is_shown {
            return outcome.finding(self.found(&[place], request));
        }
        if let ToolEffect::Failure(message) = &mut outcome.effect
            && outcome.label == "invalid_arguments"
        {
            message.push_str("\nTheir schema: ");
            message.push_str(&schema(&tools[place]));
        }
        outcome
    }
}

fn is_listed(request: &Request, name: &str) -> bool {
    request.tools.iter().any(|tool| tool.name == name)
}

fn place_of(tools: &[ToolSpec], name: &str) -> Option<usize> {
    tools.iter().position(|tool| tool.name == name)
}

/// All texts of the arguments: some models name the query in another way.
fn query(arguments: &str) -> String {
    let mut texts = Vec::new();
    match serde_json::from_str(arguments) {
        Ok(arguments) => add_texts(&arguments, &mut texts),
        Err(_) => texts.push(arguments.to_owned()),
    }
    texts.join(" ")
}

fn add_texts(value: &Value, to: &mut Vec<String>) {
    match value {
        Value::String(text) => to.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, to)),
        Value::Object(members) => members.values().for_each(|value| add_texts(value, to)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn first_sentence(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    one_line(&line[..end], MOST_OF_A_SENTENCE)
}

/// A schema that is cut would be read wrong.
fn schema(tool: &ToolSpec) -> String {
    let schema = Arc::clone(&tool.schema);
    let text = schema.plain().get();
    if text.len() > MOST_OF_A_SCHEMA {
        return "its schema is too long to be shown; an error names what is wrong".to_owned();
    }
    text.to_owned()
}
