// Cause: the handler of approvals returns a `bool`.
// Mend: return an `Approval` from an `async` block.
#![allow(unused)]

use llmnode::prelude::*;

fn main() {
    let _ = Run::new(ScriptedModel::new()).with_approval(|call| call.name == "delete");
}
