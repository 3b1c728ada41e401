// Cause: a step that is written by hand has no `exec`.
// Mend: write what it does: `async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError>`.
use llmnode::flow::Step;
use llmnode::{BoxError, step};

struct World;

struct Fetch;

#[step]
impl Step<World> for Fetch {
    type Output = String;

    async fn prep(_: &World) -> Result<Self, BoxError> {
        Ok(Fetch)
    }

    fn post(self, _: String, _: &mut World) -> Result<(), BoxError> {
        Ok(())
    }
}

fn main() {}
