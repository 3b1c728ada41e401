//! The settings of one call, resolved from those of the call, the model, the run and the node.
//!
//! [`Resolved::new`] refuses what cannot be for this node before anything is sent; [`Resolved::apply_to`] writes what is sent into a
//! request, once for each model that is asked, and refuses what cannot be sent to
//! that model. Faults of one kind are collected, so that the error lists all of
//! them.

use std::time::Duration;

use llmnode_model::internal::join_field;
use llmnode_model::{Category, Request, ResponseFormat};
use llmnode_reader::Reader;
use llmnode_reader::ask::with_remedy;

use super::recovery::{Failures, NodeKind, Recovery, Stacks, check};
use super::settings::{EMPTY_SETTINGS, Settings};
use crate::error::NodeError;
use crate::output::AnswerKind;

/// The nearest level that sets a field wins. Fields are looked up when they are
/// needed: most calls need few.
pub(crate) struct Resolved<'p> {
    pub(crate) stacks: Stacks<'p>,
    run_model_ignored: bool,
}

impl<'p> Resolved<'p> {
    /// `levels`: of the call, the run and the node, and the run's defaults.
    pub(crate) fn new(levels: [&'p Settings; 4], node_kind: NodeKind) -> Result<Self, NodeError> {
        let resolved = Resolved {
            stacks: Stacks::new(levels, node_kind),
            run_model_ignored: false,
        };
        let mut faults = match node_kind.answers {
            Some(answers) => resolved.faults(node_kind, answers),
            None => resolved.exec_faults(node_kind),
        };
        faults.extend(zero_duration("deadline", resolved.deadline()));
        NodeError::refuse(faults)?;
        Ok(resolved)
    }

    /// The run's `model` is for its own model, but this node has another.
    pub(crate) fn ignore_run_model(&mut self) {
        self.run_model_ignored = true;
    }

    pub(crate) fn model(&self) -> Option<&'p str> {
        let [call, run, node, defaults] = self.stacks.levels;
        let levels: &[&'p Settings] = if self.run_model_ignored {
            &[call, node]
        } else {
            &[call, run, node, defaults]
        };
        levels.iter().find_map(|level| level.model.as_deref())
    }

    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.stacks.nearest(|level| level.deadline)
    }

    pub(crate) fn max_output_bytes(&self) -> usize {
        self.stacks
            .nearest(|level| level.max_output_bytes)
            .unwrap_or(usize::MAX)
    }

    pub(crate) fn feedback_rounds(&self) -> usize {
        self.stacks
            .nearest(|level| level.feedback_rounds)
            .unwrap_or(3)
    }

    pub(crate) fn stop_on_repeat(&self) -> bool {
        self.stacks
            .nearest(|level| level.stop_on_repeat)
            .unwrap_or(true)
    }

    pub(crate) fn calls_in_text(&self) -> bool {
        self.stacks
            .nearest(|level| level.calls_in_text)
            .unwrap_or(true)
    }

    /// Not the run or the call: it is the node that lists tools which otherwise are
    /// called only natively.
    pub(crate) fn node_asks_for_calls_in_text(&self) -> bool {
        let [_, _, node, _] = self.stacks.levels;
        node.calls_in_text == Some(true)
    }

    pub(crate) fn thoughts_in_text(&self) -> bool {
        self.stacks
            .nearest(|level| level.thoughts_in_text)
            .unwrap_or(true)
    }

    /// Writes what is sent into the request. `model`: settings of a registered
    /// model; `None`: the run's own is asked.
    ///
    /// # Errors
    /// A `config_error` with all that cannot be sent.
    pub(crate) fn apply_to(
        &self,
        request: &mut Request,
        id: Option<String>,
        model: Option<&Settings>,
    ) -> Result<(), NodeError> {
        let registered = model.unwrap_or(EMPTY_SETTINGS);
        let [call, run, node, defaults] = self.stacks.levels;
        let levels = [call, registered, run, node, defaults];
        request.model = registered.model.as_deref().map(str::to_owned).or(id);
        request.temperature = levels.iter().find_map(|level| level.temperature);
        request.max_tokens = levels.iter().find_map(|level| level.max_tokens);
        request.reasoning = levels.iter().find_map(|level| level.reasoning);
        request.attempt_timeout = levels.iter().find_map(|level| level.attempt_timeout);
        request.response_format = levels.iter().find_map(|level| level.response_format);
        request.cache.get_or_insert_default().setting = levels.iter().find_map(|level| level.cache);
        request.extra.clear();
        for level in levels.iter().rev() {
            for (field, value) in &level.extra {
                request.extra.insert(field.clone(), value.clone());
            }
        }
        request.extra_on = None;
        // From the farthest level on, so that a nearer one replaces or joins what it finds.
        let farthest_first = levels.iter().rev();
        let by_api = farthest_first.filter_map(|level| level.extra_on.as_deref());
        for (api, fields) in by_api.flatten() {
            let all = request.extra_on.get_or_insert_default();
            let joined = all.entry(*api).or_default();
            for (name, value) in fields {
                join_field(joined, name, value);
            }
        }
        let mut faults = request_faults(request, model);
        faults.extend(zero_window(&levels));
        NodeError::refuse(faults)
    }

    /// The tokens of the window of a model, as somebody has set them. `model`:
    /// settings of a registered model.
    pub(crate) fn window(&self, model: Option<&Settings>) -> Option<u64> {
        let model = model.unwrap_or(EMPTY_SETTINGS);
        let [call, run, node, defaults] = self.stacks.levels;
        let levels = [call, model, run, node, defaults];
        let window = levels.iter().find_map(|level| level.window);
        window.map(u64::from)
    }

    /// `extra` without an API. A registered model's is for that model.
    pub(crate) fn has_extra(&self) -> bool {
        self.stacks
            .levels
            .iter()
            .any(|level| !level.extra.is_empty())
    }

    pub(crate) fn attempt_timeout(&self) -> Result<Option<Duration>, NodeError> {
        let timeout = self.stacks.nearest(|level| level.attempt_timeout);
        NodeError::refuse(
            zero_duration("attempt_timeout", timeout)
                .into_iter()
                .collect(),
        )?;
        Ok(timeout)
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::new().exact(self.stacks.nearest(|level| level.exact).unwrap_or(false))
    }

    /// What is wrong for a node that asks no model.
    fn exec_faults(&self, node_kind: NodeKind) -> Vec<String> {
        let levels @ [call, _, node, _] = self.stacks.levels;
        let mut faults = Vec::new();
        if self.stacks.nearest(|level| level.attempts) == Some(0) {
            let none = "attempts is 0; it counts all executions of the node, the first included: \
                        write 1 or more";
            faults.push(none.to_owned());
        }
        let again = call
            .attempts
            .or(node.attempts)
            .filter(|attempts| *attempts > 1 && !node_kind.idempotent);
        faults.extend(again.map(|attempts| {
            format!(
                "attempts is {attempts}, but this node is not idempotent: it must not be executed \
                 again"
            )
        }));
        faults.extend(self.inverted_wait());
        let executions = Failures::Category(Category::ExecError);
        for level in levels {
            for (_, steps) in level
                .recover
                .iter()
                .filter(|(failures, _)| *failures == executions)
            {
                faults.extend(check(executions, steps, true, AnswerKind::Json).err());
            }
        }
        faults
    }

    fn inverted_wait(&self) -> Option<String> {
        let wait = self.stacks.wait().filter(|wait| wait.to < wait.from)?;
        Some(format!(
            "the wait {wait} is an empty range: its start exceeds its end"
        ))
    }

    /// What is wrong for a node that asks a model.
    fn faults(&self, node_kind: NodeKind, answers: AnswerKind) -> Vec<String> {
        let [call, run, node, defaults] = self.stacks.levels;
        let stacks = [
            recovery_faults(call, node_kind.fallback, answers),
            // A run's settings are for all kinds of nodes; each ignores what it cannot do.
            recovery_faults(run, true, AnswerKind::Json),
            recovery_faults(defaults, true, AnswerKind::Json),
            recovery_faults(node, node_kind.fallback, answers),
        ];
        let mut faults = self.faults_of_values(answers);
        faults.extend(self.inverted_wait());
        if !node_kind.idempotent && asks_again(call) {
            faults.push(
                "this node states `idempotent = false`, so a call of it may set no retries, no \
                 other model and no recover that asks again"
                    .to_owned(),
            );
        }
        faults.extend(stacks.into_iter().flatten());
        faults
    }

    /// Values that a node which asks a model, and whose answer is read so, has no use
    /// for. Each is a fault by itself, whatever level it comes from.
    fn faults_of_values(&self, answers: AnswerKind) -> Vec<String> {
        let [call, _, node, _] = self.stacks.levels;
        let is_json = answers == AnswerKind::Json;
        let attempts = call.attempts.or(node.attempts);
        let response_format = call.response_format.or(node.response_format);
        let retries = call.retries.or(node.retries);
        let fallback_model = self.stacks.fallback_model();
        let checks = [
            (
                attempts.is_some(),
                "attempts counts the executions of a node that asks no model, and this node asks \
                 one: write transport_retries for more tries after failures of the transport, or \
                 retries for corrections of bad answers, each one less than the attempts meant",
            ),
            (
                !is_json && call.exact == Some(true),
                "exact says how JSON is read, but this node's answer is raw text; set an output \
                 type, or leave it out",
            ),
            (
                !is_json && response_format.is_some(),
                "response_format says how a model is asked for an answer of a type, but this \
                 node's answer is raw text; set an output type, or leave it out",
            ),
            (
                self.max_output_bytes() == 0,
                "max_output_bytes is 0; an answer needs at least one byte",
            ),
            (
                self.feedback_rounds() == 0,
                "feedback_rounds is 0; a model that is not shown its answer cannot correct it",
            ),
            (
                fallback_model.is_some_and(|name| name.trim().is_empty()),
                "the fallback model's name is empty",
            ),
            (
                answers == AnswerKind::RawText && retries.is_some_and(|retries| retries > 0),
                "retries correct bad answers, but this node's answer is raw text that nothing \
                 checks; set an output type or `validate = path`, or use transport_retries",
            ),
        ];
        let faults = checks.into_iter().filter(|(is_fault, _)| *is_fault);
        faults.map(|(_, fault)| fault.to_owned()).collect()
    }
}

