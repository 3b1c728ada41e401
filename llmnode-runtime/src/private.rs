//! What generated code calls. Not part of the public interface: it may change in any release.

pub use crate::prompt::at::prompt_at;
pub use crate::prompt::{Prompt, PromptJson, PromptList, PromptOption, PromptValue, Segment};
pub use crate::run::exec;
pub use crate::validate::{
    Attempt, Checks, Dive, DiveFields, DiveNothing, DiveValidators, Invalid, MARK, Marked, Reach,
    ReachFields, ReachNothing, Reached, Unmarked, Validate, ValidateFields, Validated, ValidatedFields,
};
pub use crate::{Attributes, Cx, Exec, LlmNode, LlmOutput, Node, NodeError, OutputSpec};
pub use schemars;
pub use serde;
