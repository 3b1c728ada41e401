// Cause: the value of `crate` is no path.
// Mend: write the path of the crate, beginning with `::` or `crate`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet {name}.", crate = "llmnode")]
struct Greet {
    name: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Greet { name: "Ada".into() });
}
