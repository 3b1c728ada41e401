// Cause: a step that is written by hand does not say what `exec` gives.
// Mend: write `type Output = String;`.
use llmnode::flow::Step;
use llmnode::{BoxError, Cx, step};

struct World;

struct Fetch;

#[step]
impl Step<World> for Fetch {
    async fn prep(_: &World) -> Result<Self, BoxError> {
        Ok(Fetch)
    }

    async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> {
        Ok(String::new())
    }

    fn post(self, _: String, _: &mut World) -> Result<(), BoxError> {
        Ok(())
    }
}

fn main() {}
