// Cause: A variant holds what cannot be moved to another thread.
// Mend: Hold an `Arc`.

use llmnode::Action;

#[derive(Action)]
enum Decision {
    Search(std::rc::Rc<str>),
}

fn main() {}
