//! `agent`: asks a model, with tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use llmnode_runtime::internal::{error_of_execution, rounds};
use llmnode_runtime::{
    BoxError, BoxFuture, Category, Exec, Message, NodeError, Paused, Primitive, Role, ToolCall, Toolset,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::calls::{named, query_of, with_links};
use super::schema_of;
use super::tool::{Ran, arguments_of, trace};
use crate::facts::Place;
use crate::faults::FaultKind;
use crate::graph::door::{GraphNode, Loading, NodeType, Visit};
use crate::graph::roles::{LinkKind, TOOL_CALL, ToolLink};
use crate::state::{Update, text_of, view};
use crate::template::Template;

pub(crate) struct AgentType;

/// The settings of an `agent`.
#[derive(Deserialize, JsonSchema)]
struct Data {
    /// The registered model that is asked. Default: the run's own.
    profile: Option<String>,
    /// The instruction, a template. It may read what the program gives, and not what a model, a tool or a search wrote.
    system_prompt: Option<String>,
    /// The message of a visit, a template, which is added behind the conversation.
    prompt: Option<String>,
    /// The tools that the model may call.
    #[serde(default)]
    tools: Vec<String>,
    /// How many responses of the model a visit has at most, with tools. Default: 10.
    #[schemars(range(min = 1, max = 1000))]
    max_iterations: Option<u32>,
    /// Whether the answer is a JSON object whose members become values.
    #[serde(default)]
    flexible_mode: bool,
    /// The JSON schema of an object. The answer is such an object, whose members become values.
    output_schema: Option<Map<String, Value>>,
    /// The value that the answer is written to.
    save_as: Option<String>,
    /// Declared values that a flexible answer may write.
    #[serde(default)]
    writes: Vec<String>,
}

impl NodeType for AgentType {
    fn name(&self) -> &str {
        "agent"
    }

    fn schema(&self) -> Value {
        schema_of::<Data>()
    }

    fn load(&self, node: &mut Loading<'_>) -> Option<Arc<dyn GraphNode>> {
        let before = node.faults.noted();
        let data: Data = node.data()?;
        if let Some(profile) = &data.profile {
            node.profile("/profile", profile);
        }
        let system =
            data.system_prompt.as_ref().map(|text| node.template_in("/system_prompt", text, Place::System));
        let prompt = data.prompt.as_ref().map(|text| node.template("/prompt", text));
        let tools = listed(&data.tools, node);
        let answer = writes(&data, node);
        node.untrusted();
        node.handles(&["default", TOOL_CALL], &[]);
        let on_way = node.links.iter().any(|link| link.kind == LinkKind::ExecutorOnWay);
        node.facts.pauses |= tools.may_pause();
        if on_way && tools.may_pause() {
            let message = "a tool here waits for an approval or a result, but the node that executes it cannot wait: let that node lead \
                           back to the agent, and nowhere else";
            node.fault("/tools", message);
        }
        let primitive = primitive(&data, &answer, &tools, before, node)?;
        Some(Arc::new(Agent {
            primitive,
            profile: data.profile,
            system,
            prompt,
            tools: if on_way { tools.as_external() } else { tools },
            links: node.links.to_vec(),
            answer,
            save_as: data.save_as,
        }))
    }
}

/// The registered tools among those that are listed. The others are nodes that the agent may call.
fn listed(names: &[String], node: &mut Loading<'_>) -> Toolset {
    let (registry, links) = (node.registry, node.links);
    let mut found: Vec<&str> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let place = format!("/tools/{index}");
        if found.contains(&name.as_str()) {
            node.fault_of(
                FaultKind::Duplicate,
                &place,
                format!("the tool {name:?} is listed twice; remove one"),
            );
        } else if registry.tools().names().any(|tool| tool == name) {
            found.push(name);
        } else if !links.iter().any(|link| link.is_named(name)) {
            let called = links.iter().filter(|link| link.is_called()).map(|link| link.label.as_str());
            node.unknown(&place, "tool", name, registry.tools().names().chain(called));
        }
    }
    let mut taken: Vec<String> = found.iter().map(|name| name.to_lowercase()).collect();
    for link in links.iter().filter(|link| link.is_called()) {
        let name = link.name.to_lowercase();
        if taken.contains(&name) {
            let message = format!(
                "{:?} has two tools with the name {:?}: give one of them another label",
                node.id(),
                link.name
            );
            node.faults.fault(&link.at, FaultKind::Duplicate, message);
        }
        taken.push(name);
    }
    registry.tools().clone().only(found)
}

/// The JSON types of values that an agent writes.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// What the model answers, and what becomes of it.
enum Answer {
    Text,
    /// An object of any members; of those that the file declares, these are written.
    Flexible(Vec<String>),
    /// An object of these members.
    Members(Vec<String>),
}

