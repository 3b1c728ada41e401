//! Which stack a failure selects.

use super::recovery::{Backoff, Failures, Recovery};
use crate::category::{Category, Group};
use crate::model::Retry;
use crate::settings::{Attributes, Settings};

/// Who states something: the call's word beats the run's, which beats the node's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Call,
    Run,
    Node,
    Default,
}

/// A number of tries, and who stated it.
#[derive(Clone, Copy)]
pub(crate) struct Count {
    pub(crate) times: u32,
    pub(crate) by: Level,
}

/// All that call, run and node say about recovery.
pub(crate) struct Stacks<'p> {
    pub(crate) call: &'p [(Failures, Vec<Recovery>)],
    pub(crate) run: &'p [(Failures, Vec<Recovery>)],
    /// By the node's attributes.
    pub(crate) node: &'static [(Failures, &'static [Recovery])],
    /// By the node at run time.
    pub(crate) own: &'p [(Failures, Vec<Recovery>)],
    pub(crate) retries: Count,
    pub(crate) transport_retries: Count,
    /// The wait of retries in the transport group that state none.
    pub(crate) wait: Option<Backoff>,
    pub(crate) fallback_model: Option<(&'p str, Level)>,
    /// The node has a fallback value.
    pub(crate) fallback: bool,
    /// A call asks once, and no other model.
    pub(crate) once: bool,
}

impl<'p> Stacks<'p> {
    /// `own`: what the node states at run time, before its attributes.
    pub(crate) fn new(
        call: &'p Settings,
        run: &'p Settings,
        own: &'p Settings,
        node: &'p Attributes,
    ) -> Self {
        let count = |call: Option<u32>, run: Option<u32>, node: Option<u32>, default| {
            let said = |times: Option<u32>, by| times.map(|times| Count { times, by });
            said(call, Level::Call)
                .or(said(run, Level::Run))
                .or(said(node, Level::Node))
                .unwrap_or(Count { times: default, by: Level::Default })
        };
        let model = |name: Option<&'p str>, by| name.map(|name| (name, by));
        Stacks {
            call: &call.recover,
            run: &run.recover,
            node: node.recover,
            own: &own.recover,
            retries: count(call.retries, run.retries, own.retries.or(node.retries), 0),
            transport_retries: count(
                call.transport_retries,
                run.transport_retries,
                own.transport_retries.or(node.transport_retries),
                2,
            ),
            wait: call.wait.or(run.wait).or(own.wait).or(node.wait),
            fallback_model: model(call.fallback_model.as_deref(), Level::Call)
                .or(model(run.fallback_model.as_deref(), Level::Run))
                .or(model(own.fallback_model.as_deref().or(node.fallback_model), Level::Node)),
            fallback: node.fallback,
            once: node.once,
        }
    }

    /// The stack for a failure, and the key under which its tries are counted. `decision` is the failure's own, where
    /// it differs from its category's.
    pub(crate) fn of(&self, category: Category, decision: Option<Retry>) -> (Failures, Vec<Recovery>) {
        let (key, mut steps) = self.chosen(category, decision);
        if self.once {
            steps.retain(|step| matches!(step, Recovery::Fallback | Recovery::Bubble));
        }
        if is_transport(key) {
            for step in &mut steps {
                if let Recovery::Retry { wait, .. } = step {
                    *wait = wait.or(self.wait);
                }
            }
        }
        (key, steps)
    }

    fn chosen(&self, category: Category, decision: Option<Retry>) -> (Failures, Vec<Recovery>) {
        let own = Failures::Category(category);
        let group = match (decision, category.group()) {
            (Some(Retry::Transport), _) => Some(Failures::Transport),
            (Some(Retry::Feedback), _) | (_, Group::Answer) => Some(Failures::Answer),
            (_, Group::Transport) => Some(Failures::Transport),
            (_, Group::Final | Group::Stop) => None,
        };
        for level in [Level::Call, Level::Run, Level::Node] {
            for key in [Some(own), group].into_iter().flatten() {
                if let Some(steps) = self.stated(level, key) {
                    let group = if key == own { group_of(category) } else { group };
                    return (key, self.overridden(steps.to_vec(), group, level));
                }
            }
        }
        match group {
            None => (own, Vec::new()),
            // Nobody stated the stack, so what anybody stated holds.
            Some(group) => (group, self.by_default(group)),
        }
    }

