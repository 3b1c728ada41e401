// Cause: the braces of an example in JSON are single.
// Mend: write `{{` and `}}`.
// Token: {
use llmnode::prelude::*;

#[llm_node(prompt = r#"Answer as JSON:
{
  "name": "..."
}
The text: {text}"#)]
struct Extract {
    text: String,
}

fn main() {}
