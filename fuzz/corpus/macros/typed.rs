#[llm_node(
    system = "You are a careful adventurer.",
    prompt = "Goal: {goal}\n{state.inventory:list}\n{hint:or(none)}",
    output = Choice,
    state = World,
    retries = 2,
)]
/// Decides which item to use next.
pub struct ChooseItem { goal: String, hint: Option<String> }
