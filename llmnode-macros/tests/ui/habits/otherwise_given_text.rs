// Cause: `otherwise` of the `ScriptedModel` is given a text, but takes a function of the request.
// Mend: write `.otherwise(|_| r#"{"value": "Spam"}"#)`.
// Token: r#"{"value": "Spam"}"#
// Token: otherwise
use llmnode::prelude::*;

#[llm_output]
#[derive(Debug, PartialEq)]
enum Kind {
    Spam,
    Letter,
}

#[llm_node(prompt = "What is this?\n{mail:fence}", output = Kind, temperature = 0.0)]
struct Sort {
    mail: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let model = ScriptedModel::new().reply(r#"{"value": "Letter"}"#).otherwise(r#"{"value": "Spam"}"#);
    let run = Run::new(model.clone());
    let mails = ["Dear Ada, ..", "You have won!", "You have won again!"];
    let nodes = mails.map(|mail| Sort { mail: mail.into() });
    let kinds = run.map(&nodes).concurrency(1).try_all().await?;
    assert_eq!(kinds, [Kind::Letter, Kind::Spam, Kind::Spam]);
    assert_eq!(model.requests().len(), 3);
    Ok(())
}
