#[llm_node(prompt = "{a}", output = Foreign, state = World, validate = [Self::first, other::<u8>], retries = 1)]
struct Ask { a: String }