/// Whether these settings let a node be asked more than once.
fn asks_again(call: &Settings) -> bool {
    let mut steps = call.recover.iter().flat_map(|(_, steps)| steps.iter());
    call.retries.is_some_and(|retries| retries > 0)
        || call.transport_retries.is_some_and(|retries| retries > 0)
        || call.fallback_model.is_some()
        || steps.any(Recovery::asks_again)
}

/// What is wrong with the stacks of one level: each alone, and beside the others
/// and the short forms of the same level.
fn recovery_faults(level: &Settings, fallback: bool, answers: AnswerKind) -> Vec<String> {
    let mut faults = Vec::new();
    let mut keys = Vec::new();
    for (failures, steps) in level.recover.iter() {
        if let Err(fault) = check(*failures, steps, fallback, answers) {
            faults.push(fault);
        } else if keys.contains(failures) {
            faults.push(format!(
                "recover({failures} = ..) is set twice; keep one of them"
            ));
        } else {
            keys.push(*failures);
            faults.extend(set_in_both_forms(level, *failures));
        }
    }
    faults
}

fn set_in_both_forms(level: &Settings, failures: Failures) -> Option<String> {
    let (name, step) = match failures {
        Failures::Answer => ("retries", Recovery::repair(level.retries?)),
        Failures::Transport => (
            "transport_retries",
            Recovery::retry(level.transport_retries?),
        ),
        Failures::Final | Failures::Category(_) => return None,
    };
    Some(format!(
        "{name} is short for recover({failures} = [{step}]), and both are set; keep one of them"
    ))
}

