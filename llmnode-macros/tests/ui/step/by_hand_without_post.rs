// Cause: a step that is written by hand names an `Action`, and has no `post`.
// Mend: write what it decides: `fn post(self, _: Self::Output, _: &mut World) -> Result<bool, BoxError>`.
use llmnode::flow::Step;
use llmnode::step;

struct World;

#[derive(Default)]
struct Fetch;

#[step]
impl Step<World> for Fetch {
    type Action = bool;
}

fn main() {}