    /// The steps that follow a failure of this category, to the last.
    pub(crate) fn listed(&self, category: Category) -> Vec<Recovery> {
        let (_, mut steps) = self.of(category, None);
        if steps.last() != Some(&Recovery::Bubble) {
            steps.push(Recovery::Bubble);
        }
        steps
    }

    /// Whether there are no stacks but those of the numbers of retries.
    pub(crate) fn is_plain(&self) -> bool {
        let owned = [self.call, self.run, self.own];
        let stated = owned.iter().any(|table| !table.is_empty()) || !self.node.is_empty();
        !stated && !self.once && self.fallback_model.is_none() && !self.fallback
    }

    fn stated(&self, level: Level, key: Failures) -> Option<&[Recovery]> {
        let owned = |table: &'p [(Failures, Vec<Recovery>)]| {
            table.iter().find(|(failures, _)| *failures == key).map(|(_, steps)| steps.as_slice())
        };
        match level {
            Level::Call => owned(self.call),
            Level::Run => owned(self.run),
            Level::Node => owned(self.own)
                .or_else(|| self.node.iter().find(|(failures, _)| *failures == key).map(|(_, steps)| *steps)),
            Level::Default => None,
        }
    }

    fn by_default(&self, group: Failures) -> Vec<Recovery> {
        let mut steps = Vec::with_capacity(3);
        let (times, step) = match group {
            Failures::Answer => (self.retries.times, Recovery::repair(self.retries.times)),
            _ => (self.transport_retries.times, Recovery::retry(self.transport_retries.times)),
        };
        steps.extend((times > 0).then_some(step));
        steps.extend(self.fallback_model.map(|(model, _)| Recovery::Model(model.to_owned().into())));
        steps.extend(self.fallback.then_some(Recovery::Fallback));
        steps
    }

    /// What a stack becomes by the numbers and the model that were stated above it.
    fn overridden(&self, mut steps: Vec<Recovery>, group: Option<Failures>, level: Level) -> Vec<Recovery> {
        if !self.fallback {
            steps.retain(|step| *step != Recovery::Fallback);
        }
        let Some(group) = group else { return steps };
        if let Some((model, by)) = self.fallback_model
            && by < level
        {
            let at = steps.iter().position(|step| matches!(step, Recovery::Fallback | Recovery::Bubble));
            let model = Recovery::Model(model.to_owned().into());
            if !steps.contains(&model) {
                steps.insert(at.unwrap_or(steps.len()), model);
            }
        }
        match group {
            Failures::Answer if self.retries.by < level => {
                with_times(steps, &Recovery::repair(self.retries.times))
            }
            Failures::Transport if self.transport_retries.by < level => {
                with_times(steps, &Recovery::retry(self.transport_retries.times))
            }
            _ => steps,
        }
    }
}

/// Whether a stack is one for failures of the transport: what waits, and costs the endpoint.
pub(super) fn is_transport(key: Failures) -> bool {
    match key {
        Failures::Transport => true,
        Failures::Answer => false,
        Failures::Category(category) => Retry::by_default(category) == Retry::Transport,
    }
}

fn group_of(category: Category) -> Option<Failures> {
    match category.group() {
        Group::Answer => Some(Failures::Answer),
        Group::Transport => Some(Failures::Transport),
        Group::Final | Group::Stop => None,
    }
}

