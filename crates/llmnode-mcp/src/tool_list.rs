//! The tools of a server, listed when it is connected.
//!
//! A list is read page by page and tool by tool. A tool that cannot be offered is
//! left out, with the reason, and costs no other one; a page that cannot be read
//! ends the list, if it is not the first.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_reader::ask::fault_of_parameters;
use rmcp::model::{ListToolsResult, PaginatedRequestParams, Tool, ToolAnnotations};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use crate::clean;
use crate::failure::of_service;
use crate::message::{LEFT_OUT, READABLE};

/// Tools of one server for an agent.
pub(crate) const MOST: usize = 128;
/// Tools that are searched for those of `only`.
const MAX_SCANNED_TOOLS: usize = 4096;
const MAX_PAGES: usize = 256;
/// For all scanned tools. A single page may be as large as a message.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// Of what was left out.
const MAX_REASONS: usize = 256;
/// By which a schema says that an argument is sent as a header, too.
const IN_HEADER: &str = "x-mcp-header";
/// What is said of the list itself stands under the name of its request.
const LIST: &str = "tools/list";

#[derive(Clone)]
pub(crate) struct ListedTool {
    pub(crate) name_at_server: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    /// What the server says that it does. Nothing is decided by it.
    pub(crate) hints: String,
}

/// What a server has.
#[derive(Default)]
pub(crate) struct Fetched {
    tools: Vec<Tool>,
    pub(crate) left_out: LeftOut,
}

impl Fetched {
    /// Whether arguments are sent as headers, too, as the list says.
    pub(crate) fn has_arguments_in_headers(&self) -> bool {
        let mut schemas = self.tools.iter().map(|tool| &tool.input_schema);
        schemas.any(|schema| {
            serde_json::to_string(&**schema).is_ok_and(|json| json.contains(IN_HEADER))
        })
    }
}

/// Names, and why they are not there.
#[derive(Clone, Default)]
pub(crate) struct LeftOut(pub(crate) BTreeMap<String, String>);

impl LeftOut {
    fn add(&mut self, server: &str, name: &str, reason: &str) {
        tracing::warn!(server, tool = name, "left out: {reason}");
        if self.0.len() < MAX_REASONS {
            self.0.insert(name.to_owned(), reason.to_owned());
        }
    }
}

/// `redact`: what a server says may repeat its token.
pub(crate) async fn fetch_tools(
    server: &str,
    peer: &Peer<RoleClient>,
    redact: impl Fn(&str) -> String,
) -> Result<Fetched, ServiceError> {
    let mut fetched = Fetched::default();
    let mut bytes = 0;
    let mut cursor = None;
    let mut seen = BTreeSet::new();
    for page in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let listed = match peer.list_tools(Some(params)).await {
            Ok(listed) => listed,
            Err(error) if page == 0 => return Err(error),
            Err(error) => {
                let why = redact(&of_service(&error).of_a_connection());
                fetched.left_out.add(
                    server,
                    LIST,
                    &format!("the rest of the list cannot be read: {why}"),
                );
                return Ok(fetched);
            }
        };
        for (name, reason) in left_out_of(&listed) {
            fetched
                .left_out
                .add(server, &redact(&name), &redact(&reason));
        }
        for tool in listed.tools {
            bytes += serde_json::to_string(&tool).map_or(MAX_LIST_BYTES, |json| json.len());
            if bytes > MAX_LIST_BYTES || fetched.tools.len() == MAX_SCANNED_TOOLS {
                fetched.left_out.add(
                    server,
                    LIST,
                    "the list is too long; the rest of it is left out",
                );
                return Ok(fetched);
            }
            fetched.tools.push(tool);
        }
        let Some(next) = listed.next_cursor else {
            return Ok(fetched);
        };
        if !seen.insert(next.clone()) {
            fetched
                .left_out
                .add(server, LIST, "the list begins again: a cursor came twice");
            return Ok(fetched);
        }
        cursor = Some(next);
    }
    fetched.left_out.add(
        server,
        LIST,
        "the list has too many pages; the rest of it is left out",
    );
    Ok(fetched)
}

/// What could not be read of a page, and what rmcp has left out of it: the protocol forbids some headers.
fn left_out_of(page: &ListToolsResult) -> Vec<(String, String)> {
    let named = of_meta(page, LEFT_OUT).filter_map(|one| {
        Some((
            one["name"].as_str()?.to_owned(),
            one["reason"].as_str()?.to_owned(),
        ))
    });
    let kept: BTreeSet<&str> = page.tools.iter().map(|tool| &*tool.name).collect();
    let readable = of_meta(page, READABLE).filter_map(Value::as_str);
    let others = readable.filter(|name| !kept.contains(name)).map(|name| {
        let reason = format!("its schema has an `{IN_HEADER}` that the protocol forbids");
        (name.to_owned(), reason)
    });
    named.chain(others).collect()
}

