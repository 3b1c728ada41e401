// Cause: the prompt of the README's first node names a variable that is no field of it.
// Mend: write the name of the field.
use llmnode::prelude::*;

struct Shop { teams: Vec<String> }

#[llm_output]
struct Ticket {
    team: String,
    urgent: bool,
}

#[llm_node(
    prompt = "Sort this letter:\n{leter:fence}\nTeams:\n{state.teams:list}",
    output = Ticket, state = Shop,
    retries = 2,
)]
struct Sort { letter: String }

fn main() {
    let _ = Sort { letter: "The roof leaks!".into() };
}
