// Cause: a category has no `_error` at its end.
// Mend: write `rate_limit_error`, as errors show it.
// Token: rate_limit
use llmnode::prelude::*;

#[llm_node(
    prompt = "How urgent is this letter, from 1 to 10?\n{letter}",
    output = u8,
    recover(rate_limit = [retry(5, 1s..60s)]),
)]
struct Rate {
    letter: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let rate = Rate { letter: "The roof leaks!".into() };
    let _ = run.call(&rate);
}
