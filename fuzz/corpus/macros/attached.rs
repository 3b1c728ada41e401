#[llm_node(prompt = "What is on {photo:attach}?\n{state.files:attach}", state = World)]
struct Look { photo: Image }
