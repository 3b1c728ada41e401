// Cause: A variant holds what cannot be cloned.
// Mend: Derive `Clone` for it, or hold something else.

use llmnode::Action;

struct Query;

#[derive(Action)]
enum Decision {
    Search(Query),
    Answer,
}

fn main() {}
