// Cause: an approval is a `bool`.
// Mend: return `async { Approval::yes() }`.
#![allow(unused)]

use llmnode::prelude::*;

fn main() {
    let _ = Run::new(ScriptedModel::new()).with_approval(|call| call.name == "delete");
}
