#[llm_node(tool, prompt = "{question}", output = Advice, state = Library, tools = [FindBooks, Praise], turns = 6)]
/// Recommends a book.
struct Recommend {
    /// What the reader asks.
    #[serde(default)]
    question: String,
}
