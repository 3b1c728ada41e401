//! Earlier messages of a conversation in a node's field.

use llmnode_model::{Attachment, Message, Role};

/// Operations on a history. It is in the prelude.
///
/// Both cut whole turns: what is left begins with a user message, and the last turn
/// stays, so every provider takes it. A *turn* is a user message with all that
/// follows it: calls of tools, their results, and the answer.
pub trait History {
    /// Keeps at most this many messages, the newest ones, from a user message on.
    /// If the last turn alone has more, it stays whole. Returns how many messages
    /// went.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Message, ToolCall, prompt::History};
    ///
    /// let mut history = vec![
    ///     Message::user("Hello!"),
    ///     Message::assistant("Hello."),
    ///     Message::user("How many books?"),
    ///     Message::assistant("").calling([ToolCall::new("call_1", "count", "{}")]),
    ///     Message::tool("call_1", "3"),
    ///     Message::assistant("Three."),
    /// ];
    /// assert_eq!(history.cut(5), 2);
    /// assert_eq!(history[0], Message::user("How many books?"));
    /// assert_eq!(history.cut(2), 0, "one turn is left");
    /// ```
    fn cut(&mut self, newest: usize) -> usize;

    /// Keeps at most this many tokens, the newest turns. If the last turn alone has
    /// more, it stays whole. Returns how many messages went.
    ///
    /// Turns of `report.history()` have the figures of the provider, also after
    /// they were stored as JSON. Other messages are estimated: a token is four
    /// characters, and an attachment has a figure by its type and size.
    /// Instructions, tools and the schema of the answer are not counted: they are
    /// no part of a history.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Message, prompt::History};
    ///
    /// let turn = [Message::user("x".repeat(400)), Message::assistant("y".repeat(400))];
    /// let mut history = turn.iter().cycle().take(20).cloned().collect::<Vec<_>>();
    /// assert_eq!(history.cut_to_tokens(1000), 10);
    /// ```
    fn cut_to_tokens(&mut self, most: u64) -> usize;
}

impl History for Vec<Message> {
    fn cut(&mut self, newest: usize) -> usize {
        let surplus = self.len().saturating_sub(newest);
        if surplus == 0 {
            return 0;
        }
        let first = turn_from(self, surplus);
        drop_first(self, first)
    }

    fn cut_to_tokens(&mut self, most: u64) -> usize {
        let mut left = most;
        let mut newest = 0;
        for tokens in tokens(self).into_iter().rev() {
            let Some(rest) = left.checked_sub(tokens) else {
                break;
            };
            left = rest;
            newest += 1;
        }
        self.cut(newest)
    }
}

/// Where the first turn begins at or behind `at`, or else the last one.
///
/// Looking forward keeps fewer messages than asked for, never more; only if that
/// would leave none, the last turn stays.
fn turn_from(history: &[Message], at: usize) -> usize {
    let next = (at..history.len()).find(|index| begins_turn(history, *index));
    next.or_else(|| (0..at).rev().find(|index| begins_turn(history, *index)))
        .unwrap_or(0)
}

/// A user message behind another one belongs to its turn. One behind the results of
/// tools only asks for the answer.
fn begins_turn(history: &[Message], at: usize) -> bool {
    if role_at(history, at) != Some(Role::User) {
        return false;
    }
    let before = at.checked_sub(1).and_then(|at| role_at(history, at));
    !matches!(before, Some(Role::User | Role::Tool))
}

fn role_at(history: &[Message], at: usize) -> Option<Role> {
    history.get(at).map(|message| message.role)
}

/// The figures of the messages that are left count from the first of them.
fn drop_first(history: &mut Vec<Message>, first: usize) -> usize {
    let gone = tokens(&history[..first])
        .into_iter()
        .fold(0, u64::saturating_add);
    history.drain(..first);
    for message in history
        .iter_mut()
        .filter(|message| message.tokens().is_some())
    {
        let counted = message.tokens().map(|tokens| tokens.saturating_sub(gone));
        *message = std::mem::replace(message, Message::user("")).counted(counted);
    }
    first
}

/// The tokens of each message.
///
/// A provider counts all messages up to an answer, not each. So what lies between
/// two answers that were counted has the difference of their counts, shared among
/// those messages in the proportion of their estimates.
fn tokens(history: &[Message]) -> Vec<u64> {
    let mut tokens: Vec<u64> = history.iter().map(estimated).collect();
    let mut last_counted: Option<(usize, u64)> = None;
    for (at, message) in history.iter().enumerate() {
        let Some(count) = message.tokens() else {
            continue;
        };
        if let Some((before, base)) = last_counted
            && let Some(exact) = count.checked_sub(base)
        {
            share(&mut tokens[before + 1..=at], exact);
        }
        last_counted = Some((at, count));
    }
    tokens
}