fn writes(data: &Data, node: &mut Loading<'_>) -> Answer {
    if let Some(key) = &data.save_as {
        let is_object = data.flexible_mode || data.output_schema.is_some();
        node.writes_at("/save_as", key, if is_object { &["object"] } else { &["string"] });
    }
    if data.flexible_mode {
        for (index, key) in data.writes.iter().enumerate() {
            node.writes_at(&format!("/writes/{index}"), key, &[]);
        }
        node.writes_anything();
        return Answer::Flexible(data.writes.clone());
    }
    if !data.writes.is_empty() {
        node.fault("/writes", "has no effect without \"flexible_mode\": true; set that, or remove this");
    }
    let Some(schema) = &data.output_schema else { return Answer::Text };
    let members: Vec<String> = match schema.get("properties") {
        Some(Value::Object(members)) if !members.is_empty() => members.keys().cloned().collect(),
        _ => {
            node.fault("/output_schema", "has no \"properties\": list the members of the answer there");
            node.facts.unclear = true;
            Vec::new()
        }
    };
    for key in &members {
        let kind = schema.get("properties").and_then(|members| members.get(key)?.get("type")?.as_str());
        let types: Vec<&str> = TYPES.iter().copied().filter(|one| Some(*one) == kind).collect();
        node.writes_at(&format!("/output_schema/properties/{}", crate::faults::escaped(key)), key, &types);
    }
    Answer::Members(members)
}

/// The call of the model, but for what each visit has of its own.
fn primitive(
    data: &Data,
    answer: &Answer,
    tools: &Toolset,
    before: usize,
    node: &mut Loading<'_>,
) -> Option<Primitive> {
    let tools = named(tools.clone(), node.links);
    // A node without an id has its fault.
    let name = Some(node.id()).filter(|id| !id.is_empty()).unwrap_or("agent");
    let builder = Primitive::builder(name.to_owned());
    let builder = match answer {
        Answer::Text => builder.text(),
        Answer::Flexible(_) => builder.output_schema(json!({"type": "object"})),
        Answer::Members(_) => {
            let mut schema = data.output_schema.clone().unwrap_or_default();
            schema.entry("type").or_insert_with(|| "object".into());
            builder.output_schema(schema)
        }
    };
    let builder = match &data.profile {
        Some(profile) => builder.model(profile.clone()),
        None => builder,
    };
    // Without tools there is one response in any case.
    let has_tools = tools.names().next().is_some();
    let builder = match data.max_iterations.filter(|_| has_tools) {
        Some(turns) => builder.turns(turns),
        None => builder,
    };
    match builder.tools(tools).build() {
        Ok(primitive) => Some(primitive),
        Err(error) => {
            // It may come of what was noted.
            if node.faults.noted() == before {
                let place = if data.output_schema.is_some() { "/output_schema" } else { "" };
                node.fault(place, error.message().to_owned());
            }
            None
        }
    }
}

struct Agent {
    primitive: Primitive,
    profile: Option<String>,
    system: Option<Template>,
    prompt: Option<Template>,
    /// The registered ones.
    tools: Toolset,
    links: Vec<ToolLink>,
    answer: Answer,
    save_as: Option<String>,
}

/// What the model is told if the conversation ends with nothing to answer.
const GO_ON: &str = "Go on.";

impl GraphNode for Agent {
    fn exec<'a>(&'a self, visit: &'a Visit<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            if let Some(profile) = self.profile.as_ref().filter(|profile| !visit.cx().has_model(profile)) {
                let message = format!(
                    "the node `{}` asks the model {profile:?}, which the run does not have: make the run by `registry.run(..)`, or \
                     add the model to it",
                    visit.id()
                );
                return Err(NodeError::new(Category::ConfigError, message).into());
            }
            let ask = self.primitive.chat(self.messages(visit)?).system(self.system(visit)?);
            let ask = ask.tools(with_links(self.tools.clone(), &self.links, visit));
            match ask.exec(visit.cx()).await {
                Ok(answer) => Ok(self.traced(visit, self.answered(visit, answer))),
                Err(error) => {
                    let error = error_of_execution(error);
                    match error.paused().filter(|_| !visit.step.is_called()) {
                        Some(paused) => Ok(self.traced(
                            visit,
                            self.handed_over(paused).map_err(|waits| waits.unwrap_or(error))?,
                        )),
                        None => Err(error.into()),
                    }
                }
            }
        })
    }
}

impl Agent {
    /// The instruction. What a model, a tool or a search wrote stands in a fence: files of React Flow may name it.
    fn system(&self, visit: &Visit<'_>) -> Result<String, NodeError> {
        let Some(template) = &self.system else { return Ok(String::new()) };
        visit.render_fenced(template, |name| visit.step.is_untrusted(name))
    }

