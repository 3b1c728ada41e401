//! The sources of the crates that are compared: the same fields in all of them.

/// What a crate holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The dependencies, and nothing that uses them.
    Empty,
    /// Structs with the derives that an output needs.
    Derives,
    /// The same, each the output of a node.
    Nodes,
    /// Nodes whose outputs have `#[llm_output]`.
    Outputs,
    /// The same, each output with a validator.
    Validated,
    /// Structs with derives, each read from JSON, its schema made.
    DerivesUsed,
    /// Nodes whose outputs have derives, each called.
    NodesCalled,
}

impl Kind {
    pub fn title(self, count: usize) -> String {
        match self {
            Kind::Empty => "an empty crate".to_owned(),
            Kind::Derives => format!("{count} structs, derives alone"),
            Kind::Nodes => format!("{count} such structs and {count} nodes"),
            Kind::Outputs => format!("{count} nodes, `#[llm_output]` for the derives"),
            Kind::Validated => format!("{count} nodes, `#[llm_output]`, a validator each"),
            Kind::DerivesUsed => format!("{count} structs, read from JSON, schema made"),
            Kind::NodesCalled => format!("{count} such structs and {count} nodes, called"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Empty => "empty",
            Kind::Derives => "derives",
            Kind::Nodes => "nodes",
            Kind::Outputs => "outputs",
            Kind::Validated => "validated",
            Kind::DerivesUsed => "derives_used",
            Kind::NodesCalled => "nodes_called",
        }
    }

    /// The source of the `number`th struct and what belongs to it.
    fn text(self, number: usize) -> String {
        let pieces: &[&str] = match self {
            Kind::Empty => &[],
            Kind::Derives => &[DERIVES, STRUCT],
            Kind::Nodes => &[DERIVES, STRUCT, NODE],
            Kind::Outputs => &[OUTPUT, STRUCT, NODE],
            Kind::Validated => &[OUTPUT, STRUCT, NODE, VALIDATOR],
            Kind::DerivesUsed => &[DERIVES, STRUCT, USED],
            Kind::NodesCalled => &[DERIVES, STRUCT, NODE, CALLED],
        };
        pieces.concat().replace("NN", &number.to_string())
    }
}

/// A crate: its name and its one source file.
pub struct Sources {
    pub name: String,
    pub text: String,
}

impl Sources {
    pub fn of(kind: Kind, count: usize) -> Sources {
        let items: String = (0..count).map(|number| kind.text(number)).collect();
        Sources {
            name: format!("{}_{count}", kind.name()),
            text: format!("{BEGIN}{items}"),
        }
    }
}

const BEGIN: &str = r#"
#![allow(unused_imports)]
use llmnode::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub struct World {
    pub items: Vec<String>,
}
"#;

const DERIVES: &str = "
#[derive(Serialize, Deserialize, JsonSchema)]";

const OUTPUT: &str = "
#[llm_output]";

const STRUCT: &str = "
pub struct ChoiceNN {
    /// One of the items, spelled as listed.
    pub item: String,
    pub confidence: f64,
    pub reasons: Vec<String>,
    pub amount: Option<u32>,
    pub urgent: bool,
}
";

const NODE: &str = r#"
/// Decides which item to use next.
#[llm_node(
    prompt = "Goal: {goal}\nItems:\n{state.items:list}\nHint: {hint}\nSay why, in {words} words.",
    output = ChoiceNN,
    state = World,
    retries = 2,
)]
pub struct ChooseNN {
    pub goal: String,
    pub hint: String,
    pub words: u32,
}
"#;

const VALIDATOR: &str = r#"
#[validate]
impl ChoiceNN {
    fn item_is_there(&self, world: &World) -> Result<(), Invalid> {
        if world.items.contains(&self.item) { Ok(()) } else { Err(Invalid::at("item", "is not there")) }
    }
}
"#;

const USED: &str = "
pub fn usedNN(text: &str) -> (serde_json::Result<ChoiceNN>, schemars::Schema) {
    (serde_json::from_str(text), schemars::schema_for!(ChoiceNN))
}
";

const CALLED: &str = "
pub fn callNN<'r>(
    run: &'r Run<World>,
    node: &'r ChooseNN,
) -> std::pin::Pin<Box<dyn Future<Output = Result<ChoiceNN, NodeError>> + Send + 'r>> {
    Box::pin(async move { run.call(node).await })
}
";
