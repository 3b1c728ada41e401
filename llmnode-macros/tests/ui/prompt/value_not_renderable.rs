// Cause: the field's type has no `Display`, so it has no form as text.
// Mend: implement `Display` for the type, or choose a form that it has, such as `{tags:json}` or `{tags:?}`.
use llmnode::llm_node;

struct Tag;

#[llm_node(prompt = "About {topic} in a {style} style: {tags}")]
struct Summarize {
    topic: String,
    style: String,
    tags: Tag,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into(), tags: Tag };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
