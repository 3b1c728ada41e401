//! The arguments of `#[llm_node(…)]`.
//!
//! In: the tokens in the attribute's parentheses. Out: `NodeArgs`, a slot for each
//! argument. Nothing is compared here with the struct below or with other
//! arguments, apart from those that share a slot; that is `check.rs`.
//!
//! To add an argument: its key in `VALUES`, `FLAGS` or `LISTS`, a slot, and a line
//! in `argument`; if every call has it as a setting, too, in `setting`.
//! `docs/how-to-add.md` names the other places.
//!
//! The keys are in the order in which the documentation has them, and messages list
//! them so.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Error, ExprPath, Ident, Lit, LitStr, Path, Type};

use super::compact::Compact;
use super::examples::Examples;
use super::limits::Limits;
use super::recover::{self, Stack};
use super::smart::Form;
use super::step::StepArgs;
use super::tools;
use super::validators;
use super::with::{self, WithVariable};
use crate::choices::{self, Choice};

use crate::crate_path;
use crate::diagnostics::{Errors, any_of, list, unknown};
use crate::literals::{bool_literal, fill_type, function_path, integer, non_empty, number, text};
use crate::macro_args::{Grammar, Slot, fill, fill_readable, parse_arguments};
use crate::prompt::source::Source;
use crate::time::{Time, Wait};

const VALUES: [&str; 38] = [
    "prompt",
    "prompt_file",
    "goal",
    "form",
    "system",
    "system_file",
    "examples",
    "output",
    "state",
    "validate",
    "retries",
    "transport_retries",
    "wait",
    "max_wait",
    "attempt_timeout",
    "deadline",
    "model",
    "fallback_model",
    "fallback",
    "temperature",
    "max_tokens",
    "reasoning",
    "cache",
    "window",
    "tools",
    "turns",
    "calls_in_text",
    "thoughts_in_text",
    "name",
    "prep",
    "store",
    "action",
    "route",
    "post",
    "batch",
    "concurrency",
    "idempotent",
    "crate",
];

/// Written without a value.
const FLAGS: [&str; 3] = ["exact", "think", "tool"];

/// Written with parentheses, each with the example of its message.
const LISTS: [(&str, &str); 5] = [
    ("choices", choices::EXAMPLE),
    ("with", with::EXAMPLE),
    ("recover", "recover(schema_error = [repair(2), bubble])"),
    (
        "limits",
        "limits(requests = 5, tokens = 2_000, money = 0.05)",
    ),
    ("compact", "compact(keep = 6, with = Summarise)"),
];

/// `compact` alone has the default rules.
const BARE: [&str; 1] = ["compact"];

#[cfg(test)]
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    VALUES
        .into_iter()
        .chain(FLAGS)
        .chain(LISTS.map(|(key, _)| key))
}

/// By which methods a setting is set that no attribute has.
fn set_by(name: &str, owners: &[&str]) -> String {
    let setters: Vec<_> = owners
        .iter()
        .map(|owner| format!("{owner}::{name}"))
        .collect();
    format!("set it by {}", any_of(setters.iter().map(String::as_str)))
}

