// Cause: the variable has a format of dates.
// Mend: declare the text, `with(day = self.due.format("%d.%m.%Y").to_string())`.
use llmnode::llm_node;

#[llm_node(prompt = "Remind me on {due:%d.%m.%Y}.")]
struct Remind {
    due: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Remind { due: String::new() });
}
