#[llm_output]
/// An answer.
#[derive(Debug, Clone)]
struct Choice { item: String, tags: Vec<Tag>, #[serde(rename = "n")] count: Option<u32>, pair: (u8, Tag) }
