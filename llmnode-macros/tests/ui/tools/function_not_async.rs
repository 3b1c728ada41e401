// Cause: the function of a `Toolset` is not `async`.
// Mend: return `async move { Ok::<_, BoxError>(..) }`.
#![allow(unused)]

use llmnode::Toolset;

fn main() {
    let _ = Toolset::new().function("shout", "Shouts a text.", |text: String| text.to_uppercase());
}
