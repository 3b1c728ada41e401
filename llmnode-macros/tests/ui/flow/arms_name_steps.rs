// Cause: the arms have the names of variants without their type, and steps have these names, too.
// Mend: write `Decision::Search` and `Decision::Answer`.
// Token: Search
use llmnode::prelude::*;

#[derive(Default)]
struct World {
    question: String,
    notes: Vec<String>,
    answer: Option<String>,
}

#[llm_output]
#[derive(Action)]
enum Decision {
    Search,
    Answer,
}

#[llm_node(prompt = "Search, or answer?\n{question}", output = Decision, state = World, action = Decision)]
struct Decide {
    #[prep(state.question.clone())]
    question: String,
}

#[llm_node(prompt = "What do you know?\n{question}", state = World, post = Search::take_note)]
struct Search {
    #[prep(state.question.clone())]
    question: String,
}

impl Search {
    fn take_note(self, note: String, state: &mut World) {
        state.notes.push(note);
    }
}

#[llm_node(prompt = "{question}", state = World, store = answer)]
struct Answer {
    #[prep(state.question.clone())]
    question: String,
}

flow! {
    pub Research(World):
    Decide => match { Search => Search, Answer => Answer },
    Search => Decide,
    Answer => end,
}

fn main() {}
