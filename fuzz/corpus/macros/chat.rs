#[llm_node(
    system = concat!("You are {name}.\n", r"{{}}"),
    prompt = concat!("Said:\n", "{said:fence}\n{more}"),
    output = String,
)]
struct Talk { name: String, said: String, #[node(history)] before: Vec<Message>, more: u8, #[node(skip)] other: () }
