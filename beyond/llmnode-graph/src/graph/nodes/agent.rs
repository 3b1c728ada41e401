//! `agent`: asks a model, with tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use llmnode_runtime::dyn_node::DynNodeBuilder;
use llmnode_runtime::{Category, Compact, DynNode, Failures, Limits, Recovery, Summary, Toolset};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::agent_visit::{Agent, Answer};
use super::calls::named;
use super::json_template::JsonTemplate;
use crate::facts::TOOL_CALL;
use crate::faults::{FaultKind, escaped, shown};
use crate::graph::loaded::GraphNode;
use crate::graph::node_type::NodeLoader;
use crate::graph::roles::LinkKind;

/// What the model of `compact` is told.
const SUM_UP: &str =
    "Sum up this part of a conversation, so that its work can go on from the summary alone.";

/// The settings of an `agent`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// The registered model that is asked. Default: the run's own.
    profile: Option<String>,
    /// The instruction, a template. It may read what the program gives, and not what a model, a tool or a search wrote.
    system_prompt: Option<String>,
    /// The message of a visit, a template, which is added behind the conversation.
    prompt: Option<String>,
    /// What the model is to answer to which message.
    #[serde(default)]
    examples: Vec<ExampleData>,
    /// The tools that the model may call.
    #[serde(default)]
    tools: Vec<String>,
    /// How many responses of the model a visit has at most, with tools. Default: 10.
    #[schemars(range(min = 1, max = 1000), extend("x-also" = ["turns", "max_turns"]))]
    max_iterations: Option<u32>,
    /// How the conversation of a visit is kept short enough for the model. Default: it is sent as it is.
    compact: Option<CompactData>,
    /// The registered model that is asked when the first one has failed.
    fallback_model: Option<String>,
    /// What follows failures, by their category or group: a list of steps, such as `{"answer": ["repair(2)", "model(good)"]}`.
    #[serde(default)]
    recover: BTreeMap<String, Vec<String>>,
    /// The most that a visit may take.
    limits: Option<LimitsData>,
    /// Whether the answer is a JSON object whose members become values.
    #[serde(default)]
    flexible_mode: bool,
    /// The JSON schema of an object. The answer is such an object, whose members become values.
    output_schema: Option<Map<String, Value>>,
    /// Which values members of the answer may have: lists by path, such as `{"item": "{{ inventory }}"}` or
    /// `{"steps[].tool": ["saw", "axe"]}`.
    #[serde(default)]
    choices: Map<String, Value>,
    /// The value that the answer is written to.
    save_as: Option<String>,
    /// Declared values that a flexible answer may write.
    #[serde(default)]
    writes: Vec<String>,
}

/// An example of what an agent answers.
#[derive(Deserialize, JsonSchema)]
struct ExampleData {
    /// The message.
    input: String,
    /// The answer: a text, or an object of the `output_schema`.
    output: Value,
}

/// What is left out of a long conversation, and when.
#[derive(Deserialize, JsonSchema)]
struct CompactData {
    /// How many of the last rounds stay as they are. Default: 6.
    #[schemars(range(min = 1, max = 1000))]
    keep: Option<u32>,
    /// When: at this share of the model's window, up to 1, or at so many tokens. Default: at 0.8 of the window, and at 150000 tokens if
    /// that is less.
    #[schemars(extend("exclusiveMinimum" = 0))]
    at: Option<f64>,
    /// The tokens of the model's window. Default: what is known of the model.
    #[schemars(range(min = 1))]
    window: Option<u32>,
    /// The registered model that sums up what is older, where leaving out results of tools is not enough. Default: nothing is summed up.
    #[schemars(extend("x-also" = ["summed_up_by"]))]
    with: Option<String>,
}

/// The most that one visit may take.
#[derive(Deserialize, JsonSchema)]
struct LimitsData {
    /// Requests to models.
    #[schemars(range(min = 1))]
    requests: Option<u64>,
    /// Tokens, of prompts and answers together.
    #[schemars(range(min = 1))]
    tokens: Option<u64>,
    /// Money, in the currency of the prices.
    #[schemars(extend("exclusiveMinimum" = 0))]
    money: Option<f64>,
    /// Executions of tools.
    #[schemars(range(min = 1))]
    tool_calls: Option<u64>,
}

