// Cause: `reply` takes one answer, and several have another method.
// Mend: write `.script(["one", "two"])`.
// Token: replies
use llmnode::prelude::*;

fn main() {
    let model = ScriptedModel::new().replies(["one", "two"]);
    let _ = Run::new(model);
}
