// Cause: An action has a type parameter.
// Mend: Write an enum without parameters.

use llmnode::Action;

#[derive(Action)]
enum Decision<T> {
    Search(T),
}

fn main() {}
