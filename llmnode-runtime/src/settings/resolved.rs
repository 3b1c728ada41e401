//! What holds for one call, after call, run, model and attributes have spoken.

use std::time::Duration;

use super::recovery::{Count, Failures, Level, Recovery, Stacks, check};
use super::{Attributes, ModelSettings, Settings};
use crate::category::Category;
use crate::error::NodeError;
use crate::model::{Dialect, Request};
use crate::output::{Answers, Reader, StrictError};

/// What holds for one call.
pub(crate) struct Resolved<'p> {
    call: &'p Settings,
    run: &'p Settings,
    own: &'p Settings,
    node: &'p Attributes,
    /// The model's name, by whoever says it first.
    pub(crate) model: Option<&'p str>,
    pub(crate) stacks: Stacks<'p>,
    pub(crate) max_wait: Duration,
    pub(crate) max_output_bytes: usize,
    pub(crate) feedback_rounds: usize,
    pub(crate) stop_on_repeat: bool,
    coerce: bool,
}

impl<'p> Resolved<'p> {
    /// The first word wins: call, run, the node's own settings, its attributes, default.
    pub(crate) fn new(
        call: &'p Settings,
        run: &'p Settings,
        own: &'p Settings,
        node: &'p Attributes,
        answers: Answers,
    ) -> Result<Self, NodeError> {
        let said = [call, run, own];
        let model = said.iter().find_map(|one| one.model.as_deref()).or(node.model);
        let mut stacks = Stacks::new(call, run, own, node);
        if answers == Answers::Taken {
            // The run's word is for nodes of all kinds.
            stacks.retries = Count { times: 0, by: Level::Default };
        }
        let resolved = Resolved {
            call,
            run,
            own,
            node,
            model,
            stacks,
            max_wait: said
                .iter()
                .find_map(|one| one.max_wait)
                .or(node.max_wait)
                .unwrap_or(Settings::MAX_WAIT),
            max_output_bytes: said.iter().find_map(|one| one.max_output_bytes).unwrap_or(usize::MAX),
            feedback_rounds: said.iter().find_map(|one| one.feedback_rounds).unwrap_or(3),
            stop_on_repeat: said.iter().find_map(|one| one.stop_on_repeat).unwrap_or(false),
            coerce: said.iter().find_map(|one| one.coerce).unwrap_or(node.coerce),
        };
        refuse(resolved.faults(answers))?;
        Ok(resolved)
    }

    /// Says in a request what holds when this model is asked.
    pub(crate) fn tell(
        &self,
        request: &mut Request,
        id: Option<String>,
        model: Option<&ModelSettings>,
    ) -> Result<(), NodeError> {
        let silent = ModelSettings::new();
        let model = model.unwrap_or(&silent);
        let Resolved { call, run, own, node, .. } = self;
        let (temperature, max_tokens) =
            (own.temperature.or(node.temperature), own.max_tokens.or(node.max_tokens));
        request.model = model.id.clone().or(id);
        request.temperature = call.temperature.or(model.temperature).or(run.temperature).or(temperature);
        request.max_tokens = call.max_tokens.or(model.max_tokens).or(run.max_tokens).or(max_tokens);
        request.dialect = call.dialect.or(model.dialect).or(run.dialect).or(own.dialect);
        request.extra.clone_from(&own.extra);
        let further = run.extra.iter().chain(&model.extra).chain(&call.extra);
        request.extra.extend(further.map(|(field, value)| (field.clone(), value.clone())));
        let absurd = absurd(request.model.as_deref(), request.temperature, request.max_tokens);
        refuse(
            absurd
                .chain(request.own_fields_in_extra())
                .chain(said_twice(request))
                .chain(inexpressible(request))
                .collect(),
        )
    }

    /// How answers are read.
    pub(crate) fn reader(&self) -> Reader {
        Reader::new().coerce(self.coerce)
    }

