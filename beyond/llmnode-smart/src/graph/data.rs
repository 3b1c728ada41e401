//! The settings of a `smart_node`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The settings of a `smart_node`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// What the node is to do. Default: to produce the outputs, given the inputs.
    pub(super) goal: Option<String>,
    /// Whether the model writes its reasoning first: `ChainOfThought` (the default) or `Predict`.
    #[serde(default)]
    pub(super) mode: Mode,
    /// What goes in, by default `input`: values of the state of their names, or else the last message.
    #[serde(default = "input")]
    pub(super) inputs: Vec<Input>,
    /// What comes out, by default `output`: values of the state of their names.
    #[serde(default = "output")]
    pub(super) outputs: Vec<Output>,
    /// The registered model that is asked. Default: the run's own.
    pub(super) profile: Option<String>,
    /// Rules for the outputs. A broken one is told to the model, at most twice.
    #[serde(default)]
    pub(super) guardrails: Vec<Rule>,
    /// The name of a program, a file in the folder of programs.
    pub(super) program: Option<String>,
    /// One value for all outputs, as an object, in place of a value for each.
    pub(super) save_as: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
pub(super) enum Mode {
    #[default]
    ChainOfThought,
    Predict,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Input {
    pub(super) name: String,
    /// `string` (the default), `number`, `integer`, `boolean`, `array`, `object`, or a JSON schema.
    #[serde(rename = "type", default)]
    pub(super) kind: Option<Value>,
    #[serde(default)]
    pub(super) description: Option<String>,
    /// The description, as React Flow's files have it.
    #[serde(default)]
    pub(super) desc: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Output {
    pub(super) name: String,
    /// `string` (the default), `number`, `integer`, `boolean`, `array`, `object`, or a JSON schema.
    #[serde(rename = "type", default)]
    pub(super) kind: Option<Value>,
    #[serde(default)]
    pub(super) description: Option<String>,
    /// The description, as React Flow's files have it.
    #[serde(default)]
    pub(super) desc: Option<String>,
    /// Rules for this output.
    #[serde(default)]
    pub(super) guardrails: Vec<Rule>,
    /// A rule for this output, as React Flow's files have it.
    #[serde(default)]
    pub(super) guardrail: Option<Rule>,
    /// Whether the output has to be JSON, as older files of React Flow have it.
    #[serde(default)]
    pub(super) force_json: Option<bool>,
}

/// A rule for the text of an output.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Rule {
    /// `json`, `regex` or `max_chars`; `length` is `max_chars`.
    #[serde(default)]
    pub(super) id: String,
    /// The output, by default the first one.
    #[serde(default)]
    pub(super) output: Option<String>,
    /// The pattern of a `regex`.
    #[serde(default)]
    pub(super) pattern: Option<String>,
    /// The most characters.
    #[serde(default)]
    pub(super) max_chars: Option<usize>,
    /// The pattern and the most characters, as React Flow's files have them.
    #[serde(default)]
    pub(super) params: Option<Parameters>,
}

#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    #[serde(default)]
    pub(super) pattern: Option<String>,
    #[serde(default)]
    pub(super) max_chars: Option<usize>,
}

fn input() -> Vec<Input> {
    vec![Input {
        name: "input".to_owned(),
        kind: None,
        description: None,
        desc: None,
    }]
}

fn output() -> Vec<Output> {
    vec![Output {
        name: "output".to_owned(),
        kind: None,
        description: None,
        desc: None,
        guardrails: Vec::new(),
        guardrail: None,
        force_json: None,
    }]
}