/// What people write who know another library, an older form, or a setting that a
/// call has and an attribute has not. Each remedy is what to write; a word without
/// one is reported as unknown, with the keys.
fn hint(name: &str) -> Option<String> {
    let remedy = match name {
        _ if synonym(name) == Some("prompt") => "write `prompt = \"…\"`, which is the user message",
        _ if synonym(name) == Some("system") => "write `system = \"…\"`",
        "response_format" => &set_by(name, &["Call", "Settings", "OpenAiBuilder"]),
        "stop_on_repeat" | "feedback_rounds" | "max_output_bytes" => &set_by(name, &["Settings"]),
        "extra" | "extra_on" | "label" => &set_by(name, &["Settings", "Call"]),
        "connect_timeout" => &set_by(name, &["OpenAiBuilder"]),
        "backoff" | "delay" => "write `wait = 1s..60s`",
        "timeout" | "time" => "write `deadline = 10s` for the longest time of a call",
        "max_retries" | "max_attempts" => {
            "write `retries = 2` for two more calls after a bad answer, or `transport_retries = 2` \
             for failures of the transport"
        }
        "max_turns" | "max_iterations" | "max_steps" | "max_rounds" | "iterations" | "rounds" => {
            "write `turns = 6` for the most responses of a node with tools"
        }
        "effort" | "reasoning_effort" | "thinking" => "write `reasoning = \"low\"`",
        "returns" | "result" | "response" | "response_model" | "schema" | "answer" => {
            "write `output = Type`, with `#[llm_output]` on the type"
        }
        "context" | "deps" => "write `state = Type` for what the program holds",
        "provider" | "client" | "api_key" | "key" | "base_url" | "url" => {
            "the model that `Run::new` gets says which provider is asked, and how"
        }
        "max_completion_tokens" | "max_output_tokens" => "write `max_tokens = 2_000`",
        "top_p" | "top_k" | "seed" | "stop" | "frequency_penalty" | "presence_penalty" => {
            "set it by `Settings::extra`, which sends it as it is"
        }
        "description" => "write a doc comment above the struct",
        "context_window" | "max_context" | "context_size" | "n_ctx" => {
            "write `window = 8_192` for the tokens of the model's window"
        }
        "compaction" | "summarize" | "compress" | "max_history" => {
            "write `compact` to leave old results of tools out of a long conversation"
        }
        "memory" | "history" | "messages" => {
            "mark a field that holds the earlier messages: `#[node(history)] history: Vec<Message>`"
        }
        "requests" | "tokens" | "money" => {
            return Some(format!("`{name}` is a limit; write `limits({name} = …)`"));
        }
        _ => return None,
    };
    Some(format!("`{name}` is not an argument of a node; {remedy}"))
}

/// Words for the two texts. A node that has one of them is checked as if the key
/// had been right.
fn synonym(name: &str) -> Option<&'static str> {
    match name {
        "user" | "user_prompt" | "message" | "text" | "template" => Some("prompt"),
        "instructions" | "instruction" | "role" | "preamble" | "system_prompt" => Some("system"),
        _ => None,
    }
}

/// What stands in the attribute. `has_unknown_keys` makes checks lenient that would
/// report an argument as missing: the unknown one may be it.
#[derive(Default)]
pub(crate) struct NodeArgs {
    pub(crate) prompt: Slot<Source>,
    pub(crate) system: Slot<Source>,
    pub(crate) goal: Slot<LitStr>,
    pub(crate) form: Slot<Form>,
    pub(crate) think: Slot<()>,
    pub(crate) with: Slot<Vec<WithVariable>>,
    pub(crate) choices: Slot<Vec<Choice>>,
    pub(crate) examples: Slot<Examples>,
    pub(crate) output: Slot<Type>,
    pub(crate) state: Slot<Type>,
    pub(crate) validate: Slot<Vec<ExprPath>>,
    pub(crate) retries: Slot<u32>,
    pub(crate) transport_retries: Slot<u32>,
    pub(crate) wait: Slot<Wait>,
    pub(crate) max_wait: Slot<Time>,
    pub(crate) attempt_timeout: Slot<Time>,
    pub(crate) deadline: Slot<Time>,
    pub(crate) model: Slot<LitStr>,
    pub(crate) fallback_model: Slot<LitStr>,
    pub(crate) fallback: Slot<ExprPath>,
    pub(crate) recover: Slot<Vec<Stack>>,
    pub(crate) limits: Slot<Limits>,
    pub(crate) temperature: Slot<f64>,
    pub(crate) max_tokens: Slot<u32>,
    pub(crate) reasoning: Slot<Ident>,
    pub(crate) cache: Slot<Ident>,
    pub(crate) window: Slot<u32>,
    pub(crate) compact: Slot<Compact>,
    pub(crate) name: Slot<LitStr>,
    pub(crate) exact: Slot<()>,
    pub(crate) tools: Slot<Vec<Type>>,
    pub(crate) turns: Slot<u32>,
    pub(crate) calls_in_text: Slot<bool>,
    pub(crate) thoughts_in_text: Slot<bool>,
    pub(crate) tool: Slot<()>,
    pub(crate) step: StepArgs,
    pub(crate) krate: Slot<Path>,
    pub(crate) has_unknown_keys: bool,
}

