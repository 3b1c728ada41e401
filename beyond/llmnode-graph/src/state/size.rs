//! The limit on the size of a state.

use std::io;

use llmnode_runtime::{Category, NodeError};
use serde::Serialize;

/// In bytes of JSON; also for what a node builds from the state. Not a setting.
pub(crate) const MOST: usize = 16 << 20;

/// Ignores changes by the program. Does not count for equality.
#[derive(Clone, Default)]
pub(super) struct Size(pub(super) Option<usize>);

impl PartialEq for Size {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

pub(crate) fn size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // A value that cannot be written has no size.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

pub(crate) fn take(node: &str, left: &mut usize, bytes: usize) -> Result<(), NodeError> {
    *left = left.checked_sub(bytes).ok_or_else(|| {
        let message = format!(
            "the node `{node}` puts together a text or arguments of more than {MOST} bytes, the most, which no setting changes: let it read less"
        );
        NodeError::new(Category::LimitExceeded, message)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use llmnode_runtime::Message;

    use super::super::{Rules, State, Update};
    use super::*;

    #[test]
    fn what_is_replaced_or_taken_out_does_not_add_up() {
        let (rules, mut state) = (Rules::default(), State::default());
        let write = |key: &str| Update::new().with_value(key, "x".repeat(1 << 20));
        for _ in 0..20 {
            rules.apply("n", write("same"), &mut state).unwrap();
        }
        for key in 0..14 {
            rules
                .apply("n", write(&key.to_string()), &mut state)
                .unwrap();
        }
        let error = rules.apply("n", write("more"), &mut state).unwrap_err();
        assert_eq!(error.category(), Category::LimitExceeded);
        let message = error.message();
        assert!(
            message.contains("`n` makes the state 16777")
                && message.contains("1048578 bytes to `more`"),
            "{message}"
        );
        assert_eq!(state.value("more"), None);
        // What the program takes out is noticed before anything is refused.
        state.values.remove("same");
        rules.apply("n", write("more"), &mut state).unwrap();
        let turns = [Message::assistant("x".repeat(1 << 20))];
        let said = turns.into_iter().fold(Update::new(), Update::with_message);
        assert!(rules.apply("n", said, &mut state).is_err());
    }

    #[test]
    fn the_known_size_is_never_too_small() {
        let rules = Rules::default();
        for mut state in [State::default(), State::default().branch()] {
            for number in 0..40 {
                let key = format!("k{}", number % 30);
                let update = Update::new()
                    .with_value(&key, number)
                    .with_message(Message::assistant("ok"));
                rules
                    .apply("a_node_with_a_name", update, &mut state)
                    .unwrap();
                let known = state.size.0.unwrap();
                assert!(known >= state.measure(), "{known} for {}", state.measure());
            }
        }
    }

    #[test]
    fn the_log_of_a_branch_has_a_size_too() {
        let (rules, mut branch) = (Rules::default(), State::default().branch());
        let mut write = || {
            rules.apply(
                "n",
                Update::new().with_value("same", "x".repeat(1 << 20)),
                &mut branch,
            )
        };
        let written = (0..20).take_while(|_| write().is_ok()).count();
        assert!((7..16).contains(&written), "{written}");
        assert_eq!(branch.into_log().len(), written);
    }
}
