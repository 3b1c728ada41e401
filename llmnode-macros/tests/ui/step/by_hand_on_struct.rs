// Cause: `#[step]` stands on the struct.
// Mend: put it on `impl Step<World> for Fetch`.
use llmnode::step;

#[step]
struct Fetch;

fn main() {}
