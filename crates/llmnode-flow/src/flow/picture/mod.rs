//! Pictures of flows, as text that Mermaid draws.

mod drawing;
mod mermaid;
#[cfg(test)]
mod tests;

use super::outline::Outline;
use super::record::FlowRecord;
use drawing::Drawing;

impl Outline {
    /// A flowchart for Mermaid, which Markdown shows in a block of the language `mermaid`.
    ///
    /// ```
    /// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
    /// use llmnode::flow::Outline;
    ///
    /// let picture = Outline::Node("greet".into()).mermaid();
    /// assert!(picture.starts_with("flowchart TD\n") && picture.contains("greet"));
    /// ```
    pub fn mermaid(&self) -> String {
        mermaid::draw(&Drawing::new(self, None))
    }
}

impl FlowRecord {
    /// The flow's picture for Mermaid, with the path that was taken: how often, how
    /// long and with how many tokens.
    pub fn mermaid(&self) -> String {
        mermaid::draw(&Drawing::new(&self.outline, Some(self)))
    }
}
