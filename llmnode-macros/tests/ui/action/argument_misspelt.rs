// Cause: An argument is misspelt.
// Mend: Correct it.

use llmnode::Action;

#[derive(Action)]
enum Decision {
    #[action(nam = "search")]
    Search,
}

fn main() {}