impl NodeArgs {
    /// Reads all, and puts what is wrong into `errors`.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let grammar = Grammar {
            lists: &LISTS,
            flags: &FLAGS,
            bare: &BARE,
            hint,
            synonym,
            ..Grammar::of_values("llm_node", &VALUES)
        };
        let all_known = parse_arguments(tokens, &grammar, errors, |key, input| {
            args.argument(key, input)
        });
        args.has_unknown_keys = !all_known;
        args
    }

    /// The key is known by the time it comes here, so the last arm has those of
    /// settings and of steps.
    fn argument(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "prompt" | "prompt_file" => source(&mut self.prompt, key, input),
            "system" | "system_file" => source(&mut self.system, key, input),
            "goal" => fill(
                &mut self.goal,
                key.clone(),
                non_empty(text(input, &key, ""), &key),
            ),
            "form" => fill(&mut self.form, key, Form::parse(input)),
            "think" => fill(&mut self.think, key, Ok(())),
            "examples" => fill(
                &mut self.examples,
                key.clone(),
                Examples::parse(input, &key),
            ),
            "output" => fill_type(&mut self.output, key, input),
            "state" => fill_type(&mut self.state, key, input),
            "validate" => fill(
                &mut self.validate,
                key.clone(),
                validators::parse(input, &key),
            ),
            "fallback" => fill(&mut self.fallback, key.clone(), function_path(input, &key)),
            "with" => fill_readable(&mut self.with, key, with::parse(input)),
            "choices" => fill_readable(&mut self.choices, key, choices::parse(input)),
            "recover" => fill_readable(&mut self.recover, key, recover::parse(input)),
            "compact" => fill(&mut self.compact, key, Compact::parse(input)),
            "limits" => fill(&mut self.limits, key, Limits::parse(input)),
            "name" => fill(
                &mut self.name,
                key.clone(),
                non_empty(text(input, &key, ""), &key),
            ),
            "exact" => fill(&mut self.exact, key, Ok(())),
            "tools" => fill(&mut self.tools, key.clone(), tools::parse(input, &key)),
            "turns" => fill(&mut self.turns, key.clone(), integer(input, &key, 1)),
            "calls_in_text" => {
                let expected = "`calls_in_text` takes `true` or `false`";
                fill(&mut self.calls_in_text, key, bool_literal(input, expected))
            }
            "thoughts_in_text" => {
                let expected = "`thoughts_in_text` takes `true` or `false`";
                fill(
                    &mut self.thoughts_in_text,
                    key,
                    bool_literal(input, expected),
                )
            }
            "tool" => fill(&mut self.tool, key, Ok(())),
            "crate" => crate_path::parse(input, key, &mut self.krate),
            _ => self.setting(key, input),
        }
    }

    /// The arguments that every call takes as a setting, too; the rest are those of a step.
    fn setting(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "retries" => fill(&mut self.retries, key.clone(), integer(input, &key, 0)),
            "transport_retries" => fill(
                &mut self.transport_retries,
                key.clone(),
                integer(input, &key, 0),
            ),
            "wait" => fill(&mut self.wait, key, Wait::parse(input)),
            "max_wait" => fill(&mut self.max_wait, key, Time::parse_single(input)),
            "attempt_timeout" => fill(
                &mut self.attempt_timeout,
                key.clone(),
                Time::parse_above_zero(input, &key),
            ),
            "deadline" => fill(
                &mut self.deadline,
                key.clone(),
                Time::parse_above_zero(input, &key),
            ),
            "model" => fill(&mut self.model, key.clone(), model_name(input, &key)),
            "fallback_model" => fill(
                &mut self.fallback_model,
                key.clone(),
                model_name(input, &key),
            ),
            "temperature" => fill(&mut self.temperature, key.clone(), number(input, &key)),
            "max_tokens" => fill(&mut self.max_tokens, key.clone(), integer(input, &key, 1)),
            "cache" => fill(&mut self.cache, key, cache(input)),
            "window" => fill(&mut self.window, key.clone(), integer(input, &key, 1)),
            "reasoning" => fill(&mut self.reasoning, key.clone(), effort(input, &key)),
            _ => self.step.argument(key, input),
        }
    }
}

