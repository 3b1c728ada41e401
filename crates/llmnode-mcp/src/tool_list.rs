//! The tools of a server, listed when it is connected.

use std::collections::BTreeSet;

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use crate::clean;

/// Tools of one server for an agent.
pub(crate) const MOST: usize = 128;
/// Tools that are searched for those of `only`.
const MAX_SCANNED_TOOLS: usize = 4096;
const MAX_PAGES: usize = 256;
/// For all scanned tools. A single page may be as large as a message.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;
const MAX_SCHEMA_BYTES: usize = 64 * 1024;

#[derive(Clone)]
pub(crate) struct ListedTool {
    pub(crate) own: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
}

pub(crate) async fn fetch_tools(server: &str, peer: &Peer<RoleClient>) -> Result<Vec<Tool>, ServiceError> {
    let (mut tools, mut bytes, mut cursor) = (Vec::new(), 0, None);
    for _ in 0..MAX_PAGES {
        let page =
            peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor.take()))).await?;
        for tool in page.tools {
            bytes += serde_json::to_string(&tool).map_or(MAX_LIST_BYTES, |json| json.len());
            if bytes > MAX_LIST_BYTES || tools.len() == MAX_SCANNED_TOOLS {
                tracing::warn!(server, "the list of tools is too long; the rest of it is left out");
                return Ok(tools);
            }
            tools.push(tool);
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    Ok(tools)
}

/// Selects those of `only`, and prefixes the server's name.
pub(crate) fn clean(
    server: &str,
    tools: Vec<Tool>,
    only: Option<&[String]>,
) -> Result<Vec<ListedTool>, String> {
    if let Some(only) = only {
        let there: BTreeSet<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let missing: Vec<_> = only.iter().filter(|name| !there.contains(name.as_str())).collect();
        if !missing.is_empty() {
            let there: Vec<_> = there.into_iter().take(MOST).map(clean::name).collect();
            return Err(format!("`only` names {missing:?}, which it does not have; it has {there:?}"));
        }
    }
    let wanted = |tool: &Tool| only.is_none_or(|only| only.iter().any(|name| **name == tool.name));
    let mut listed: Vec<ListedTool> = Vec::new();
    for tool in tools.into_iter().filter(wanted) {
        let name = clean::name(&format!("{server}_{}", tool.name));
        if let Some(other) = listed.iter().find(|other| other.name == name) {
            let (own, other) = (clean::name(&tool.name), clean::name(&other.own));
            return Err(format!(
                "its tools {other:?} and {own:?} would both be called `{name}`; choose some with `only`"
            ));
        }
        if listed.len() == MOST {
            return Err(format!("it has more than {MOST} tools; choose some with `only`"));
        }
        let mut schema = Value::Object((*tool.input_schema).clone());
        clean::clean_schema(&mut schema);
        if schema.to_string().len() > MAX_SCHEMA_BYTES {
            tracing::warn!(server, tool = name, "the schema of this tool is too long; the tool is left out");
            continue;
        }
        if clean::has_hidden(&schema) {
            tracing::warn!(
                server,
                tool = name,
                "the schema of this tool has invisible characters in a name or a value; the tool is left out"
            );
            continue;
        }
        let text = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let description = clean::description(text);
        listed.push(ListedTool { own: tool.name.into_owned(), name, description, schema });
    }
    Ok(listed)
}
