// Cause: a step that is written by hand has no `prep`, and its type has no default value.
// Mend: write how it is made, `async fn prep(state: &World) -> Result<Self, BoxError>`, or derive `Default`.
use llmnode::flow::Step;
use llmnode::{BoxError, Cx, step};

struct World;

struct Fetch {
    url: String,
}

#[step]
impl Step<World> for Fetch {
    type Output = String;

    async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> {
        Ok(self.url.clone())
    }
}

fn main() {}
