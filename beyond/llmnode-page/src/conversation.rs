//! What one call wrote and read: prompts, answers, what was wrong with them, tools.
//!
//! A request repeats the conversation before it. So only the messages behind those that it shares with the last request are kept,
//! and `shared` says how many these are. A request that did not go out after all (its event is followed by another one of the same
//! attempt) is replaced, or its messages would count as shown.

use llmnode_runtime::ext::RunEvent;
use llmnode_runtime::{
    AttemptId, AttemptRecord, Compacted, CompactionCause, CompactionStep, Message, Request,
    ToolCall,
};

use crate::document::{Exchange, Text, ToolText};
use crate::texts::Texts;

#[derive(Default)]
pub(crate) struct Conversation {
    pub(crate) exchanges: Vec<Exchange>,
    /// Of the messages of the last request.
    last_messages: Vec<u64>,
    /// What was done to the conversation of the next request.
    compacted: Option<String>,
}

impl Conversation {
    pub(crate) fn event(&mut self, event: &RunEvent<'_>, texts: &mut Texts) {
        match event {
            RunEvent::Replayed {
                messages,
                text,
                calls,
                ..
            } => {
                self.shown(None, messages, texts);
                let answer = (!text.is_empty()).then(|| texts.keep(text));
                let tools = calls.iter().map(|call| texts.tool(call)).collect();
                if let Some(exchange) = self.exchanges.last_mut() {
                    (exchange.answer, exchange.tools) = (answer, tools);
                }
            }
            RunEvent::Compacted { compacted, .. } => self.compacted = Some(words(compacted)),
            RunEvent::Answered { answer, .. } if answer.is_round => {
                let tools = answer.calls.iter().map(|call| texts.tool(call)).collect();
                if let Some(exchange) = self.exchanges.last_mut() {
                    exchange.tools = tools;
                }
            }
            RunEvent::ToolEnded {
                tool,
                arguments,
                result,
                ..
            } => {
                self.tool_ended(tool, *arguments, *result, texts);
            }
            _ => {}
        }
    }

    pub(crate) fn add_request(&mut self, attempt: AttemptId, request: &Request, texts: &mut Texts) {
        self.shown(Some(attempt), &request.messages, texts);
        if let Some(exchange) = self.exchanges.last_mut() {
            exchange.settings = texts.settings(request);
        }
    }

    fn shown(&mut self, attempt: Option<AttemptId>, messages: &[Message], texts: &mut Texts) {
        // A request that did not go out after all is replaced: what was said before it is shown again.
        let replaced = self
            .exchanges
            .iter()
            .position(|exchange| exchange.attempt.is_some() && exchange.attempt == attempt);
        if let Some(at) = replaced {
            let exchange = self.exchanges.remove(at);
            self.last_messages.truncate(exchange.shared);
        }
        let now: Vec<u64> = messages
            .iter()
            .map(|message| texts.fingerprint(message))
            .collect();
        let shared = self
            .last_messages
            .iter()
            .zip(&now)
            .take_while(|(before, now)| before == now)
            .count();
        let new = now.iter().zip(messages).skip(shared);
        let messages = new
            .map(|(fingerprint, message)| texts.message(*fingerprint, message))
            .collect();
        self.last_messages = now;
        self.exchanges.push(Exchange {
            attempt,
            shared,
            messages,
            compacted: self.compacted.take().map(|words| texts.keep(&words)),
            ..Exchange::default()
        });
    }

    /// In a conversation that paused, the tools of the last answer end before the first request.
    fn tool_ended(
        &mut self,
        call: &ToolCall,
        arguments: Option<&str>,
        result: Option<&Message>,
        texts: &mut Texts,
    ) {
        if self.exchanges.is_empty() {
            self.exchanges.push(Exchange::default());
        }
        let Some(exchange) = self.exchanges.last_mut() else {
            return;
        };
        let id = texts.id(&call.id);
        let index = exchange
            .tools
            .iter()
            .position(|tool| tool.id == id)
            .unwrap_or_else(|| {
                exchange.tools.push(texts.tool(call));
                exchange.tools.len() - 1
            });
        if let Some(tool) = exchange.tools.get_mut(index) {
            tool.edited = arguments.map(|arguments| texts.keep(arguments));
            tool.result = result.map(|result| texts.keep(&result.shown()));
        }
    }

    /// Returns its bytes. The newest stays.
    pub(crate) fn drop_oldest(&mut self) -> Option<usize> {
        (self.exchanges.len() > 1).then(|| size(&self.exchanges.remove(0)))
    }

    pub(crate) fn size(&self) -> usize {
        self.exchanges.iter().map(size).sum()
    }

    pub(crate) fn attempt_ended(&mut self, attempt: &AttemptRecord, texts: &mut Texts) {
        let position = self
            .exchanges
            .iter()
            .position(|exchange| exchange.attempt == Some(attempt.id));
        // A request that is no chat has no messages.
        let index = position.unwrap_or_else(|| {
            self.exchanges.push(Exchange {
                attempt: Some(attempt.id),
                ..Exchange::default()
            });
            self.exchanges.len() - 1
        });
        let Some(exchange) = self.exchanges.get_mut(index) else {
            return;
        };
        exchange.answer = attempt.answer.as_deref().map(|answer| texts.keep(answer));
        exchange.error = (!attempt.message.is_empty()).then(|| texts.keep(&attempt.message));
        exchange.violations = attempt
            .violations
            .iter()
            .map(|violation| texts.keep(&violation.to_string()))
            .collect();
    }
}

fn counted(number: usize, what: &str) -> String {
    let end = if number == 1 { " is" } else { "s are" };
    format!("{number} {what}{end}")
}

/// Such as "compacted at about 6,700 tokens: 4 results of tools are left out".
fn words(compacted: &Compacted) -> String {
    let when = match compacted.cause {
        CompactionCause::Full { tokens } => format!("at about {tokens} tokens"),
        _ => "after a refusal".to_owned(),
    };
    let mut gone = 0;
    for replaced in &compacted.replaced {
        gone += replaced.messages.len();
    }
    match compacted.step {
        CompactionStep::Results => {
            format!("compacted {when}: {} left out", counted(gone, "result"))
        }
        _ => format!("compacted {when}: {} summed up", counted(gone, "message")),
    }
}

/// In bytes.
pub(crate) fn size(exchange: &Exchange) -> usize {
    let Exchange {
        messages,
        settings,
        answer,
        error,
        violations,
        tools,
        compacted,
        ..
    } = exchange;
    let texts = messages
        .iter()
        .map(|Text { text, .. }| text)
        .chain(settings)
        .chain(violations)
        .chain(answer)
        .chain(compacted)
        .chain(error);
    texts.map(String::len).sum::<usize>() + tools.iter().map(tool_size).sum::<usize>()
}

fn tool_size(tool: &ToolText) -> usize {
    let optional = [&tool.edited, &tool.result]
        .into_iter()
        .flatten()
        .map(String::len)
        .sum::<usize>();
    tool.id.len() + tool.name.len() + tool.arguments.len() + optional
}