    /// Everything that is wrong with it, whatever model is asked.
    fn faults(&self, answers: Answers) -> Vec<String> {
        let Resolved { call, run, own, node, .. } = self;
        let retries = call.retries.or(own.retries).or(node.retries).is_some_and(|retries| retries > 0);
        let fallback_model = self.stacks.fallback_model.is_some_and(|(name, _)| name.trim().is_empty());
        let wait = self
            .stacks
            .wait
            .filter(|wait| wait.to < wait.from)
            .map(|wait| format!("the wait {wait} goes down"));
        let attempts = call.attempts.or(own.attempts).or(node.attempts);
        let again = (node.once && asks_again(call)).then(|| {
            "this node states `idempotent = false`, so a call of it may set no retries, no other model and no recover \
             that asks again"
                .to_owned()
        });
        let alone = [
            (
                attempts.is_some(),
                "attempts counts the executions of a node that asks no model, and this node asks one: write \
                 transport_retries for more tries after failures of the transport, or retries for corrections of bad \
                 answers, each one less than the attempts meant",
            ),
            (
                answers != Answers::Read && call.coerce == Some(true),
                "coerce changes JSON, but this node's answer is raw text; set an output type, or leave it out",
            ),
            (
                answers != Answers::Read && call.dialect.or(own.dialect).is_some(),
                "dialect says how a model is asked for an answer of a type, but this node's answer is raw text; set an \
                 output type, or leave it out",
            ),
            (self.max_output_bytes == 0, "max_output_bytes is 0; an answer needs at least one byte"),
            (
                self.feedback_rounds == 0,
                "feedback_rounds is 0; a model that is not shown its answer cannot correct it",
            ),
            (fallback_model, "the fallback model's name is empty"),
            (
                answers == Answers::Taken && retries,
                "retries correct bad answers, but this node's answer is raw text that nothing checks; set an \
                 output type or `validate = path`, or use transport_retries",
            ),
        ];
        let owned = |table: &'p [(Failures, Vec<Recovery>)]| {
            table.iter().map(|(key, steps)| (*key, steps.as_slice()))
        };
        let stacks = [
            stated(owned(&call.recover), call.retries, call.transport_retries, node.fallback, answers),
            // The run's word is for nodes of all kinds; what a node cannot do, it leaves out.
            stated(owned(&run.recover), run.retries, run.transport_retries, true, Answers::Read),
            stated(owned(&own.recover), own.retries, own.transport_retries, node.fallback, answers),
            stated(
                node.recover.iter().copied(),
                node.retries,
                node.transport_retries,
                node.fallback,
                answers,
            ),
        ];
        let alone = alone.into_iter().filter(|(is, _)| *is).map(|(_, fault)| fault.to_owned());
        alone.chain(wait).chain(again).chain(stacks.into_iter().flatten()).collect()
    }
}

/// Whether settings ask that a node is executed a second time.
fn asks_again(call: &Settings) -> bool {
    let more = |count: Option<u32>| count.is_some_and(|count| count > 0);
    let steps = call.recover.iter().flat_map(|(_, steps)| steps);
    more(call.retries)
        || more(call.transport_retries)
        || call.fallback_model.is_some()
        || steps.into_iter().any(|step| !matches!(step, Recovery::Fallback | Recovery::Bubble))
}

/// All faults as one error.
fn refuse(faults: Vec<String>) -> Result<(), NodeError> {
    match faults.as_slice() {
        [] => Ok(()),
        faults => Err(NodeError::new(Category::ConfigError, faults.join("; "))),
    }
}

