// Cause: `#[llm_output]` stands on a type alias.
// Mend: put it on the definition of the type that the alias names; the alias can be the `output` as it is.
use llmnode::llm_output;

#[llm_output]
type Choose = String;

fn main() {
    let _ = Choose::new();
}
