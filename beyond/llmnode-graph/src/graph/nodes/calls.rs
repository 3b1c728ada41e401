//! The nodes that an agent may call, as tools of its model.

use std::sync::Arc;

use llmnode_runtime::ext::ToolFn;
use llmnode_runtime::{Cx, OutputSchema, ToolCall, ToolReply, ToolSpec, Toolset};
use serde_json::{Value, json};

use crate::graph::loaded::{GraphStep, NodeContext};
use crate::graph::roles::{LinkKind, ToolLink};
use crate::state::State;

pub(super) fn with_links(tools: Toolset, links: &[ToolLink], visit: &NodeContext<'_>) -> Toolset {
    let mut values = None;
    links
        .iter()
        .enumerate()
        .filter(|(_, link)| link.is_callable())
        .fold(tools, |tools, (at, link)| match link.kind {
            LinkKind::Handoff => tools.handoff(spec(link), at),
            _ => {
                let values =
                    values.get_or_insert_with(|| Arc::new(visit.state().with_turns(Vec::new())));
                let body = body(link.node, visit, Arc::clone(values));
                let runs = tools.calling(link.name.clone(), description(link), schema(), body);
                if visit.step.waits(link.node) {
                    require_approval_for(runs, &link.name)
                } else {
                    runs
                }
            }
        })
}

pub(super) fn named(tools: Toolset, links: &[ToolLink]) -> Toolset {
    let called = links.iter().filter(|link| link.is_callable());
    called.fold(tools, |tools, link| tools.external(spec(link)))
}

fn require_approval_for(tools: Toolset, name: &str) -> Toolset {
    let others: Vec<String> = tools
        .names()
        .filter(|one| *one != name)
        .map(str::to_owned)
        .collect();
    let last = tools.clone().only([name]).require_approval();
    tools.only(others).with(last)
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]})
}

fn spec(link: &ToolLink) -> ToolSpec {
    let schema = Arc::new(OutputSchema::from_value(&link.name, schema()));
    ToolSpec::new(link.name.clone(), description(link), schema)
}

fn description(link: &ToolLink) -> String {
    match link.kind {
        LinkKind::Handoff => format!(
            "Hands over to {}, who continues with the query.",
            link.label
        ),
        _ => format!(
            "Asks {}, who sees the query alone, and returns the answer.",
            link.label
        ),
    }
}

/// The query is the only message of the node's state.
fn body(node: usize, visit: &NodeContext<'_>, values: Arc<State>) -> Arc<ToolFn> {
    let step = Arc::new(visit.step.for_call(node));
    Arc::new(move |cx: &Cx<'_, ()>, arguments: Value| {
        let step = step.clone();
        let values = Arc::clone(&values);
        Box::pin(async move {
            let step: &GraphStep = match &*step {
                Ok(step) => step,
                Err(why) => return Ok((ToolReply::new(*why), None)),
            };
            let state = GraphStep::state_of_query(query(&arguments), &values);
            let cx = cx.with_state(&state);
            let report = cx.call(step).report().await?;
            Ok((
                ToolReply::new(report.value.answer()),
                Some(report.record.id),
            ))
        })
    })
}

/// `query`, else `question`, else all arguments.
pub(super) fn query(arguments: &Value) -> String {
    let question = ["query", "question"]
        .iter()
        .find_map(|name| arguments.get(name)?.as_str());
    question.map_or_else(|| arguments.to_string(), str::to_owned)
}

pub(super) fn query_of(call: &ToolCall) -> String {
    match serde_json::from_str(&call.arguments) {
        Ok(arguments) => query(&arguments),
        Err(_) => call.arguments.clone(),
    }
}
