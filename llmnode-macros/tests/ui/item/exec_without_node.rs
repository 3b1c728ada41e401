// Cause: a node without a model implements `Exec`, and not `Node`.
// Mend: add `impl Node for Lookup { type Output = String; const NAME: &'static str = "lookup"; }`.
// Token: Lookup
// Token: Exec<Phonebook>
// Errors: 3
// Missed: the output is asked for in the signature, in the impl and in the call.
use std::collections::HashMap;

use llmnode::prelude::*;
use llmnode::{Cx, Exec};

struct Phonebook(HashMap<String, String>);

struct Lookup {
    name: String,
}

impl Exec<Phonebook> for Lookup {
    async fn exec(&self, cx: &Cx<'_, Phonebook>) -> Result<String, BoxError> {
        let number = cx.state().0.get(&self.name).ok_or("nobody of that name")?;
        Ok(number.clone())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let book = Phonebook(HashMap::from([("Ada".into(), "123".into())]));
    let run = Run::new(ScriptedModel::new()).with_state(book);
    println!("{}", run.call(&Lookup { name: "Ada".into() }).await?);
    Ok(())
}
