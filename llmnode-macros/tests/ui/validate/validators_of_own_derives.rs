// Cause: a type with derives of its own has validators, and its definition does not say so.
// Mend: put `#[llmnode::validate]` above the derives.
// Token: Invoice
// Token: validate
// Token: struct Invoice
use llmnode::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    net: f64,
    tax: f64,
    total: f64,
}

#[validate]
impl Invoice {
    fn adds_up(&self) -> Result<(), Invalid> {
        if (self.net + self.tax - self.total).abs() < 0.01 {
            return Ok(());
        }
        Err(Invalid::at("total", "must be net plus tax"))
    }
}

#[llm_node(prompt = "Read this invoice:\n{text:fence}", output = Invoice, retries = 2)]
struct ReadInvoice {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"net": 1.0, "tax": 0.2, "total": 1.2}"#));
    let invoice = run.call(&ReadInvoice { text: "1.20 in all".into() }).await?;
    println!("{invoice:?}");
    Ok(())
}
