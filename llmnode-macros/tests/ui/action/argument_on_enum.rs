// Cause: The enum has an argument that there is not.
// Mend: Name variants: `#[action(name = "…")]` stands on a variant.

use llmnode::Action;

#[derive(Action)]
#[action(name = "search")]
enum Decision {
    Search,
}

fn main() {}
