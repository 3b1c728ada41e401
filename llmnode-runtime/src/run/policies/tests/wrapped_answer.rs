//! For the gateway of Example Inc., which wraps every answer: `<answer>..</answer>`.
//!
//! No such gateway is known. This is the policy that the page of the room adds, in the place that it names, to show that one file
//! and one line are all that is needed.

use super::attempt::{Attempt, Verdict};
use crate::run::policies::POLICIES;
use crate::run::policies::policy::{AttemptView, Change, Next, Policy};
use crate::run::response::Response;

struct WrappedAnswer;

impl Policy for WrappedAnswer {
    fn received(&self, response: &Response, _: &mut AttemptView<'_>) -> Option<Next> {
        let text = response.text.trim();
        let inside = text.strip_prefix("<answer>")?.strip_suffix("</answer>")?;
        Some(Next::Adapt(Change::Text(inside.to_owned())))
    }
}

/// How many policies stand above it: all up to `PausedTurn`.
const ABOVE: usize = 7;

fn with_wrapped_answer() -> Vec<&'static dyn Policy> {
    let mut list = POLICIES.to_vec();
    list.insert(ABOVE, &WrappedAnswer);
    list
}

#[test]
fn the_tag_is_taken_away_before_the_answer_is_validated() {
    let mut wrapped = Attempt::text("<answer>{\"n\": 1}</answer>\n").typed();
    assert_eq!(
        wrapped.received_by(&with_wrapped_answer()),
        Verdict::Validate
    );
    assert_eq!(wrapped.response.text, "{\"n\": 1}");
}

#[test]
fn any_other_answer_stays_as_it_is() {
    for text in ["{\"n\": 1}", "<answer>{\"n\": 1}", "So: <answer>1</answer>"] {
        let mut plain = Attempt::text(text).typed();
        assert_eq!(plain.received_by(&with_wrapped_answer()), Verdict::Validate);
        assert_eq!(plain.response.text, text);
    }
}

#[test]
fn a_call_within_the_tag_is_a_call() {
    let call = r#"<answer>{"name": "count", "arguments": {}}</answer>"#;
    let mut wrapped = Attempt::text(call).with_tools();
    assert_eq!(wrapped.received_by(&with_wrapped_answer()), Verdict::Turn);
    let mut unknown = Attempt::text(call).with_tools();
    assert_eq!(
        unknown.received(),
        Verdict::Validate,
        "without the policy, the tag hides the call"
    );
}

#[test]
fn an_answer_that_the_provider_refused_is_not_unwrapped() {
    let mut refused = Attempt::text("<answer>1</answer>");
    refused.ended.refusal = Some("I cannot".to_owned());
    let verdict = refused.received_by(&with_wrapped_answer());
    assert!(matches!(verdict, Verdict::Failed(..)), "{verdict:?}");
    assert_eq!(refused.response.text, "<answer>1</answer>");
}
