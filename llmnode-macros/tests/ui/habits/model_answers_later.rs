// Cause: the function of a model for tests is `async`.
// Mend: write `|request|` without `async`; the function returns the reply itself.
// Token: async
use llmnode::prelude::*;
use llmnode::testing::FnModel;

fn main() {
    let model = FnModel::new(async |request| request.messages[0].content.clone());
    let _ = Run::new(model);
}
