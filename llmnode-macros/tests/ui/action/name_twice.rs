// Cause: Two variants have one name.
// Mend: Name them differently.

use llmnode::Action;

#[derive(Action)]
enum Decision {
    Search,
    #[action(name = "Search")]
    Look,
}

fn main() {}
