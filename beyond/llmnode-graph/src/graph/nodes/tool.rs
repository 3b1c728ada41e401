//! `tool`: executes the calls of the last message, or one call that the file has.

use std::sync::Arc;
use std::time::Duration;

use llmnode_runtime::ext::{MAX_RESULT, capped};
use llmnode_runtime::internal::{CxInternals as _, ToolsetInternals as _};
use llmnode_runtime::{BoxError, BoxFuture, Message, NodeError, ToolCall, Toolset};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::json_template::{JsonTemplate, Members};
use crate::graph::loaded::{CallToApprove, GraphNode, NodeContext};
use crate::graph::node_type::NodeLoader;
use crate::state::{Update, size};

/// The settings of a `tool`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// The tool that is called. Without it, the node executes the calls that an agent has made.
    tool_name: Option<String>,
    /// Its arguments, in whose texts there may be templates.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// The value that the result is written to.
    save_as: Option<String>,
}

pub(super) fn load(node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
    let Data {
        tool_name,
        arguments,
        save_as,
    } = node.data()?;
    let registry = node.context.registry;
    node.untrusted();
    node.facts.also_writes.push(node.id().to_owned());
    if let Some(key) = &save_as {
        node.writes_at("/save_as", key, &["string", "array", "object"]);
    }
    let Some(name) = tool_name else {
        if !arguments.is_empty() {
            node.fault(
                "/arguments",
                "have no tool: add a \"tool_name\", or remove them",
            );
        }
        // Nobody is asked here, so tools that need an approval are left out.
        let tools = &registry.0.tools;
        let runs: Vec<&str> = tools
            .names()
            .filter(|name| !tools.clone().only([name]).may_pause())
            .collect();
        return Some(Arc::new(Executor {
            tools: tools.clone().only(runs),
            save_as,
        }));
    };
    if !registry.0.tools.names().any(|tool| tool == name) {
        node.unknown("/tool_name", "tool", &name, registry.0.tools.names());
    }
    let arguments = JsonTemplate::members(&arguments, "/arguments", node);
    let tools = registry.0.tools.clone().only([&name]);
    // The tool call is all of the node, so the node waits.
    node.facts.pauses |= tools.may_pause();
    let calling = Arc::new(ToolCallNode {
        tools,
        name,
        arguments,
        save_as,
    });
    node.call = Some(Arc::clone(&calling) as Arc<dyn CallToApprove>);
    Some(calling)
}

/// A node that makes one call, whose arguments the file has.
struct ToolCallNode {
    tools: Toolset,
    name: String,
    arguments: Members,
    save_as: Option<String>,
}

impl CallToApprove for ToolCallNode {
    fn call(&self, visit: &NodeContext<'_>) -> Result<ToolCall, NodeError> {
        let arguments = Value::Object(JsonTemplate::object(&self.arguments, visit)?);
        Ok(ToolCall::new("call_1", &*self.name, arguments.to_string()))
    }

    fn refuses(&self, call: &ToolCall) -> Option<String> {
        self.tools.refused_arguments(call)
    }
}

impl GraphNode for ToolCallNode {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            let ran = match visit.approved {
                Some(call) => ran(&self.tools, visit, call).await?,
                None => ran(&self.tools, visit, &self.call(visit)?).await?,
            };
            let update = Update::new().saving(self.save_as.as_ref(), || value_of(&ran.result));
            Ok(update.with_value(visit.id(), trace(vec![ran])))
        })
    }
}

/// A node that executes what an agent before it has called.
struct Executor {
    tools: Toolset,
    save_as: Option<String>,
}

impl GraphNode for Executor {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            let turns = &visit.state().turns;
            let last = turns
                .iter()
                .rposition(|turn| turn.message.answers().is_none());
            // A history from the program makes no calls.
            let Some(last) = last.filter(|last| turns[*last].from.is_some()) else {
                return Ok(Update::new());
            };
            let answered: Vec<&str> = turns[last..]
                .iter()
                .filter_map(|turn| turn.message.answers())
                .collect();
            let calls = turns[last].message.calls().iter();
            let open = calls.filter(|call| !answered.contains(&call.id.as_str()));
            let mut update = Update::new();
            let mut all = Vec::new();
            for call in open {
                let ran = ran(&self.tools, visit, call).await?;
                let message = Message::tool(&*call.id, capped(ran.result.clone(), MAX_RESULT));
                update = update.with_message(if ran.failed {
                    message.failed()
                } else {
                    message
                });
                all.push(ran);
            }
            let Some(last) = all.last() else {
                return Ok(update);
            };
            let update = update.saving(self.save_as.as_ref(), || value_of(&last.result));
            Ok(update.with_value(visit.id(), trace(all)))
        })
    }
}

/// A call and its result, for the trace.
pub(super) struct ExecutedCall {
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) result: String,
    pub(super) failed: bool,
    pub(super) time: Duration,
}

/// Executes a call, and measures how long it took.
async fn ran(
    tools: &Toolset,
    visit: &NodeContext<'_>,
    call: &ToolCall,
) -> Result<ExecutedCall, NodeError> {
    let clock = &visit.cx().caller().0.clock;
    let began = clock.now();
    let run = tools.execute(visit.cx(), call).await?;
    let (result, failed) = match run {
        Some(run) => (run.reply.to_string(), run.failed),
        None => (
            "the tool has no body of its own, so nothing executes it here".to_owned(),
            true,
        ),
    };
    let time = clock.now().saturating_duration_since(began);
    let name = call.name.clone();
    let arguments = arguments_of(&call.arguments);
    Ok(ExecutedCall {
        name,
        arguments,
        result,
        failed,
        time,
    })
}

/// What is no JSON is shown as the text that it is.
pub(super) fn arguments_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// For front ends: `{tools: [{name, arguments, result, ms}], last_tool_input, output}`, all within one result's limit.
pub(super) fn trace(all: Vec<ExecutedCall>) -> Value {
    let most = MAX_RESULT / all.len().max(1);
    let mut input = Value::Null;
    let mut output = Value::Null;
    let mut tools = Vec::with_capacity(all.len());
    for call in all {
        let arguments = if size(&call.arguments) > most {
            Value::String(capped(call.arguments.to_string(), most))
        } else {
            call.arguments
        };
        let result = capped(call.result, most);
        let ms = u64::try_from(call.time.as_millis()).unwrap_or(u64::MAX);
        tools.push(json!({"name": call.name, "arguments": arguments, "result": result, "ms": ms}));
        input = arguments;
        output = Value::String(result);
    }
    json!({"tools": tools, "last_tool_input": input, "output": output})
}

/// A result that is JSON is written as such. A number stays the text that the tool wrote.
fn value_of(result: &str) -> Value {
    match serde_json::from_str(result) {
        Ok(value @ (Value::Array(_) | Value::Object(_))) => value,
        _ => Value::String(result.to_owned()),
    }
}
