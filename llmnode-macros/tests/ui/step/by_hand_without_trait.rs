// Cause: `#[step]` stands on an impl that names no trait.
// Mend: write `impl Step<World> for Fetch`.
use llmnode::{Cx, NodeError, step};

struct World;

struct Fetch;

#[step]
impl Fetch {
    async fn exec(&self, _: &Cx<'_, World>) -> Result<String, NodeError> {
        Ok(String::new())
    }
}

fn main() {}
