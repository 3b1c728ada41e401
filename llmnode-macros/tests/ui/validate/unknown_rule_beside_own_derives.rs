// Cause: a rule for names is misspelt, on a type with derives of its own.
// Mend: write `"kebab-case"`.
use llmnode::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[llmnode::validate]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "kebab-case", deserialize = "kebabcase"))]
struct Reply {
    full_text: String,
}

#[validate]
impl Reply {
    fn says_something(&self) -> Result<(), Invalid> {
        if self.full_text.is_empty() { Err(Invalid::at("full-text", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Answer this letter:\n{letter:fence}", output = Reply)]
struct Answer {
    letter: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Answer { letter: "Hello!".into() });
}