/// Scales estimates so that their sum is `exact`. What rounding leaves over goes to
/// the last one, which is the answer.
fn share(tokens: &mut [u64], exact: u64) {
    let estimated = tokens.iter().sum::<u64>().max(1);
    let mut left = exact;
    for one in tokens.iter_mut() {
        let part = u128::from(*one) * u128::from(exact) / u128::from(estimated);
        *one = u64::try_from(part).unwrap_or(left).min(left);
        left -= *one;
    }
    if let Some(answer) = tokens.last_mut() {
        *answer += left;
    }
}

/// A token for four characters of text and calls, and the figures of the attachments.
fn estimated(message: &Message) -> u64 {
    let mut characters = message.content.chars().count();
    for call in message.calls() {
        characters += call.name.chars().count() + call.arguments.chars().count();
    }
    let attached: u64 = message.attachments().map(Attachment::tokens).sum();
    attached + characters as u64 / 4
}

/// A field that `#[node(history)]` marks: anything that can be borrowed as a slice of messages.
///
/// That is a `Vec<Message>`, a `&[Message]`, an array, a `Box` or an `Arc` of a
/// slice, a reference to any of them, or your own type with `AsRef<[Message]>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the history of a node",
    label = "no messages",
    note = "`#[node(history)]` takes a `Vec<Message>`, a `&[Message]`, or another type with \
            `AsRef<[Message]>`; an empty history adds nothing, so there is no need for an `Option`"
)]
pub trait PromptHistory: AsRef<[Message]> {}

#[diagnostic::do_not_recommend]
impl<T: AsRef<[Message]> + ?Sized> PromptHistory for T {}

#[cfg(test)]
mod tests {
    use llmnode_model::ToolCall;

    use super::*;

    fn turn(number: u64, tokens: Option<u64>) -> [Message; 2] {
        [
            Message::user(format!("{number:04}")),
            Message::assistant("abcd").counted(tokens),
        ]
    }

    fn history(figures: &[Option<u64>]) -> Vec<Message> {
        figures
            .iter()
            .enumerate()
            .flat_map(|(at, tokens)| turn(at as u64, *tokens))
            .collect()
    }

    #[test]
    fn a_cut_goes_on_to_the_next_turn_and_leaves_the_last_one() {
        for (newest, gone) in [
            (9, 0),
            (6, 0),
            (5, 2),
            (4, 2),
            (3, 4),
            (2, 4),
            (1, 4),
            (0, 4),
        ] {
            let mut some = history(&[None; 3]);
            assert_eq!(some.cut(newest), gone, "{newest}");
            assert_eq!(some, history(&[None; 3])[gone..]);
        }
        assert_eq!(Vec::new().cut(0), 0);
    }

    #[test]
    fn a_user_message_within_a_turn_is_no_beginning() {
        let call = Message::assistant("").calling([ToolCall::new("1", "count", "{}")]);
        let within = [
            Message::user("Two"),
            Message::user("parts"),
            call,
            Message::tool("1", "3"),
        ];
        let mut some: Vec<_> = turn(0, None).into_iter().chain(within).collect();
        some.extend([Message::user("Answer now."), Message::assistant("Three.")]);
        for newest in 0..=6 {
            assert_eq!(some.clone().cut(newest), 2, "{newest}");
        }
        let mut answers = vec![Message::assistant("a"), Message::assistant("b")];
        assert_eq!(answers.cut(1), 0, "no turn begins");
    }

    /// A server may count anything.
    #[test]
    fn counts_without_bound_add_up_to_no_panic() {
        let figures = [10, u64::MAX, 10, u64::MAX, 10].map(Some);
        let mut some = history(&figures);
        assert_eq!(some.cut(2), 8);
        assert_eq!(some[1].tokens(), Some(0));
        assert_eq!(history(&figures).cut_to_tokens(u64::MAX), 4);
    }

    #[test]
    fn counted_figures_go_before_estimates() {
        // Each turn has two tokens by estimate. By the provider: unknown, 100, 10,
        // and unknown again.
        let some = || history(&[Some(500), Some(600), Some(610), None]);
        for (most, gone) in [
            (0, 6),
            (2, 6),
            (11, 6),
            (12, 4),
            (111, 4),
            (112, 2),
            (113, 2),
            (114, 0),
        ] {
            let mut some = some();
            assert_eq!(some.cut_to_tokens(most), gone, "{most}");
        }
        // After a cut, and stored, they still are what they were.
        let mut rest = some();
        rest.cut(6);
        let mut rest: Vec<Message> =
            serde_json::from_str(&serde_json::to_string(&rest).unwrap()).unwrap();
        assert_eq!(rest.cut_to_tokens(12), 2);
        // The next turn is counted without what was cut.
        let mut again = some();
        again.cut(4);
        again.extend(turn(9, Some(again[1].tokens().unwrap() + 50)));
        assert_eq!(again.clone().cut_to_tokens(51), 2, "two turns have 50");
        assert_eq!(again.cut_to_tokens(49), 4);
    }

    #[test]
    fn figures_of_other_conversations_are_not_taken() {
        let mut some = history(&[Some(500), Some(20)]);
        assert_eq!(some.cut_to_tokens(4), 0);
    }
}