/// What is wrong with a request as the settings made it. `model`: the settings of a
/// registered model.
fn request_faults(request: &Request, model: Option<&Settings>) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(invalid_values(
        request.model.as_deref(),
        request.temperature,
        request.max_tokens,
    ));
    faults.extend(zero_duration("attempt_timeout", request.attempt_timeout));
    if let Some(model) = model {
        faults.extend(misplaced_on_model(model));
    }
    // Most calls have none, and all of its names would be looked up.
    if !request.extra.is_empty() {
        faults.extend(request.reserved_fields_in_extra(&["messages", "model", "stream"]));
        faults.extend(conflicting_extra(request));
    }
    faults.extend(strict_fault(request));
    faults
}

/// What a registered model has no say in.
fn misplaced_on_model(model: &Settings) -> impl Iterator<Item = String> {
    let stated = [
        ("retries", model.retries.is_some()),
        ("transport_retries", model.transport_retries.is_some()),
        ("attempts", model.attempts.is_some()),
        ("recover", !model.recover.is_empty()),
        ("fallback_model", model.fallback_model.is_some()),
        ("wait", model.wait.is_some()),
        ("deadline", model.deadline.is_some()),
        ("max_wait", model.max_wait.is_some()),
        ("max_output_bytes", model.max_output_bytes.is_some()),
        ("feedback_rounds", model.feedback_rounds.is_some()),
        ("stop_on_repeat", model.stop_on_repeat.is_some()),
        ("exact", model.exact.is_some()),
        ("calls_in_text", model.calls_in_text.is_some()),
        ("thoughts_in_text", model.thoughts_in_text.is_some()),
        ("limits", !model.limits.is_empty()),
        ("label", !model.labels.is_empty()),
    ];
    stated.into_iter().filter(|(_, is)| *is).map(|(name, _)| {
        format!(
            "{name} is set for a registered model, whose settings only say how it is asked; set it \
             on the run, the node or the call"
        )
    })
}

