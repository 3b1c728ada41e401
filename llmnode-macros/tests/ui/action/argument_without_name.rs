// Cause: The name of an action is written without saying that it is one.
// Mend: Write `#[action(name = "search")]`.

use llmnode::Action;

#[derive(Action)]
enum Decision {
    #[action("search")]
    Search,
}

fn main() {}
