// Cause: the answer's type can neither be read from JSON nor described to the model.
// Mend: put `#[llm_output]` above the struct.
// Token: Ticket
use llmnode::prelude::*;

/// What the mail is about.
#[derive(Debug, Clone)]
struct Ticket {
    subject: String,
    urgent: bool,
}

#[llm_node(
    prompt = "Make a ticket of this mail:\n{mail:fence}",
    output = Ticket,
    retries = 1,
)]
struct MakeTicket {
    mail: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"subject": "printer", "urgent": true}"#));
    let ticket = run.call(&MakeTicket { mail: "The printer burns!".into() }).await?;
    println!("{} {}", ticket.subject, ticket.urgent);
    Ok(())
}
