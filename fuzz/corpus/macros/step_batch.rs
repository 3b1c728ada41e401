#[llm_node(prompt = "{text}", state = Shared, batch = each, concurrency = 4, action = bool, post = Summarize::keep)]
struct Summarize {
    text: String,
}