pub(super) fn load(node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
    let before = node.faults.noted();
    let data: Data = node.data()?;
    if let Some(profile) = &data.profile {
        node.profile("/profile", profile);
    }
    if let Some(model) = &data.fallback_model {
        node.profile("/fallback_model", model);
    }
    if let Some(limits) = &data.limits {
        node.limits = limits.limits();
    }
    if let Some(model) = data
        .compact
        .as_ref()
        .and_then(|compact| compact.with.as_ref())
    {
        node.profile("/compact/with", model);
    }
    let recover = stacks(&data.recover, node);
    let system = data
        .system_prompt
        .as_ref()
        .map(|text| node.system_prompt("/system_prompt", text));
    let prompt = data
        .prompt
        .as_ref()
        .map(|text| node.template("/prompt", text));
    let choices = JsonTemplate::members(&data.choices, "/choices", node);
    if !choices.is_empty() && data.output_schema.is_none() {
        node.fault(
            "/choices",
            "has no effect without \"output_schema\"; add that, or remove this",
        );
    }
    let tools = listed(&data.tools, node);
    let answer = writes(&data, node);
    node.untrusted();
    node.handles(&["default", TOOL_CALL], &[]);
    let executed_at = executor_link(&tools, node);
    let dyn_node = dyn_node(&data, &answer, recover, &tools, before, node)?;
    Some(Arc::new(Agent {
        node: dyn_node,
        profile: data.profile,
        system,
        prompt,
        choices,
        tools: match executed_at {
            Some(link) => tools.as_handoffs(link),
            None => tools,
        },
        links: node.links.to_vec(),
        answer,
        save_as: data.save_as,
    }))
}

impl CompactData {
    fn applied(&self, builder: DynNodeBuilder, agent: &str) -> DynNodeBuilder {
        let mut builder = builder.compact(self.rules());
        if let Some(window) = self.window {
            builder = builder.window(window);
        }
        let Some(model) = &self.with else {
            return builder;
        };
        let summariser = DynNode::builder(format!("{agent}_summary"))
            .system_prompt(SUM_UP)
            .output::<Summary>()
            .model(model.clone())
            .build();
        match summariser {
            Ok(summariser) => builder.summed_up_by(summariser),
            // Nothing in it is of the file.
            Err(_) => builder,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of tokens has no fraction that matters, and the schema allows none below 0"
    )]
    fn rules(&self) -> Compact {
        let mut rules = Compact::new();
        if let Some(keep) = self.keep {
            rules = rules.keep(keep);
        }
        match self.at {
            Some(share) if share <= 1.0 => rules.at(share),
            Some(tokens) => rules.at(tokens.round() as u64),
            None => rules,
        }
    }
}

impl LimitsData {
    fn limits(&self) -> Limits {
        let mut limits = Limits::new();
        limits.requests = self.requests;
        limits.tokens = self.tokens;
        limits.money = self.money;
        limits.tool_calls = self.tool_calls;
        limits
    }
}

/// The edge to a node that executes the agent's tools in its place. Such a node cannot wait, so its tools must not either.
fn executor_link(tools: &Toolset, node: &mut NodeLoader<'_>) -> Option<usize> {
    node.facts.pauses |= tools.may_pause();
    let link = node
        .links
        .iter()
        .position(|link| link.kind == LinkKind::ExecutorStep)?;
    if tools.may_pause() {
        let message = "a tool here waits for an approval or a result, but the node that executes it cannot wait: let that node lead \
                       back to the agent, and nowhere else";
        node.late.fault(
            node.node.data.pointer("/tools"),
            FaultKind::Setting,
            message,
        );
    }
    Some(link)
}

/// An unregistered name is that of a node that the agent may call.
fn listed(names: &[String], node: &mut NodeLoader<'_>) -> Toolset {
    let registry = node.context.registry;
    let links = node.links;
    let mut found: Vec<&str> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let place = format!("/tools/{index}");
        if found.contains(&name.as_str()) {
            let message = format!("the tool {name:?} is listed twice; remove one");
            node.fault_of(FaultKind::Duplicate, &place, message);
        } else if registry.0.tools.names().any(|tool| tool == name) {
            found.push(name);
        } else if !links.iter().any(|link| link.is_named(name)) {
            let called = links
                .iter()
                .filter(|link| link.is_callable())
                .map(|link| link.label.as_str());
            let possible = registry.0.tools.names().chain(called);
            let at = node.node.data.pointer(&place);
            let message = format!("no tool {:?}", shown(name));
            node.late
                .unknown(true, at, FaultKind::UnknownName, message, name, possible);
        }
    }
    let mut taken: Vec<String> = found.iter().map(|name| name.to_lowercase()).collect();
    for link in links.iter().filter(|link| link.is_callable()) {
        let name = link.name.to_lowercase();
        if taken.contains(&name) {
            let id = node.id();
            let name = &link.name;
            let message = format!(
                "{id:?} has two tools with the name {name:?}: give one of them another label"
            );
            node.faults.fault(&link.at, FaultKind::Duplicate, message);
        }
        taken.push(name);
    }
    registry.0.tools.clone().only(found)
}

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