    fn messages(&self, visit: &Visit<'_>) -> Result<Vec<Message>, NodeError> {
        let mut messages = view(visit.state(), visit.id(), |id| visit.step.label_of(id));
        if let Some(prompt) = &self.prompt {
            messages.push(Message::user(visit.render(prompt)?));
        } else if !messages.last().is_some_and(|last| matches!(last.role, Role::User | Role::Tool)) {
            messages.push(Message::user(GO_ON));
        }
        Ok(messages)
    }

    fn answered(&self, visit: &Visit<'_>, answer: Value) -> Update {
        let update = Update::new().with_message(Message::assistant(text_of(&answer).into_owned()));
        let update = match &self.save_as {
            Some(key) => update.with_value(&**key, answer.clone()),
            None => update,
        };
        let (Value::Object(members), answers) = (answer, &self.answer) else { return update };
        let is_written = |key: &str| match answers {
            Answer::Text => false,
            Answer::Members(keys) => keys.iter().any(|one| one == key),
            Answer::Flexible(listed) => {
                let is_free = !key.starts_with('_') && key != "messages" && !visit.step.is_declared(key);
                is_free || listed.iter().any(|one| one == key)
            }
        };
        let written = members.into_iter().filter(|(key, _)| is_written(key));
        written.fold(update, |update, (key, value)| update.with_value(key, value))
    }

    /// Adds what the tools did under the id of the node that stands for them.
    fn traced(&self, visit: &Visit<'_>, update: Update) -> Update {
        let Some(executor) = self.links.iter().find(|link| link.kind == LinkKind::Executor) else {
            return update;
        };
        let (messages, records) = rounds(visit.cx());
        let times: BTreeMap<&str, Duration> =
            records.iter().map(|record| (record.id.as_str(), record.elapsed)).collect();
        let own: Vec<&str> = self.tools.names().collect();
        let result = |id: &str| messages.iter().find(|message| message.answers() == Some(id));
        let calls = messages.iter().flat_map(Message::calls).filter(|call| own.contains(&call.name.as_str()));
        let ran = calls.filter_map(|call| {
            let result = result(&call.id)?;
            Some(Ran {
                name: call.name.clone(),
                arguments: arguments_of(&call.arguments),
                result: result.content.clone(),
                failed: result.is_failure(),
                time: times.get(call.id.as_str()).copied().unwrap_or_default(),
            })
        });
        let ran: Vec<Ran> = ran.collect();
        if ran.is_empty() { update } else { update.with_value(&*executor.id, trace(ran)) }
    }

    /// What follows from calls that end the visit. An error instead, if something waits for a person: `None`, that which paused.
    fn handed_over(&self, paused: Paused) -> Result<Update, Option<NodeError>> {
        let target = |name: &str| {
            let handoff = self.links.iter().find(|link| link.kind == LinkKind::Handoff && link.name == name);
            let executes = |link: &&ToolLink| link.kind == LinkKind::ExecutorOnWay;
            handoff.or_else(|| {
                self.links.iter().find(executes).filter(|_| self.tools.names().any(|tool| tool == name))
            })
        };
        let waiting = paused.waiting();
        let first = waiting.iter().find_map(|call| Some((call, target(&call.tool)?)));
        let Some((first, link)) = first else { return Err(None) };
        if waiting.iter().any(|call| target(&call.tool).is_none()) {
            // A person decides first. Then the model may call again.
            let why = "not executed: other calls wait; call again after their results";
            let later =
                waiting.iter().filter(|call| target(&call.tool).is_some()).map(|call| call.id.clone());
            let paused = later.into_iter().try_fold(paused.clone(), |paused, id| paused.answer(&id, why));
            return Err(Some(paused.map_or_else(|error| error, Paused::into_error)));
        }
        let is_here = |call: &ToolCall| match link.kind {
            // The id that is shown is escaped as JSON pointers are.
            LinkKind::Handoff => call.id == first.id.replace("~1", "/").replace("~0", "~"),
            // All tools run there.
            _ => target(&call.name).is_some_and(|one| one.kind == link.kind),
        };
        let answer = |call: &ToolCall| match (is_here(call), link.kind) {
            (true, LinkKind::Handoff) => Some(format!("handed to {}", link.label)),
            (true, _) => None,
            (false, _) => Some(format!("not executed: the conversation was handed to {}", link.label)),
        };
        let update = paused.round(answer).into_iter().fold(Update::new(), Update::with_message);
        let update = update.with_action(format!("{TOOL_CALL}:{}", link.id));
        Ok(match link.kind {
            LinkKind::Handoff => {
                let call = ToolCall::new(&*first.id, &*first.tool, &*first.arguments);
                update.with_value(crate::graph::step::handed(&link.id), query_of(&call))
            }
            _ => update,
        })
    }
}
