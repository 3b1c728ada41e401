//! The format of a graph's file. Its JSON Schema is generated from these types, with their docs as descriptions.

#![allow(dead_code, reason = "the schemas are read, not the values")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A graph of nodes for llmnode.
#[derive(JsonSchema)]
#[schemars(title = "llmnode graph", extend("x-seed" = ["id", "description", "viewport", "created_at", "updated_at"]))]
pub(super) struct FileText {
    /// Where the JSON Schema of this format is, for editors.
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// Always "llmnode/graph". A file without it is one of React Flow.
    #[schemars(extend("const" = "llmnode/graph"))]
    format: Option<String>,
    /// The version of the format: 1.
    version: Option<u64>,
    /// The name that people see in pictures and reports.
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// What a run is given: names, and what the values have to be, as JSON schemas.
    inputs: Option<BTreeMap<String, TypeText>>,
    /// Further values of the state: what they have to be, and how what several nodes write becomes one value.
    state: Option<BTreeMap<String, FieldText>>,
    /// How many steps a run of the graph may take; the program may allow fewer.
    #[schemars(range(min = 1))]
    max_steps: Option<u64>,
    /// What a run of the graph may take together. It lowers the limits of the program, and never raises them.
    limits: Option<LimitsText>,
    /// The nodes.
    nodes: Vec<NodeText>,
    /// The edges between them.
    #[schemars(default)]
    edges: Vec<EdgeText>,
}

/// A value of the state: a JSON schema, and how what is written joins it.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct FieldText {
    /// How a write is merged into the existing value.
    reducer: Option<Reducer>,
    #[schemars(flatten)]
    value: TypeText,
}

/// The type of a value: the rules of JSON Schema that are checked.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
struct TypeText {
    r#type: Option<TypeNames>,
    #[schemars(length(min = 1))]
    r#enum: Option<Vec<Value>>,
    r#const: Option<Value>,
    properties: Option<BTreeMap<String, TypeText>>,
    required: Option<Vec<String>>,
    additional_properties: Option<FurtherMembers>,
    items: Option<Box<TypeText>>,
    #[schemars(length(min = 1))]
    any_of: Option<Vec<TypeText>>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    exclusive_minimum: Option<f64>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    title: Option<Value>,
    description: Option<Value>,
    examples: Option<Value>,
    /// The value before anything was written.
    default: Option<Value>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum TypeNames {
    One(TypeName),
    Several(Vec<TypeName>),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline, extend("x-what" = "type"))]
enum TypeName {
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
    Null,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum FurtherMembers {
    Allowed(bool),
    Of(Box<TypeText>),
}

/// How a write is merged into the existing value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, extend("x-what" = "reducer"))]
pub(crate) enum Reducer {
    /// It takes its place.
    #[default]
    Replace,
    /// It is added to the list, which is empty at first; of a list, each item.
    Append,
    /// Its members take the place of those of the object.
    Merge,
}

/// The most that a run of the graph may take.
#[derive(JsonSchema)]
struct LimitsText {
    /// Requests to models.
    #[schemars(range(min = 1))]
    requests: Option<u64>,
    /// Tokens, of prompts and answers together.
    #[schemars(range(min = 1))]
    tokens: Option<u64>,
    /// Money, in the currency of the prices.
    #[schemars(extend("exclusiveMinimum" = 0))]
    money: Option<f64>,
}

/// A node.
#[derive(JsonSchema)]
#[schemars(extend("x-seed" = [
    "width", "height", "selected", "selectable", "dragging", "draggable", "deletable", "connectable", "focusable",
    "positionAbsolute", "sourcePosition", "targetPosition", "hidden", "style", "className", "zIndex", "parentId",
    "parentNode", "extent", "expandParent", "dragHandle", "ariaLabel", "resizing", "internals", "origin", "handles",
    "initialWidth", "initialHeight",
]))]
#[schemars(extend("x-inner" = "data"))]
struct NodeText {
    /// The name of the node for edges, records and reports.
    #[schemars(length(min = 1, max = 200))]
    id: String,
    /// The type of the node.
    #[schemars(length(min = 1))]
    r#type: String,
    /// The settings of the node.
    #[schemars(default)]
    data: Map<String, Value>,
}

/// An edge.
#[derive(JsonSchema)]
#[schemars(extend("x-seed" = [
    "type", "animated", "selected", "selectable", "deletable", "focusable", "reconnectable", "hidden", "style",
    "className", "zIndex", "markerStart", "markerEnd", "data", "labelStyle", "labelShowBg", "labelBgStyle",
    "labelBgPadding", "labelBgBorderRadius", "interactionWidth", "pathOptions", "ariaLabel", "sourceNode", "targetNode",
]))]
struct EdgeText {
    /// The name of the edge, for front ends.
    id: Option<String>,
    /// What people see at the edge.
    label: Option<Value>,
    /// The id of the node that it leaves; `start`: it leads to the first node.
    #[schemars(extend("x-also" = ["from"]))]
    source: String,
    /// The id of the node to which it leads; `END`: the end.
    #[schemars(extend("x-also" = ["to"]))]
    target: String,
    /// The source handle: the decision of its node by which the edge is taken. Default: the way on.
    #[serde(rename = "sourceHandle")]
    source_handle: Option<String>,
    /// Where it is drawn to, for front ends.
    #[serde(rename = "targetHandle")]
    target_handle: Option<String>,
}

/// What every node may have among its settings.
#[derive(JsonSchema)]
pub(super) struct CommonText {
    /// The name that models and people see. Default: the id.
    #[schemars(length(min = 1, max = 200))]
    label: Option<String>,
    /// Whether the graph starts here.
    #[serde(rename = "isStart")]
    is_start: Option<bool>,
    /// Whether a person has to approve before the node runs.
    require_approval: Option<bool>,
}
