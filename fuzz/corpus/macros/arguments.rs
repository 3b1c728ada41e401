#[llm_node(
    system = "{n}", prompt = r#"{n:>3} {list:json}{{}} {r:?}"#, output = Vec<Item>, retries = 0, transport_retries = 1,
    model = "small", fallback_model = "big", fallback = Self::middle, temperature = 0.2, max_tokens = 64, reasoning = "low",
    name = "other", crate = crate::other
)]
struct Rate { n: u32, list: Vec<u8>, r: u8, #[node(skip)] #[allow(unused)] r#type: PhantomData<u8> }
