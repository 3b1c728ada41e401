// Cause: a batch without a model is written in one `impl`, and `#[llmnode::step]` is missing above it.
// Mend: put `#[llmnode::step]` above the `impl`.
// Token: BatchStep<Folder>
// Token: impl BatchStep<Folder>
// Token: Count
// Token: exec
use llmnode::Cx;
use llmnode::flow::{Batch, BatchStep};
use llmnode::prelude::*;

#[derive(Default)]
struct Folder {
    texts: Vec<String>,
    words: usize,
}

struct Count(String);

impl BatchStep<Folder> for Count {
    type Output = usize;
    type Action = ();

    async fn prep(state: &Folder) -> Result<Vec<Self>, BoxError> {
        Ok(state.texts.iter().cloned().map(Count).collect())
    }

    async fn exec(&self, _: &Cx<'_, Folder>) -> Result<usize, BoxError> {
        Ok(self.0.split_whitespace().count())
    }

    fn post(_: Vec<Self>, counts: Vec<usize>, state: &mut Folder) -> Result<(), BoxError> {
        state.words = counts.into_iter().sum();
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let folder = Folder { texts: vec!["one two".into()], words: 0 };
    let mut run = Run::new(ScriptedModel::new()).with_state(folder);
    run.step::<Batch<Count>>().await?;
    println!("{} words", run.state().words);
    Ok(())
}