/// What is wrong with the recovery that call, run or node states.
fn stated<'s>(
    stacks: impl Iterator<Item = (Failures, &'s [Recovery])>,
    retries: Option<u32>,
    transport_retries: Option<u32>,
    fallback: bool,
    answers: Answers,
) -> Vec<String> {
    let mut keys = Vec::new();
    let fault = |(failures, steps): (Failures, &[Recovery])| {
        if let Err(fault) = check(failures, steps, fallback, answers) {
            return Some(fault);
        }
        if keys.contains(&failures) {
            return Some(format!("recover({failures} = ..) is set twice; keep one of them"));
        }
        keys.push(failures);
        let (name, step) = match failures {
            Failures::Answer => ("retries", Recovery::repair(retries?)),
            Failures::Transport => ("transport_retries", Recovery::retry(transport_retries?)),
            Failures::Category(_) => return None,
        };
        Some(format!(
            "{name} is short for recover({failures} = [{step}]), and both are set; keep one of them"
        ))
    };
    stacks.filter_map(fault).collect()
}

/// What `extra` says beside a setting of its own.
fn said_twice(request: &Request) -> impl Iterator<Item = String> {
    let (temperature, max_tokens) = (request.temperature.is_some(), request.max_tokens.is_some());
    let dialect = request.dialect.filter(|_| request.output.is_some());
    let (formatted, called) = (dialect.is_some(), dialect == Some(Dialect::Tool));
    let said = [
        (temperature, "temperature", "temperature"),
        (max_tokens, "max_tokens", "max_tokens"),
        (max_tokens, "max_tokens", "max_completion_tokens"),
        (formatted, "dialect", "response_format"),
        (called, "dialect", "tools"),
        (called, "dialect", "tool_choice"),
    ];
    let said = said.into_iter().filter(|(is, _, field)| *is && request.extra.contains_key(*field));
    said.map(|(_, name, field)| {
        format!("{name} is set, and `extra` holds the field `{field}`, too; keep one of them")
    })
}

/// Why the chosen strict dialect cannot say what the type of the answer is, whatever model is asked.
fn inexpressible(request: &Request) -> Option<String> {
    let schema = request.output.as_deref().filter(|_| request.dialect == Some(Dialect::Strict))?;
    schema.strict().err().map(StrictError::with_remedy)
}

/// What no request can ask for.
fn absurd(
    model: Option<&str>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
) -> impl Iterator<Item = String> {
    let temperature = temperature.filter(|t| !t.is_finite() || *t < 0.0);
    let temperature = temperature.map(|t| format!("temperature is {t}; it must be a number, 0 or more"));
    let max_tokens = max_tokens.filter(|most| *most == 0);
    let max_tokens = max_tokens.map(|_| "max_tokens is 0; an answer needs at least one token".to_owned());
    let model = model.filter(|name| name.trim().is_empty()).map(|_| "the model's name is empty".to_owned());
    [temperature, max_tokens, model].into_iter().flatten()
}

