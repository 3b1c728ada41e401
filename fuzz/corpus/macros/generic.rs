#[llm_node(prompt = "{a} {b:?} {state.pair.0}", output = Vec<T>, state = Borrowed<'_>)]
struct Ask<'a, T: Clone, const N: usize> where T: Send { a: &'a T, b: [u8; N] }