/// `auto`, `off`, `5m` or `1h`, as a variant of `Cache`.
/// Words and times stand side by side, since a provider's cache is kept for a time
/// and not for a number of tokens. syn reads `5m` as a number with a suffix.
fn cache(input: ParseStream<'_>) -> syn::Result<Ident> {
    const EXPECTED: &str = "`cache` is `auto`, `off`, `5m` or `1h`";
    let at = input.span();
    let variant = if input.peek(Ident) {
        let word: Ident = input.parse()?;
        match word.to_string().as_str() {
            "auto" => "Auto",
            "off" => "Off",
            _ => return Err(Error::new(at, EXPECTED)),
        }
    } else {
        let literal: Lit = input.parse().map_err(|_| Error::new(at, EXPECTED))?;
        match literal.to_token_stream().to_string().as_str() {
            "5m" => "Minutes5",
            "1h" => "Hour1",
            _ => return Err(Error::new(at, EXPECTED)),
        }
    };
    Ok(Ident::new(variant, Span::mixed_site()))
}

/// The model of a node is a name alone: a node that chose the provider could not be
/// tested with another one.
fn model_name(input: ParseStream<'_>, key: &Ident) -> syn::Result<LitStr> {
    let what = ", the model's name; which provider is asked says the model that `Run::new` gets";
    non_empty(text(input, key, what), key)
}

/// A text and no identifier, as the providers have it; `max` is the greatest that a
/// model knows.
fn effort(input: ParseStream<'_>, key: &Ident) -> syn::Result<Ident> {
    // Side by side with the variants of `Reasoning`.
    let words = ["off", "low", "medium", "high", "max"];
    let variants = ["Off", "Low", "Medium", "High", "Max"];
    let word = text(input, key, ", such as `reasoning = \"low\"`")?;
    let effort = word.value();
    match words.iter().position(|word| *word == effort) {
        Some(at) => Ok(Ident::new(variants[at], Span::mixed_site())),
        None => {
            let efforts = format!("the efforts are {}", list(words));
            Err(Error::new(
                word.span(),
                unknown("unknown effort", &effort, words, &efforts),
            ))
        }
    }
}

/// A prompt comes from the attribute or from a file; both are one slot, and two are
/// one too many.
fn source(slot: &mut Slot<Source>, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
    // The file is read here, when the macro expands: what is in it is then checked
    // like a literal.
    let source = if key.to_string().ends_with("_file") {
        non_empty(text(input, &key, ""), &key).and_then(Source::read)
    } else {
        Source::parse(input, &key)
    };
    if let Some(first) = slot {
        let message = format!(
            "`{key}` cannot be combined with `{}`; drop one of them",
            first.key
        );
        return Err(Error::new(key.span(), message));
    }
    fill(slot, key, source)
}

#[cfg(test)]
mod tests {
    use syn::parse::Parser;

    use super::cache;

    #[test]
    fn a_cache_is_auto_off_or_a_time_that_providers_have() {
        for (written, variant) in [
            ("auto", "Auto"),
            ("off", "Off"),
            ("5m", "Minutes5"),
            ("1h", "Hour1"),
        ] {
            assert_eq!(cache.parse_str(written).unwrap(), variant);
        }
        for written in ["2h", "300s", "on", "\"1h\"", "5"] {
            let error = cache.parse_str(written).unwrap_err();
            assert_eq!(
                error.to_string(),
                "`cache` is `auto`, `off`, `5m` or `1h`",
                "{written}"
            );
        }
    }
}
