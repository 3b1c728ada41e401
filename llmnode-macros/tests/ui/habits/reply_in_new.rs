// Cause: the model's answer is given to `new`.
// Mend: write `ScriptedModel::new().reply("…")`.
// Token: new("Hello.")
// Token: "Hello."
use llmnode::prelude::*;

fn main() {
    let _ = Run::new(ScriptedModel::new("Hello."));
}
