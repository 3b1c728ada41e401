// Cause: a key of serde is misspelt.
// Mend: write `rename`.
use llmnode::prelude::*;

#[llm_output]
struct Invoice {
    #[serde(renam = "invoiceNumber")]
    number: String,
}

#[llm_node(prompt = "Read this invoice:\n{text}", output = Invoice)]
struct ReadInvoice {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&ReadInvoice { text: "..".into() });
}
