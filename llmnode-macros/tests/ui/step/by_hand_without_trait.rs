// Cause: `#[step]` stands on an impl that names no trait.
// Mend: write `impl Step<World> for Fetch`.
use llmnode::{BoxError, Cx, step};

struct World;

struct Fetch;

#[step]
impl Fetch {
    async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> {
        Ok(String::new())
    }
}

fn main() {}
