// Cause: `#[validate]` stands on a module.
// Mend: put it on each impl block of validators in the module.
use llmnode::validate;

#[validate]
mod choose {
    pub fn choose() {}
}

fn main() {
    choose::choose();
}