/// Fields that `extra` would write a second time, by the names that the APIs have for them.
fn conflicting_extra(request: &Request) -> impl Iterator<Item = String> {
    let temperature = request.temperature.is_some();
    let max_tokens = request.max_tokens.is_some();
    let reasoning = request.reasoning.is_some();
    let response_format = request.response_format.filter(|_| request.output.is_some());
    let formatted = response_format.is_some();
    let called = response_format == Some(ResponseFormat::Tool);
    let conflicts = [
        (temperature, "temperature", "temperature"),
        (max_tokens, "max_tokens", "max_tokens"),
        (max_tokens, "max_tokens", "max_completion_tokens"),
        (reasoning, "reasoning", "reasoning_effort"),
        (reasoning, "reasoning", "reasoning"),
        (reasoning, "reasoning", "thinking"),
        (formatted, "response_format", "response_format"),
        (called, "response_format", "tools"),
        (called, "response_format", "tool_choice"),
    ];
    let conflicts = conflicts
        .into_iter()
        .filter(|(is_set, _, field)| *is_set && request.extra.contains_key(*field));
    conflicts.map(|(_, name, field)| {
        format!("{name} is set, and `extra` contains the field `{field}`, too; keep one of them")
    })
}

fn strict_fault(request: &Request) -> Option<String> {
    let schema = request
        .output
        .as_deref()
        .filter(|_| request.response_format == Some(ResponseFormat::Strict))?;
    schema.strict().err().map(with_remedy)
}

fn invalid_values(
    model: Option<&str>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
) -> impl Iterator<Item = String> {
    let temperature = temperature.filter(|t| !t.is_finite() || *t < 0.0);
    let temperature =
        temperature.map(|t| format!("temperature is {t}; it must be a number, 0 or more"));
    let max_tokens = max_tokens.filter(|most| *most == 0);
    let max_tokens =
        max_tokens.map(|_| "max_tokens is 0; an answer needs at least one token".to_owned());
    let model = model
        .filter(|name| name.trim().is_empty())
        .map(|_| "the model's name is empty".to_owned());
    [temperature, max_tokens, model].into_iter().flatten()
}

fn zero_window(levels: &[&Settings]) -> Option<String> {
    let window = levels.iter().find_map(|level| level.window);
    (window? == 0).then(|| "window is 0, so no prompt would fit into it".to_owned())
}

fn zero_duration(name: &str, time: Option<Duration>) -> Option<String> {
    (time? == Duration::ZERO).then(|| format!("{name} is 0, so no request could be made"))
}

/// What is wrong with settings by themselves, whatever node they are for.
pub(crate) fn faults(settings: &Settings) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(invalid_values(
        settings.model.as_deref(),
        settings.temperature,
        settings.max_tokens,
    ));
    let of_fallback = invalid_values(settings.fallback_model.as_deref(), None, None);
    faults.extend(of_fallback.map(|fault| format!("fallback: {fault}")));
    faults.extend(recovery_faults(settings, false, AnswerKind::Json));
    faults
}