fn writes(data: &Data, node: &mut NodeLoader<'_>) -> Answer {
    if let Some(key) = &data.save_as {
        let is_object = data.flexible_mode || data.output_schema.is_some();
        node.writes_at(
            "/save_as",
            key,
            if is_object { &["object"] } else { &["string"] },
        );
    }
    if data.flexible_mode {
        for (index, key) in data.writes.iter().enumerate() {
            node.writes_at(&format!("/writes/{index}"), key, &[]);
        }
        node.writes_anything();
        return Answer::Flexible(data.writes.clone());
    }
    if !data.writes.is_empty() {
        node.fault(
            "/writes",
            "has no effect without \"flexible_mode\": true; set that, or remove this",
        );
    }
    let Some(schema) = &data.output_schema else {
        return Answer::Text;
    };
    let members: Vec<_> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .collect();
    if members.is_empty() {
        node.fault(
            "/output_schema",
            "has no \"properties\": list the members of the answer there",
        );
    }
    for (key, member) in &members {
        let kind = member.get("type").and_then(Value::as_str);
        let types: Vec<&str> = TYPES
            .iter()
            .copied()
            .filter(|one| Some(*one) == kind)
            .collect();
        node.writes_at(
            &format!("/output_schema/properties/{}", escaped(key)),
            key,
            &types,
        );
        if let Some(write) = node.facts.writes.last_mut() {
            write.schema = Some((*member).clone());
        }
    }
    Answer::Members(members.into_iter().map(|(key, _)| key.clone()).collect())
}

/// As displayed: `retry(2)`, `repair(1)`, `model(good)`, `bubble`.
fn stacks(
    data: &BTreeMap<String, Vec<String>>,
    node: &mut NodeLoader<'_>,
) -> Vec<(Failures, Vec<Recovery>)> {
    let mut stacks = Vec::new();
    for (name, steps) in data {
        let place = format!("/recover/{}", escaped(name));
        let failures = match name.as_str() {
            "answer" => Some(Failures::Answer),
            "transport" => Some(Failures::Transport),
            "final" => Some(Failures::Final),
            name => Category::from_name(name).map(Failures::Category),
        };
        let Some(failures) = failures else {
            let categories = Category::ALL.iter().map(|one| one.as_str());
            let possible = ["answer", "transport", "final"]
                .into_iter()
                .chain(categories);
            node.unknown(&place, "category or group", name, possible);
            continue;
        };
        let mut read = Vec::new();
        for (index, text) in steps.iter().enumerate() {
            let place = format!("{place}/{index}");
            match step(text) {
                Some(step) => {
                    if let Recovery::Model(model) = &step {
                        node.profile(&place, model);
                    }
                    read.push(step);
                }
                None => {
                    let remedy =
                        "write \"retry(2)\", \"repair(1)\", \"model(PROFILE)\" or \"bubble\"";
                    node.fault(&place, format!("{:?} is not a step: {remedy}", shown(text)));
                }
            }
        }
        stacks.push((failures, read));
    }
    stacks
}

fn step(text: &str) -> Option<Recovery> {
    if text == "bubble" {
        return Some(Recovery::Bubble);
    }
    let (name, argument) = text.strip_suffix(')')?.split_once('(')?;
    match name {
        "retry" => Some(Recovery::retry(argument.parse().ok()?)),
        "repair" => Some(Recovery::repair(argument.parse().ok()?)),
        "model" => Some(Recovery::Model(
            argument.trim_matches('"').to_owned().into(),
        )),
        _ => None,
    }
}

fn dyn_node(
    data: &Data,
    answer: &Answer,
    recover: Vec<(Failures, Vec<Recovery>)>,
    tools: &Toolset,
    before: usize,
    node: &mut NodeLoader<'_>,
) -> Option<DynNode> {
    let tools = named(tools.clone(), node.links);
    // A missing id was already reported.
    let name = Some(node.id())
        .filter(|id| !id.is_empty())
        .unwrap_or("agent");
    let builder = DynNode::builder(name.to_owned());
    let mut builder = match answer {
        Answer::Text => builder.text(),
        Answer::Flexible(_) => builder.output_schema(json!({"type": "object"})),
        Answer::Members(_) => {
            let mut schema = data.output_schema.clone().unwrap_or_default();
            schema.entry("type").or_insert_with(|| "object".into());
            builder.output_schema(schema)
        }
    };
    if let Some(profile) = &data.profile {
        builder = builder.model(profile.clone());
    }
    if let Some(model) = &data.fallback_model {
        builder = builder.fallback_model(model.clone());
    }
    for (failures, steps) in recover {
        builder = builder.recover(failures, steps);
    }
    for ExampleData { input, output } in &data.examples {
        builder = builder.example(input, output.clone());
    }
    if let Some(turns) = data
        .max_iterations
        .filter(|_| tools.names().next().is_some())
    {
        builder = builder.turns(turns);
    }
    if let Some(compact) = &data.compact {
        builder = compact.applied(builder, name);
    }
    let built = builder.tools(tools).build();
    // Otherwise it may follow from an earlier fault.
    if let Err(error) = &built
        && node.faults.noted() == before
    {
        let place = match data {
            Data { recover, .. } if !recover.is_empty() => "/recover",
            Data {
                compact: Some(_), ..
            } => "/compact",
            Data {
                output_schema: Some(_),
                ..
            } => "/output_schema",
            _ => "",
        };
        node.fault(place, error.message().to_owned());
    }
    built.ok()
}
