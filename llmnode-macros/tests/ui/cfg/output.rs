// Cause: a field of an answer and a variant stand there in some builds only.
// Mend: write the type once for each build, below `#[cfg(…)]`.
// Errors: 2
use llmnode::{llm_node, llm_output};

#[llm_output]
struct Size {
    width: u8,
}

#[llm_output]
struct Choice {
    item: String,
    #[cfg(not(debug_assertions))]
    size: Size,
}

#[llm_output]
enum Answer {
    Choice(Choice),
    #[cfg(not(debug_assertions))]
    Size(Size),
}

#[llm_node(prompt = "Choose.", output = Answer)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
    let _ = Answer::Choice(Choice { item: String::new() });
    let _ = Size { width: 1 }.width;
}