fn of_meta<'p>(page: &'p ListToolsResult, key: &str) -> impl Iterator<Item = &'p Value> {
    let list = page.meta.as_ref().and_then(|meta| meta.get(key));
    list.and_then(Value::as_array).into_iter().flatten()
}

/// Selects those of `only`, and prefixes the server's name. `redact`: a server may build a description from its settings.
pub(crate) fn clean(
    server: &str,
    fetched: &mut Fetched,
    only: Option<&[String]>,
    redact: &dyn Fn(&str) -> String,
) -> Result<Vec<ListedTool>, String> {
    let tools = std::mem::take(&mut fetched.tools);
    if let Some(only) = only {
        check_only(&tools, &fetched.left_out, only).map_err(|why| redact(&why))?;
    }
    let mut listed: Vec<ListedTool> = Vec::new();
    for tool in tools
        .into_iter()
        .filter(|tool: &Tool| only.is_none_or(|only| only.iter().any(|name| **name == tool.name)))
    {
        let name_at_server = tool.name.to_string();
        match offered(server, tool, &listed, redact) {
            Ok(_) if listed.len() == MOST => {
                return Err(format!(
                    "it has more than {MOST} tools; choose some with `only`"
                ));
            }
            Ok(tool) => listed.push(tool),
            Err(reason) => {
                let name = clean::name(&redact(&name_at_server));
                fetched.left_out.add(server, &name, &redact(&reason));
            }
        }
    }
    Ok(listed)
}

fn check_only(tools: &[Tool], left_out: &LeftOut, only: &[String]) -> Result<(), String> {
    let there: BTreeSet<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let missing: Vec<_> = only
        .iter()
        .filter(|name| !there.contains(name.as_str()))
        .collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    if let Some(reason) = left_out.0.get(first.as_str()) {
        return Err(format!(
            "`only` names {first:?}, which was left out: {reason}"
        ));
    }
    let there: Vec<_> = there.into_iter().take(MOST).map(clean::name).collect();
    Err(format!(
        "`only` names {missing:?}, which it does not have; it has {there:?}"
    ))
}

/// A tool as models see it, or why none does.
fn offered(
    server: &str,
    tool: Tool,
    listed: &[ListedTool],
    redact: &dyn Fn(&str) -> String,
) -> Result<ListedTool, String> {
    let name = clean::name(&format!("{server}_{}", tool.name));
    if let Some(other) = listed.iter().find(|other| other.name == name) {
        let other = clean::name(&other.name_at_server);
        return Err(format!(
            "it would be called `{name}`, as {other:?} is; choose one of them with `only`"
        ));
    }
    let mut schema = Value::Object((*tool.input_schema).clone());
    clean::clean_schema(&mut schema, &|text| described(text, redact));
    if schema.to_string().len() > MAX_SCHEMA_BYTES {
        return Err("its schema is too long".to_owned());
    }
    if clean::has_hidden(&schema) {
        return Err("its schema has invisible characters in a name or a value".to_owned());
    }
    if has_key(&tool.name, redact) || has_key(&schema.to_string(), redact) {
        return Err(
            "its name, or a name or a value of its schema, has a key of its server".to_owned(),
        );
    }
    if let Some(fault) = fault_of_parameters(&schema) {
        return Err(format!("its schema cannot be used: {fault}"));
    }
    let text = tool
        .description
        .as_deref()
        .or(tool.title.as_deref())
        .unwrap_or_default();
    let description = described(text, redact);
    let hints = hints(tool.annotations.as_ref());
    Ok(ListedTool {
        name_at_server: tool.name.into_owned(),
        name,
        description,
        schema,
        hints,
    })
}

fn described(text: &str, redact: &dyn Fn(&str) -> String) -> String {
    // Before it is cut, since a half of a key is not found, and once it has no hidden characters.
    redact(&clean::description(&redact(text)))
}

/// Whether a word of it is a key, and nothing else: `postgres` may be a password, and is a part of names.
fn has_key(text: &str, redact: &dyn Fn(&str) -> String) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
        .filter(|word| word.len() >= 12 && word.contains(|c: char| c.is_ascii_digit()))
        .any(|word| redact(word) != word)
}

fn hints(annotations: Option<&ToolAnnotations>) -> String {
    let Some(annotations) = annotations else {
        return String::new();
    };
    let hints = [
        (annotations.read_only_hint, "only reads", "changes things"),
        (
            annotations.destructive_hint,
            "may destroy",
            "destroys nothing",
        ),
        (
            annotations.idempotent_hint,
            "may be repeated",
            "may not be repeated",
        ),
        (
            annotations.open_world_hint,
            "reaches others",
            "stays on this machine",
        ),
    ];
    let words = hints
        .into_iter()
        .filter_map(|(hint, yes, no)| hint.map(|hint| if hint { yes } else { no }));
    words.collect::<Vec<_>>().join(", ")
}