/// The stack with one step of `new`'s kind, where its first one was, or else before whatever is no retry.
fn with_times(mut steps: Vec<Recovery>, new: &Recovery) -> Vec<Recovery> {
    let same = |step: &Recovery| std::mem::discriminant(step) == std::mem::discriminant(new);
    let first = steps.iter().position(same);
    let at = first.or_else(|| steps.iter().position(|step| !matches!(step, Recovery::Retry { .. })));
    let at = at.unwrap_or(steps.len());
    let step = match (new, first.map(|first| &steps[first])) {
        (Recovery::Retry { times, .. }, Some(Recovery::Retry { wait, .. })) => {
            Recovery::Retry { times: *times, wait: *wait }
        }
        _ => new.clone(),
    };
    steps.retain(|step| !same(step));
    if !matches!(step, Recovery::Retry { times: 0, .. } | Recovery::Repair { times: 0 }) {
        steps.insert(at.min(steps.len()), step);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_MODELS: &[(Failures, &[Recovery])] = &[
        (
            Failures::Category(Category::SchemaError),
            &[Recovery::repair(1), Recovery::model("a"), Recovery::Bubble],
        ),
        (Failures::Transport, &[Recovery::retry(1), Recovery::model("b"), Recovery::Fallback]),
    ];

    fn of(call: &Settings, run: &Settings, node: &Attributes, category: Category) -> String {
        let steps = Stacks::new(call, run, &Settings::new(), node).of(category, None).1;
        steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_call_beats_the_run_beats_the_node_and_at_each_the_category_beats_its_group() {
        let node = Attributes::new().recover(TWO_MODELS).fallback();
        let silent = Settings::new();
        let group = Settings::new().recover(Failures::Answer, [Recovery::repair(7)]);
        let both = group.clone().recover(Category::SchemaError, [Recovery::repair(8)]);
        for (call, run, category, steps) in [
            (&silent, &silent, Category::SchemaError, "repair(1) model(\"a\") bubble"),
            (&silent, &silent, Category::ValidationError, "fallback"),
            (&silent, &group, Category::SchemaError, "repair(7)"),
            (&silent, &both, Category::SchemaError, "repair(8)"),
            (&group, &both, Category::SchemaError, "repair(7)"),
            (&both, &group, Category::SchemaError, "repair(8)"),
            (&silent, &group, Category::Timeout, "retry(1) model(\"b\") fallback"),
            (&silent, &silent, Category::Refusal, ""),
            (&silent, &silent, Category::Panic, ""),
        ] {
            assert_eq!(of(call, run, &node, category), steps, "{category}");
        }
    }

    #[test]
    fn numbers_and_models_change_the_stacks_of_those_below_alone() {
        let node = Attributes::new().recover(TWO_MODELS).fallback();
        let silent = Settings::new();
        let numbers = Settings::new().retries(5).transport_retries(0).fallback_model("c");
        let stacks =
            numbers.clone().recover(Category::SchemaError, [Recovery::retry(1), Recovery::repair(2)]);
        for (call, run, category, steps) in [
            (&numbers, &silent, Category::SchemaError, "repair(5) model(\"a\") model(\"c\") bubble"),
            (&numbers, &silent, Category::Network, "model(\"b\") model(\"c\") fallback"),
            (&silent, &numbers, Category::EmptyResponse, "repair(5) model(\"c\") fallback"),
            (&silent, &stacks, Category::SchemaError, "retry(1) repair(2)"),
            (&numbers, &stacks, Category::SchemaError, "retry(1) repair(5) model(\"c\")"),
        ] {
            assert_eq!(of(call, run, &node, category), steps, "{category}");
        }
    }

    #[test]
    fn a_new_number_keeps_the_wait_and_stands_before_what_is_no_retry() {
        let wait = super::super::Backoff::fixed(std::time::Duration::from_secs(1));
        for (stack, number, changed) in [
            (
                vec![Recovery::retry_with(1, wait), Recovery::Bubble],
                Recovery::retry(4),
                "retry(4, 1s) bubble",
            ),
            (
                vec![Recovery::retry(1), Recovery::model("a"), Recovery::retry(2)],
                Recovery::retry(4),
                "retry(4) model(\"a\")",
            ),
            (
                vec![Recovery::retry(1), Recovery::Fallback],
                Recovery::repair(4),
                "retry(1) repair(4) fallback",
            ),
            (vec![Recovery::repair(1), Recovery::Bubble], Recovery::repair(0), "bubble"),
            (vec![Recovery::retry(1)], Recovery::repair(1), "retry(1) repair(1)"),
        ] {
            let steps: Vec<_> = with_times(stack, &number).iter().map(ToString::to_string).collect();
            assert_eq!(steps.join(" "), changed);
        }
    }

    #[test]
    fn a_wait_is_for_retries_of_the_transport_that_state_none() {
        use std::time::Duration;
        const STATED: &[(Failures, &[Recovery])] = &[
            (
                Failures::Transport,
                &[Recovery::retry(1), Recovery::retry_with(1, Backoff::fixed(Duration::ZERO))],
            ),
            (Failures::Category(Category::Timeout), &[Recovery::retry(3)]),
            (Failures::Category(Category::BadResponse), &[Recovery::retry(3)]),
            (Failures::Answer, &[Recovery::retry(1), Recovery::repair(1)]),
        ];
        let second = Duration::from_secs(1);
        let waits = |seconds: u32| Settings::new().wait(second * seconds);
        let node = Attributes::new().recover(STATED).wait(Backoff::growing(second, second * 9));
        let silent = Settings::new();
        for (call, run, node, category, steps) in [
            (&silent, &silent, &node, Category::Network, "retry(1, 1s..9s) retry(1, 0ns)"),
            (&silent, &waits(2), &node, Category::Timeout, "retry(3, 2s)"),
            (&waits(3), &waits(2), &node, Category::Timeout, "retry(3, 3s)"),
            (&waits(3), &silent, &node, Category::BadResponse, "retry(3)"),
            (&waits(3), &silent, &node, Category::SchemaError, "retry(1) repair(1)"),
            (&waits(3), &silent, &Attributes::new(), Category::RateLimitError, "retry(2, 3s)"),
        ] {
            assert_eq!(of(call, run, node, category), steps, "{category}");
        }
    }

    #[test]
    fn a_failure_that_decides_for_itself_selects_the_groups_stack() {
        let silent = Settings::new();
        let own = Settings::new().recover(Category::BadResponse, [Recovery::model("a")]);
        let node = Attributes::new().retries(3);
        let of = |call: &Settings, category, decision| {
            Stacks::new(call, &silent, &silent, &node).of(category, decision)
        };
        let (transport, answer) = ([Recovery::retry(2)], [Recovery::repair(3)]);
        assert_eq!(of(&silent, Category::BadResponse, Some(Retry::Transport)).1, transport);
        assert_eq!(of(&silent, Category::EmptyResponse, Some(Retry::Transport)).1, transport);
        assert_eq!(of(&silent, Category::Refusal, Some(Retry::Feedback)).1, answer);
        assert_eq!(of(&own, Category::BadResponse, Some(Retry::Transport)).1, [Recovery::model("a")]);
    }

    #[test]
    fn numbers_change_the_stacks_of_their_group_whatever_a_failure_decides() {
        const STATED: &[(Failures, &[Recovery])] = &[
            (Failures::Category(Category::BadResponse), &[Recovery::retry(1)]),
            (Failures::Transport, &[Recovery::retry(1)]),
        ];
        let (call, silent) = (Settings::new().transport_retries(5), Settings::new());
        let node = Attributes::new().recover(STATED);
        let of =
            |category| Stacks::new(&call, &silent, &silent, &node).of(category, Some(Retry::Transport)).1;
        assert_eq!(of(Category::BadResponse), [Recovery::retry(1)], "of no group");
        assert_eq!(of(Category::EmptyResponse), [Recovery::retry(5)], "of the group transport, as decided");
    }
}
