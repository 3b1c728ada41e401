//! The calls that a request asks for: of tools, or of the function whose arguments are the answer.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpectedCalls<'a> {
    pub(crate) function: Option<&'a str>,
    pub(crate) tools: bool,
    /// The most tokens that were asked for.
    pub(crate) limit: Option<u32>,
}

/// The arguments of the function that it had to call are the answer, if it called nothing else.
pub(crate) fn take_answer(completion: &mut llmnode_model::Completion, wanted: ExpectedCalls<'_>) {
    let calls = &mut completion.calls;
    if let Some(function) = wanted.function
        && calls.iter().all(|call| call.name == function)
    {
        let mut given: Vec<String> = Vec::new();
        for call in calls.drain(..) {
            if !given.contains(&call.arguments) {
                given.push(call.arguments);
            }
        }
        if !given.is_empty() {
            // Calls that differ are joined, so that the reader refuses them as two values.
            completion.text = given.join("\n");
        }
    }
    if !wanted.tools {
        calls.clear();
    }
}
