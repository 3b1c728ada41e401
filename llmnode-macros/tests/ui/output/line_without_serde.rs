// Cause: a variant of the answer holds a list of a type without serde.
// Mend: put `#[llm_output]` on `Line`, too.
// Token: Line
// Token: struct Line
use llmnode::prelude::*;

#[derive(Debug, Clone)]
struct Line {
    product: String,
    amount: u32,
}

#[llm_output]
enum Order {
    Complete { customer: String, lines: Vec<Line> },
    Unclear { question: String },
}

#[llm_node(prompt = "Read this order:\n{mail:fence}", output = Order, retries = 2)]
struct ReadOrder {
    mail: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"Unclear": {"question": "How many?"}}"#));
    match run.call(&ReadOrder { mail: "Tea, please.".into() }).await? {
        Order::Complete { customer, lines } => {
            println!("{customer}");
            for line in lines {
                println!("{} x {}", line.amount, line.product);
            }
        }
        Order::Unclear { question } => println!("{question}"),
    }
    Ok(())
}