#[cfg(test)]
mod tests {
    use llmnode_model::{ApiKind, Category};
    use serde_json::{Value, json};

    use super::*;
    use crate::limits::Limits;

    const PLAIN: NodeKind = NodeKind {
        fallback: false,
        idempotent: true,
        answers: Some(AnswerKind::Json),
    };

    fn request(
        call: &Settings,
        model: &Settings,
        run: &Settings,
        node: &Settings,
    ) -> Result<Request, NodeError> {
        let mut request = Request::new(Vec::new());
        let resolved = Resolved::new([call, run, node, EMPTY_SETTINGS], PLAIN)?;
        resolved.apply_to(
            &mut request,
            resolved.model().map(str::to_owned),
            Some(model),
        )?;
        Ok(request)
    }

    #[test]
    fn call_beats_model_beats_run_beats_node() {
        let node = Settings::new()
            .model("node")
            .temperature(0.1)
            .max_tokens(1)
            .retries(1);
        let run = Settings::new()
            .model("run")
            .temperature(0.2)
            .extra("seed", 1)
            .extra("top_p", 0.5);
        let model = Settings::new()
            .temperature(0.3)
            .max_tokens(3)
            .extra("seed", 3)
            .extra("n", 1);
        let call = Settings::new()
            .model("call")
            .temperature(0.4)
            .extra("seed", 4);

        let said = request(&call, &model, &run, &node).unwrap();
        assert_eq!(
            (said.model.as_deref(), said.temperature, said.max_tokens),
            (Some("call"), Some(0.4), Some(3))
        );
        assert_eq!(
            Value::from(said.extra),
            json!({"seed": 4, "top_p": 0.5, "n": 1})
        );

        let said = request(
            &Settings::new(),
            &Settings::new().model("other"),
            &run,
            &node,
        )
        .unwrap();
        assert_eq!(
            (said.model.as_deref(), said.temperature, said.max_tokens),
            (Some("other"), Some(0.2), Some(1))
        );
    }

    #[test]
    fn a_runs_defaults_hold_where_nobody_says_anything() {
        let silent = Settings::new();
        let defaults = Settings::new()
            .model("small")
            .temperature(0.9)
            .retries(4)
            .attempt_timeout(Duration::from_secs(5));
        let node = Settings::new()
            .temperature(0.1)
            .deadline(Duration::from_secs(9));
        let mut resolved = Resolved::new([&silent, &silent, &node, &defaults], PLAIN).unwrap();
        let mut request = Request::new(Vec::new());
        resolved.apply_to(&mut request, None, None).unwrap();
        assert_eq!(
            (request.temperature, request.attempt_timeout),
            (Some(0.1), defaults.attempt_timeout)
        );
        assert_eq!(
            (resolved.model(), resolved.deadline()),
            (Some("small"), node.deadline)
        );
        let steps = resolved.stacks.for_failure(Category::SchemaError, None).1;
        assert_eq!(steps[0], Recovery::repair(4));
        // As with the run's own, a node that holds its model has another one.
        resolved.ignore_run_model();
        assert_eq!(resolved.model(), None);
    }

    #[test]
    fn fields_for_one_api_are_joined_anew_for_each_model() {
        let field = |value: u8| Settings::new().extra_on(ApiKind::Gemini, "tools", json!([value]));
        let (call, run, node) = (field(2), Settings::new(), field(1));
        let resolved = Resolved::new([&call, &run, &node, EMPTY_SETTINGS], PLAIN).unwrap();
        let mut request = Request::new(Vec::new());
        for _ in 0..2 {
            resolved.apply_to(&mut request, None, None).unwrap();
            assert_eq!(
                request.extra_on.as_ref().unwrap()[&ApiKind::Gemini]["tools"],
                json!([1, 2])
            );
        }
    }

