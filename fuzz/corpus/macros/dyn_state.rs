#[llm_node(prompt = "{a}", output = (u8, &'static str), state = dyn Store + Send + 'static)]
struct Ask { a: String }