/// Everything that is wrong with what a node with a typed answer states at run time.
pub(crate) fn faults(own: &Settings) -> Vec<String> {
    let stacks = own.recover.iter().map(|(failures, steps)| (*failures, steps.as_slice()));
    let stacks = stated(stacks, own.retries, own.transport_retries, false, Answers::Read);
    absurd(own.model.as_deref(), own.temperature, own.max_tokens)
        .chain(absurd(own.fallback_model.as_deref(), None, None).map(|fault| format!("fallback: {fault}")))
        .chain(stacks)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn request(
        call: &Settings,
        model: &ModelSettings,
        run: &Settings,
        node: &Attributes,
    ) -> Result<Request, NodeError> {
        let mut request = Request::new(Vec::new());
        let own = Settings::new();
        let resolved = Resolved::new(call, run, &own, node, Answers::Read)?;
        resolved.tell(&mut request, resolved.model.map(str::to_owned), Some(model))?;
        Ok(request)
    }

    #[test]
    fn call_beats_model_beats_run_beats_attributes() {
        let node = Attributes::new().model("node").temperature(0.1).max_tokens(1).retries(1);
        let run = Settings::new().model("run").temperature(0.2).extra("seed", 1).extra("top_p", 0.5);
        let model = ModelSettings::new().temperature(0.3).max_tokens(3).extra("seed", 3).extra("n", 1);
        let call = Settings::new().model("call").temperature(0.4).extra("seed", 4);

        let said = request(&call, &model, &run, &node).unwrap();
        assert_eq!(
            (said.model.as_deref(), said.temperature, said.max_tokens),
            (Some("call"), Some(0.4), Some(3))
        );
        assert_eq!(Value::from(said.extra), json!({"seed": 4, "top_p": 0.5, "n": 1}));

        let said = request(&Settings::new(), &ModelSettings::new().id("other"), &run, &node).unwrap();
        assert_eq!(
            (said.model.as_deref(), said.temperature, said.max_tokens),
            (Some("other"), Some(0.2), Some(1))
        );
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
            Settings::new().retries(1).recover(Failures::Answer, [Recovery::repair(1)]),
            Settings { recover: vec![(Failures::Answer, vec![Recovery::repair(1)]); 2], ..Settings::new() },
            Settings::new().transport_retries(1).recover(Failures::Transport, [Recovery::retry(1)]),
        ] {
            let error = request(&call, &ModelSettings::new(), &silent, &Attributes::new()).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError, "{call:?}");
        }
    }

    #[test]
    fn all_that_is_absurd_is_told_at_once() {
        let said = |call: Settings| {
            let silent = Settings::new();
            let node = Attributes::new();
            request(&call, &ModelSettings::new(), &silent, &node).unwrap_err().message().to_owned()
        };
        let all = said(
            Settings::new()
                .max_output_bytes(0)
                .feedback_rounds(0)
                .recover(Category::Network, [])
                .recover(Category::Timeout, []),
        );
        for fault in
            ["max_output_bytes", "feedback_rounds", "network = ..): no steps", "timeout = ..): no steps"]
        {
            assert!(all.contains(fault), "{all}");
        }
        let all = said(Settings::new().temperature(-1.0).max_tokens(0).model("").extra("stream", true));
        for fault in
            ["temperature is -1", "max_tokens is 0", "name is empty", "`stream`, which is llmnode's own"]
        {
            assert!(all.contains(fault), "{all}");
        }
    }

    #[test]
    fn what_extra_says_beside_a_setting_is_refused() {
        let node = Attributes::new().temperature(0.0).max_tokens(9);
        let silent = Settings::new();
        for field in ["temperature", "max_tokens", "max_completion_tokens"] {
            let call = Settings::new().extra(field, 1);
            let error = request(&call, &ModelSettings::new(), &silent, &node).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError);
            assert!(error.message().contains(&format!("`{field}`, too; keep one")), "{error}");
            assert!(request(&call, &ModelSettings::new(), &silent, &Attributes::new()).is_ok());
        }
    }

    #[test]
    fn a_dialect_for_raw_text_is_refused_unless_the_run_says_it() {
        let (silent, node) = (Settings::new(), Attributes::new());
        let said = Settings::new().dialect(Dialect::Schema);
        for answers in [Answers::Taken, Answers::Checked] {
            for (call, own) in [(&said, &silent), (&silent, &said)] {
                let error = Resolved::new(call, &silent, own, &node, answers).err().unwrap();
                assert_eq!(error.category(), Category::ConfigError);
                assert!(error.message().contains("raw text; set an output type"), "{error}");
            }
            assert!(Resolved::new(&silent, &said, &silent, &node, answers).is_ok());
        }
        assert!(Resolved::new(&said, &silent, &silent, &node, Answers::Read).is_ok());
    }

    #[test]
    fn the_runs_recovery_is_for_nodes_of_all_kinds() {
        let run = Settings::new()
            .recover(Category::SchemaError, [Recovery::repair(1)])
            .recover(Failures::Transport, [Recovery::retry(1), Recovery::Fallback]);
        let (silent, node) = (Settings::new(), Attributes::new());
        let resolved = Resolved::new(&silent, &run, &silent, &node, Answers::Taken).unwrap();
        assert_eq!(resolved.stacks.of(Category::Network, None).1, [Recovery::retry(1)]);
        assert!(Resolved::new(&run, &silent, &silent, &node, Answers::Taken).is_err());
    }
}