    #[test]
    fn absurd_settings_are_config_errors() {
        let silent = Settings::new();
        for call in [
            Settings::new().temperature(f64::NAN),
            Settings::new().temperature(-1.0),
            Settings::new().max_tokens(0),
            Settings::new().model(" "),
            Settings::new().fallback_model(" "),
            Settings::new().max_output_bytes(0),
            Settings::new().feedback_rounds(0),
            Settings::new()
                .retries(1)
                .recover(Failures::Answer, [Recovery::repair(1)]),
            Settings {
                recover: vec![(Failures::Answer, vec![Recovery::repair(1)].into()); 2].into(),
                ..Settings::new()
            },
            Settings::new()
                .transport_retries(1)
                .recover(Failures::Transport, [Recovery::retry(1)]),
        ] {
            let error = request(&call, &Settings::new(), &silent, &Settings::new()).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError, "{call:?}");
        }
    }

    #[test]
    fn all_that_is_absurd_is_told_at_once() {
        let said = |call: Settings| {
            let silent = Settings::new();
            let node = Settings::new();
            request(&call, &Settings::new(), &silent, &node)
                .unwrap_err()
                .message()
                .to_owned()
        };
        let all = said(
            Settings::new()
                .max_output_bytes(0)
                .feedback_rounds(0)
                .recover(Category::Network, [])
                .recover(Category::Timeout, []),
        );
        for fault in [
            "max_output_bytes",
            "feedback_rounds",
            "network = ..): no steps",
            "timeout = ..): no steps",
        ] {
            assert!(all.contains(fault), "{all}");
        }
        let all = said(
            Settings::new()
                .temperature(-1.0)
                .max_tokens(0)
                .model("")
                .extra("stream", true),
        );
        for fault in [
            "temperature is -1",
            "max_tokens is 0",
            "name is empty",
            "`stream`, which llmnode sets itself",
        ] {
            assert!(all.contains(fault), "{all}");
        }
    }

    #[test]
    fn what_extra_says_beside_a_setting_is_refused() {
        let node = Settings::new().temperature(0.0).max_tokens(9);
        let silent = Settings::new();
        for field in ["temperature", "max_tokens", "max_completion_tokens"] {
            let call = Settings::new().extra(field, 1);
            let error = request(&call, &Settings::new(), &silent, &node).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError);
            assert!(
                error
                    .message()
                    .contains(&format!("`{field}`, too; keep one")),
                "{error}"
            );
            assert!(request(&call, &Settings::new(), &silent, &Settings::new()).is_ok());
        }
    }

    #[test]
    fn a_response_format_for_raw_text_is_refused_unless_the_run_says_it() {
        let silent = Settings::new();
        let said = Settings::new().response_format(ResponseFormat::Schema);
        for answers in [AnswerKind::RawText, AnswerKind::CheckedText] {
            for (call, node) in [(&said, &silent), (&silent, &said)] {
                let error = Resolved::new(
                    [call, &silent, node, &silent],
                    NodeKind {
                        answers: Some(answers),
                        ..PLAIN
                    },
                )
                .err()
                .unwrap();
                assert_eq!(error.category(), Category::ConfigError);
                assert!(
                    error.message().contains("raw text; set an output type"),
                    "{error}"
                );
            }
            assert!(
                Resolved::new(
                    [&silent, &said, &silent, &said],
                    NodeKind {
                        answers: Some(answers),
                        ..PLAIN
                    }
                )
                .is_ok()
            );
        }
        assert!(Resolved::new([&said, &silent, &silent, &silent], PLAIN).is_ok());
    }

    #[test]
    fn a_registered_model_says_only_how_it_is_asked() {
        let silent = Settings::new();
        let model = Settings::new()
            .retries(1)
            .wait(Duration::from_secs(1))
            .limits(Limits::new().requests(1));
        let error = request(&silent, &model, &silent, &silent).unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        for field in ["retries", "wait", "limits"] {
            let fault = format!("{field} is set for a registered model");
            assert!(error.message().contains(&fault), "{error}");
        }
    }

    #[test]
    fn the_runs_recovery_is_for_nodes_of_all_kinds() {
        let run = Settings::new()
            .recover(Category::SchemaError, [Recovery::repair(1)])
            .recover(
                Failures::Transport,
                [Recovery::retry(1), Recovery::Fallback],
            );
        let silent = Settings::new();
        let taken = NodeKind {
            answers: Some(AnswerKind::RawText),
            ..PLAIN
        };
        let resolved = Resolved::new([&silent, &run, &silent, &silent], taken).unwrap();
        assert_eq!(
            resolved.stacks.for_failure(Category::Network, None).1,
            [Recovery::retry(1)]
        );
        assert!(Resolved::new([&run, &silent, &silent, &silent], taken).is_err());
    }
}
