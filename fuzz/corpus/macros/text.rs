#[llm_node(prompt = "Say hello.")]
struct Greet;
