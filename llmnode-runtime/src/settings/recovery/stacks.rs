//! Which stack a failure selects, and what of it a node can do.

use std::time::Duration;

use llmnode_model::{Category, Group, Retry};

use super::recovery::{Backoff, Failures, Recovery};
use crate::output::AnswerKind;
use crate::settings::Settings;

pub(super) const NOT_REPEATED: &str = "; not repeated, since the node is not idempotent";

/// What a node can do, which decides which steps are left of a stack.
#[derive(Clone, Copy)]
pub(crate) struct NodeKind {
    /// It has a fallback value.
    pub(crate) fallback: bool,
    /// It may be executed again.
    pub(crate) idempotent: bool,
    /// `None`: it asks no model.
    pub(crate) answers: Option<AnswerKind>,
}

/// All stacks of one call.
pub(crate) struct Stacks<'p> {
    /// Nearest first: of the call, the run, the node, and the run's defaults.
    pub(crate) levels: [&'p Settings; 4],
    node: NodeKind,
}

impl<'p> Stacks<'p> {
    pub(crate) fn new(levels: [&'p Settings; 4], node: NodeKind) -> Self {
        Stacks { levels, node }
    }

    /// The field as the nearest level sets it. `None`: no level does.
    pub(crate) fn nearest<T>(&self, field: impl Fn(&'p Settings) -> Option<T>) -> Option<T> {
        self.levels.iter().find_map(|level| field(level))
    }

    pub(crate) fn wait(&self) -> Option<Backoff> {
        self.nearest(|level| level.wait)
    }

    pub(crate) fn fallback_model(&self) -> Option<&'p str> {
        self.nearest(|level| level.fallback_model.as_deref())
    }

    /// Whether the steps after some failure may name a model.
    pub(super) fn may_lead_to_a_model(&self) -> bool {
        let mut levels = self.levels.iter();
        levels.any(|level| level.fallback_model.is_some() || !level.recover.is_empty())
    }

    /// The steps that may follow a failure, and the key that counts its tries:
    /// failures with the same stack share its tries. `decision`: what the
    /// provider's client decided about this failure, if it differs from the
    /// category's default.
    pub(crate) fn for_failure(
        &self,
        category: Category,
        decision: Option<Retry>,
    ) -> (Failures, Vec<Recovery>) {
        let (key, mut steps) = self.chosen(category, decision);
        if !self.node.idempotent {
            steps.retain(|step| !step.asks_again());
        }
        if !self.node.fallback {
            steps.retain(|step| *step != Recovery::Fallback);
        }
        if is_transport(key) {
            for step in &mut steps {
                if let Recovery::Retry { wait, .. } = step {
                    *wait = wait.or(self.wait());
                }
            }
        }
        (key, steps)
    }

    /// Whether a further try is left out only since the node is not idempotent,
    /// which the error then says.
    pub(super) fn withhold(&self, category: Category, decision: Option<Retry>) -> bool {
        if self.node.idempotent {
            return false;
        }
        let (_, steps) = self.chosen(category, decision);
        steps.iter().any(|step| match step {
            Recovery::Model(_) => true,
            step => step.asks_again() && decision != Some(Retry::No),
        })
    }

    /// The nearest level wins; within a level, a category comes before its group.
    fn chosen(&self, category: Category, decision: Option<Retry>) -> (Failures, Vec<Recovery>) {
        if !self.asks_model() {
            // Request steps do not apply to executions, and stop failures end them.
            let steps = if self.counts(category) {
                self.exec_steps()
            } else {
                Vec::new()
            };
            return (Failures::Category(Category::ExecError), steps);
        }
        let category_key = Failures::Category(category);
        let group = group(category, decision);
        for level in self.levels {
            if let Some(steps) = stack_in(level, category_key) {
                return (category_key, steps.to_vec());
            }
            let Some(group) = group else {
                continue;
            };
            if let Some(steps) = stack_in(level, group) {
                return (group, steps.to_vec());
            }
            if let Some(times) = times(level, group) {
                return (group, self.group_steps(group, times));
            }
        }
        match group {
            None => (category_key, Vec::new()),
            Some(group) => (group, self.group_steps(group, default_times(group))),
        }
    }

    /// Whether a level states what follows the failure, and how often.
    pub(super) fn states(&self, category: Category, decision: Option<Retry>) -> bool {
        let group = group(category, decision);
        self.levels.iter().any(|level| {
            let has_stack = stack_in(level, Failures::Category(category)).is_some();
            has_stack
                || group.is_some_and(|group| {
                    stack_in(level, group).is_some() || times(level, group).is_some()
                })
        })
    }

    /// What `retries = n` and its like are short for: the request again, then the
    /// fallback model, then the fallback value.
    fn group_steps(&self, group: Failures, times: u32) -> Vec<Recovery> {
        let mut steps = Vec::with_capacity(3);
        if times > 0 {
            steps.push(match group {
                Failures::Answer => Recovery::repair(times),
                _ => Recovery::retry(times),
            });
        }
        if let Some(model) = self.fallback_model() {
            steps.push(Recovery::Model(model.to_owned().into()));
        }
        steps.push(Recovery::Fallback);
        steps
    }

    pub(super) fn asks_model(&self) -> bool {
        self.node.answers.is_some()
    }

    /// Whether validators and nodes see it in the attempt number.
    pub(super) fn counts(&self, category: Category) -> bool {
        match self.node.answers {
            Some(_) => category.group() == Group::Answer,
            None => category.group() != Group::Stop,
        }
    }

    fn attempts(&self) -> u32 {
        self.nearest(|level| level.attempts).unwrap_or(1)
    }

    /// How often a node that asks no model may be executed after the first time.
    pub(super) fn further_executions(&self) -> u32 {
        if self.node.idempotent {
            self.attempts().saturating_sub(1)
        } else {
            0
        }
    }

    fn exec_steps(&self) -> Vec<Recovery> {
        let attempts = self.attempts();
        let wait = self.wait().unwrap_or(Backoff::fixed(Duration::ZERO));
        if attempts > 1 {
            vec![Recovery::retry_with(attempts - 1, wait), Recovery::Fallback]
        } else {
            vec![Recovery::Fallback]
        }
    }

    /// The stack of a category with the end that every stack has, for people who look at it.
    pub(crate) fn full_stack(&self, category: Category) -> Vec<Recovery> {
        let (_, mut steps) = self.for_failure(category, None);
        if steps.last() != Some(&Recovery::Bubble) {
            steps.push(Recovery::Bubble);
        }
        steps
    }

    /// How many corrections follow bad answers, if nothing else does. Most calls
    /// are of this kind, and need no stack to know it.
    pub(crate) fn only_corrections(&self) -> Option<u32> {
        let has_stacks = self.levels.iter().any(|level| !level.recover.is_empty());
        let has_others = self.fallback_model().is_some() || self.node.fallback;
        if has_stacks || has_others || !self.node.idempotent {
            return None;
        }
        let retries = self.nearest(|level| level.retries);
        Some(retries.unwrap_or(default_times(Failures::Answer)))
    }
}

/// The stack that a level sets for exactly these failures.
fn stack_in(level: &Settings, failures: Failures) -> Option<&[Recovery]> {
    let mut stacks = level.recover.iter();
    let (_, steps) = stacks.find(|(key, _)| *key == failures)?;
    Some(steps)
}

/// The group whose stack a failure has if its category has none. A provider's
/// client may decide that this failure is one of another group than its category.
/// `None`: of the group stop, which nothing recovers.
fn group(category: Category, decision: Option<Retry>) -> Option<Failures> {
    match (decision, category.group()) {
        (Some(Retry::Transport), _) => Some(Failures::Transport),
        (Some(Retry::Feedback), _) | (_, Group::Answer) => Some(Failures::Answer),
        (_, Group::Transport) => Some(Failures::Transport),
        (_, Group::Final) => Some(Failures::Final),
        _ => None,
    }
}

/// What a level says in the short form.
fn times(level: &Settings, group: Failures) -> Option<u32> {
    match group {
        Failures::Answer => level.retries,
        Failures::Transport => level.transport_retries,
        Failures::Final | Failures::Category(_) => None,
    }
}

fn default_times(group: Failures) -> u32 {
    if group == Failures::Transport { 2 } else { 0 }
}

pub(super) fn is_transport(key: Failures) -> bool {
    match key {
        Failures::Transport => true,
        Failures::Answer | Failures::Final => false,
        Failures::Category(category) => Retry::by_default(category) == Retry::Transport,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::EMPTY_SETTINGS;

    const PLAIN: NodeKind = NodeKind {
        fallback: false,
        idempotent: true,
        answers: Some(AnswerKind::Json),
    };
    const WITH_FALLBACK: NodeKind = NodeKind {
        fallback: true,
        ..PLAIN
    };

    fn two_models() -> Settings {
        Settings::new()
            .recover(
                Category::SchemaError,
                [Recovery::repair(1), Recovery::model("a"), Recovery::Bubble],
            )
            .recover(
                Failures::Transport,
                [Recovery::retry(1), Recovery::model("b"), Recovery::Fallback],
            )
    }

    fn of(levels: [&Settings; 4], node: NodeKind, category: Category) -> String {
        let steps = Stacks::new(levels, node).for_failure(category, None).1;
        steps
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn the_call_beats_the_run_beats_the_node_and_at_each_the_category_beats_its_group() {
        let node = two_models();
        let silent = Settings::new();
        let group = Settings::new().recover(Failures::Answer, [Recovery::repair(7)]);
        let both = group
            .clone()
            .recover(Category::SchemaError, [Recovery::repair(8)]);
        for (call, run, category, steps) in [
            (
                &silent,
                &silent,
                Category::SchemaError,
                "repair(1) model(\"a\") bubble",
            ),
            (&silent, &silent, Category::ValidationError, "fallback"),
            (&silent, &group, Category::SchemaError, "repair(7)"),
            (&silent, &both, Category::SchemaError, "repair(8)"),
            (&group, &both, Category::SchemaError, "repair(7)"),
            (&both, &group, Category::SchemaError, "repair(8)"),
            (
                &silent,
                &group,
                Category::Timeout,
                "retry(1) model(\"b\") fallback",
            ),
            (&silent, &silent, Category::Refusal, "fallback"),
            (&silent, &silent, Category::Panic, ""),
        ] {
            assert_eq!(
                of([call, run, &node, &silent], WITH_FALLBACK, category),
                steps,
                "{category}"
            );
        }
    }

    #[test]
    fn numbers_are_short_for_the_stack_of_their_group_at_their_own_level() {
        let node = two_models();
        let silent = Settings::new();
        let numbers = Settings::new()
            .retries(5)
            .transport_retries(0)
            .fallback_model("c");
        let stacks = numbers.clone().recover(
            Category::SchemaError,
            [Recovery::retry(1), Recovery::repair(2)],
        );
        for (call, run, category, steps) in [
            (
                &numbers,
                &silent,
                Category::SchemaError,
                "repair(5) model(\"c\") fallback",
            ),
            (
                &numbers,
                &silent,
                Category::Network,
                "model(\"c\") fallback",
            ),
            (
                &silent,
                &numbers,
                Category::EmptyResponse,
                "repair(5) model(\"c\") fallback",
            ),
            (
                &silent,
                &stacks,
                Category::SchemaError,
                "retry(1) repair(2)",
            ),
            (
                &silent,
                &stacks,
                Category::ValidationError,
                "repair(5) model(\"c\") fallback",
            ),
            (
                &numbers,
                &stacks,
                Category::SchemaError,
                "repair(5) model(\"c\") fallback",
            ),
        ] {
            assert_eq!(
                of([call, run, &node, &silent], WITH_FALLBACK, category),
                steps,
                "{category}"
            );
        }
        let one = Settings::new().retries(1);
        assert_eq!(
            of(
                [&silent, &one, &node, &silent],
                PLAIN,
                Category::ValidationError
            ),
            "repair(1)"
        );
    }

    #[test]
    fn a_node_that_must_not_be_executed_again_has_its_fallback_alone() {
        let node = NodeKind {
            idempotent: false,
            ..WITH_FALLBACK
        };
        let silent = Settings::new();
        assert_eq!(
            of(
                [&silent, &silent, &two_models(), &silent],
                node,
                Category::Network
            ),
            "fallback"
        );
        assert_eq!(
            of(
                [&silent, &silent, &two_models(), &silent],
                node,
                Category::SchemaError
            ),
            "bubble"
        );
    }

    #[test]
    fn a_wait_is_for_retries_of_the_transport_that_state_none() {
        let second = Duration::from_secs(1);
        let waits = |seconds: u32| Settings::new().wait(second * seconds);
        let node = Settings::new()
            .recover(
                Failures::Transport,
                [
                    Recovery::retry(1),
                    Recovery::retry_with(1, Backoff::fixed(Duration::ZERO)),
                ],
            )
            .recover(Category::Timeout, [Recovery::retry(3)])
            .recover(Category::BadResponse, [Recovery::retry(3)])
            .recover(Failures::Answer, [Recovery::retry(1), Recovery::repair(1)])
            .wait(second..second * 9);
        let silent = Settings::new();
        for (call, run, node, category, steps) in [
            (
                &silent,
                &silent,
                &node,
                Category::Network,
                "retry(1, 1s..9s) retry(1, 0ns)",
            ),
            (&silent, &waits(2), &node, Category::Timeout, "retry(3, 2s)"),
            (
                &waits(3),
                &waits(2),
                &node,
                Category::Timeout,
                "retry(3, 3s)",
            ),
            (&waits(3), &silent, &node, Category::BadResponse, "retry(3)"),
            (
                &waits(3),
                &silent,
                &node,
                Category::SchemaError,
                "retry(1) repair(1)",
            ),
            (
                &waits(3),
                &silent,
                &silent,
                Category::RateLimitError,
                "retry(2, 3s)",
            ),
        ] {
            assert_eq!(
                of([call, run, node, EMPTY_SETTINGS], PLAIN, category),
                steps,
                "{category}"
            );
        }
    }

    #[test]
    fn a_failure_that_decides_for_itself_selects_the_groups_stack() {
        let silent = Settings::new();
        let own = Settings::new().recover(Category::BadResponse, [Recovery::model("a")]);
        let node = Settings::new().retries(3);
        let of = |call: &Settings, category, decision| {
            Stacks::new([call, &silent, &node, &silent], PLAIN).for_failure(category, decision)
        };
        let (transport, answer) = ([Recovery::retry(2)], [Recovery::repair(3)]);
        assert_eq!(
            of(&silent, Category::BadResponse, Some(Retry::Transport)).1,
            transport
        );
        assert_eq!(
            of(&silent, Category::EmptyResponse, Some(Retry::Transport)).1,
            transport
        );
        assert_eq!(
            of(&silent, Category::Refusal, Some(Retry::Feedback)).1,
            answer
        );
        assert_eq!(
            of(&own, Category::BadResponse, Some(Retry::Transport)).1,
            [Recovery::model("a")]
        );
    }

    #[test]
    fn the_level_counts_before_the_category_whatever_a_failure_decides() {
        let (call, silent) = (Settings::new().transport_retries(5), Settings::new());
        let node = Settings::new()
            .recover(Category::BadResponse, [Recovery::retry(1)])
            .recover(Failures::Transport, [Recovery::retry(1)]);
        let of = |category, decision| {
            Stacks::new([&call, &silent, &node, &silent], PLAIN)
                .for_failure(category, decision)
                .1
        };
        assert_eq!(
            of(Category::BadResponse, None),
            [Recovery::retry(1)],
            "of no group"
        );
        assert_eq!(
            of(Category::BadResponse, Some(Retry::Transport)),
            [Recovery::retry(5)]
        );
        assert_eq!(
            of(Category::EmptyResponse, Some(Retry::Transport)),
            [Recovery::retry(5)]
        );
    }
}
