// Cause: A variant has an argument that there is not.
// Mend: Write `name`, or drop the attribute.

use llmnode::Action;

#[derive(Action)]
enum Decision {
    #[action(rename = "search")]
    Search,
}

fn main() {}
