//! Empty: as a member of the workspace, this package switches on the features of `llmnode` that its tests need.
