#[llm_node(prompt = "{title}: {text}", output = Summary, state = Shared, store = parts.0.summary, action = Next, route = Self::next, idempotent = false)]
struct Summarize<T: Text> {
    #[prep(state.title.as_ref().map(|title| title.clone()))]
    title: T,
    #[prep(state.files[state.current].read())]
    text: String,
}
