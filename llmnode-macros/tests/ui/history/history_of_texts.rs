// Cause: the history is a list of texts, which do not tell who speaks.
// Mend: write `Vec<Message>`, of `Message::user(…)` and `Message::assistant(…)`.
// Token: Vec<String>
use llmnode::prelude::*;

#[llm_node(prompt = "{question}")]
struct Answer {
    #[node(history)]
    earlier: Vec<String>,
    question: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let answer = Answer { earlier: vec!["Hello!".into()], question: "And now?".into() };
    let _ = run.call(&answer);
}
