//! Flags that the provider's token counts raise about an answer.

use llmnode_model::{Request, TokenUsage};
use llmnode_reader::Flag;

use crate::ledger::text_tokens;

/// Below this many tokens, the estimate of a prompt's length is too rough.
const SHORTEST: u64 = 1024;

pub(super) fn usage_flags(
    request: &Request,
    usage: Option<TokenUsage>,
) -> impl Iterator<Item = Flag> {
    let usage = usage.unwrap_or_default();
    let short = prompt_was_cut(request, usage).then_some(Flag::ShortPrompt);
    let mismatch = total_is_no_sum(usage).then_some(Flag::TotalMismatch);
    let impossible =
        (usage.output.is_some() && usage.reasoning > usage.output).then_some(Flag::ImpossibleUsage);
    short.into_iter().chain(mismatch).chain(impossible)
}

/// If a server cuts a long prompt, only its token count shows it. A token is about
/// four characters, and hardly ever eight. Attachments are left out as too
/// uncertain.
fn prompt_was_cut(request: &Request, usage: TokenUsage) -> bool {
    let Some(counted) = usage.input else {
        return false;
    };
    // Some providers count cached tokens separately.
    let counted = counted.saturating_add(usage.cached.unwrap_or(0));
    // Cheap bound: a text has no more characters than bytes.
    let bytes: u64 = request
        .messages
        .iter()
        .map(|message| message.content.len() as u64)
        .sum();
    if bytes / 4 < SHORTEST || counted >= bytes / 8 {
        return false;
    }
    let estimate = text_tokens(&request.messages);
    estimate >= SHORTEST && counted < estimate / 2
}

/// The total may contain reasoning in addition to the answer.
fn total_is_no_sum(usage: TokenUsage) -> bool {
    let (Some(input), Some(output), Some(total)) = (usage.input, usage.output, usage.total) else {
        return false;
    };
    let sum = input.saturating_add(output);
    total != sum && total != sum.saturating_add(usage.reasoning.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use llmnode_model::{Message, Role};

    use super::*;

    fn of(characters: usize, usage: TokenUsage) -> Vec<Flag> {
        let half = |role| Message::new(role, "é".repeat(characters / 2));
        usage_flags(
            &Request::new(vec![half(Role::System), half(Role::User)]),
            Some(usage),
        )
        .collect()
    }

    #[test]
    fn a_prompt_counted_at_less_than_half() {
        let input = |input, cached| {
            let mut usage = TokenUsage::default();
            [usage.input, usage.cached] = [Some(input), cached];
            usage
        };
        assert_eq!(of(20_000, input(2051, None)), [Flag::ShortPrompt]);
        assert_eq!(of(20_000, input(2499, None)), [Flag::ShortPrompt]);
        assert_eq!(of(20_000, input(2500, None)), []);
        assert_eq!(of(20_000, input(51, Some(4900))), []);
        assert_eq!(of(20_000, TokenUsage::default()), []);
        assert_eq!(
            of(4 * SHORTEST as usize, input(1, None)),
            [Flag::ShortPrompt]
        );
        assert_eq!(
            of(4 * SHORTEST as usize - 2, input(1, None)),
            [],
            "too short to tell"
        );
    }

    #[test]
    fn a_total_that_is_no_sum() {
        let usage = |total, reasoning| {
            let mut usage = TokenUsage::new(10, 5);
            [usage.total, usage.reasoning] = [total, reasoning];
            usage
        };
        assert_eq!(of(0, usage(Some(999), None)), [Flag::TotalMismatch]);
        assert_eq!(of(0, usage(Some(14), Some(3))), [Flag::TotalMismatch]);
        for (total, reasoning) in [
            (Some(15), None),
            (Some(15), Some(3)),
            (Some(18), Some(3)),
            (None, None),
        ] {
            assert_eq!(of(0, usage(total, reasoning)), []);
        }
        let mut half = usage(Some(999), None);
        half.output = None;
        assert_eq!(of(0, half), []);
    }

    #[test]
    fn more_reasoning_than_answer() {
        let usage = |output, reasoning| {
            let mut usage = TokenUsage::new(10, 0);
            [usage.output, usage.reasoning] = [output, Some(reasoning)];
            usage
        };
        assert_eq!(of(0, usage(Some(293), 321)), [Flag::ImpossibleUsage]);
        assert_eq!(of(0, usage(Some(293), 293)), []);
        assert_eq!(of(0, usage(None, 1)), []);
    }
}
