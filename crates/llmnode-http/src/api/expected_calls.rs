//! The calls that a request asks for: of tools, or of the function whose arguments are the answer.

use std::collections::HashSet;

/// `function`: the one whose arguments are the answer. `tools`: whether there are
/// others. `limit`: the tokens of the answer, to recognise one that was cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpectedCalls<'a> {
    pub(crate) function: Option<&'a str>,
    pub(crate) tools: bool,
    pub(crate) limit: Option<u32>,
}

/// Calls of that function are taken for the answer's text. Repeated calls with the
/// same arguments are one answer: small models do that.
pub(crate) fn take_answer(completion: &mut llmnode_model::Completion, expected: ExpectedCalls<'_>) {
    let calls = &mut completion.calls;
    if let Some(function) = expected.function
        && calls.iter().all(|call| call.name == function)
    {
        let mut seen = HashSet::new();
        let all = calls.drain(..).map(|call| call.arguments);
        let distinct: Vec<String> = all
            .filter(|arguments| seen.insert(arguments.clone()))
            .collect();
        if !distinct.is_empty() {
            // Joined, so that the reader refuses different calls as two values.
            completion.text = distinct.join("\n");
        }
    }
    if !expected.tools {
        calls.clear();
    }
}
