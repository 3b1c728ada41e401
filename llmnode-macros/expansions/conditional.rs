#[cfg(feature = "deep")]
#[::llmnode::llm_node(prompt = "{topic}")]
struct Ask {
    topic: String,
    depth: u8,
    #[node(skip)]
    other: u8,
}
#[cfg(not(feature = "deep"))]
#[::llmnode::llm_node(prompt = "{topic}")]
struct Ask {
    topic: String,
    other: u8,
}
