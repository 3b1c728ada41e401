#[llm_output(state = World, crate = ::renamed)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
enum Step<T> { Done, Use(Choice), #[serde(skip)] No(T), Both { first: (u8, Choice), others: Vec<T> } }
