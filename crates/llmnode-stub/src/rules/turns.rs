//! Conversations as turns, whichever API they are for: who speaks, what is called, what is answered.

use serde_json::Value;

use super::pointer::Pointer;
use crate::api::Api;
use crate::model_answer::{list, word};

/// A call, or the result of one.
#[derive(Clone, Debug)]
struct Link<'b> {
    id: &'b str,
    name: &'b str,
    place: Pointer,
}

#[derive(Debug, Default)]
struct Turn<'b> {
    by_model: bool,
    calls: Vec<Link<'b>>,
    results: Vec<Link<'b>>,
    /// Something else stands before a result.
    results_are_late: bool,
    has_others: bool,
}

/// What is wrong with the calls and results of a conversation, by the name that rules have for it: the first place.
pub(super) fn fault(name: &str, api: Api, body: &Value) -> Option<Pointer> {
    let turns = turns(api, body);
    match name {
        "result_without_call" => result_without_call(api, &turns),
        "call_without_result" => call_without_result(api, &turns),
        "results_are_late" => {
            let late = turns.iter().find(|turn| turn.results_are_late)?;
            late.results.first().map(|result| result.place.clone())
        }
        "repeated_call" => repeated(turns.iter().flat_map(|turn| &turn.calls)),
        "repeated_result" => turns.iter().find_map(|turn| repeated(turn.results.iter())),
        "counts_differ" => counts_differ(&turns),
        "names_differ" => names_differ(&turns),
        "words_beside_results" => {
            let mixed = turns
                .iter()
                .find(|turn| !turn.results.is_empty() && turn.has_others)?;
            mixed.results.first().map(|result| result.place.clone())
        }
        "user_after_result" => user_after_result(body),
        "ends_with_the_model" => ends_with_the_model(api, &turns),
        "ends_in_white_space" => ends_in_white_space(body),
        "reasoning_alone" => reasoning_alone(body),
        "last_calls_without_thoughts" => last_calls_without_thoughts(body),
        "call_without_signature" => call_without_signature(body),
        "more_than_four_marks" => more_than_four_marks(body),
        "longer_cache_behind_shorter" => longer_cache_behind_shorter(body),
        _ => None,
    }
}

/// The names above, for the test of the rules' vocabulary.
#[cfg(test)]
pub(super) const FAULTS: [&str; 16] = [
    "result_without_call",
    "call_without_result",
    "results_are_late",
    "repeated_call",
    "repeated_result",
    "counts_differ",
    "names_differ",
    "words_beside_results",
    "user_after_result",
    "ends_with_the_model",
    "ends_in_white_space",
    "reasoning_alone",
    "last_calls_without_thoughts",
    "call_without_signature",
    "more_than_four_marks",
    "longer_cache_behind_shorter",
];

/// Responses looks for a call anywhere before its result; the others right before it.
fn result_without_call(api: Api, turns: &[Turn<'_>]) -> Option<Pointer> {
    for (at, turn) in turns.iter().enumerate() {
        let from = if api == Api::Responses {
            0
        } else {
            at.saturating_sub(1)
        };
        let called: Vec<&str> = turns[from..at]
            .iter()
            .flat_map(|turn| &turn.calls)
            .map(|call| call.id)
            .collect();
        if let Some(result) = turn
            .results
            .iter()
            .find(|result| !called.contains(&result.id))
        {
            return Some(result.place.clone());
        }
    }
    None
}

fn call_without_result(api: Api, turns: &[Turn<'_>]) -> Option<Pointer> {
    for (at, turn) in turns.iter().enumerate() {
        let to = if api == Api::Responses {
            turns.len()
        } else {
            turns.len().min(at + 2)
        };
        let answered: Vec<&str> = turns[at + 1..to]
            .iter()
            .flat_map(|turn| &turn.results)
            .map(|result| result.id)
            .collect();
        if let Some(call) = turn.calls.iter().find(|call| !answered.contains(&call.id)) {
            return Some(call.place.clone());
        }
    }
    None
}

fn repeated<'t, 'b: 't>(links: impl Iterator<Item = &'t Link<'b>>) -> Option<Pointer> {
    let mut seen: Vec<&str> = Vec::new();
    for link in links {
        if !link.id.is_empty() && seen.contains(&link.id) {
            return Some(link.place.clone());
        }
        seen.push(link.id);
    }
    None
}

/// Gemini counts, since its calls may have no ids.
fn counts_differ(turns: &[Turn<'_>]) -> Option<Pointer> {
    let wrong = turns.iter().enumerate().find(|(at, turn)| {
        let results = turns.get(at + 1).map_or(0, |next| next.results.len());
        turn.by_model && turn.calls.len() != results
    });
    if let Some((at, turn)) = wrong {
        let link = turn
            .calls
            .first()
            .or_else(|| turns.get(at + 1)?.results.first());
        return link.map(|link| link.place.clone());
    }
    turns
        .first()
        .and_then(|first| first.results.first())
        .map(|result| result.place.clone())
}

fn names_differ(turns: &[Turn<'_>]) -> Option<Pointer> {
    turns.windows(2).find_map(|pair| {
        let calls = &pair[0].calls;
        let wrong = pair[1]
            .results
            .iter()
            .find(|result| !calls.iter().any(|call| call.name == result.name))?;
        Some(wrong.place.clone())
    })
}

/// Of chat: Mistral wants an answer in between.
fn user_after_result(body: &Value) -> Option<Pointer> {
    let messages = list(&body["messages"]);
    let after = messages
        .windows(2)
        .position(|pair| pair[0]["role"] == "tool" && pair[1]["role"] == "user");
    after.map(|at| place(&["messages", &(at + 1).to_string()]))
}

fn ends_with_the_model(api: Api, turns: &[Turn<'_>]) -> Option<Pointer> {
    let last = turns.last()?;
    let list = if api == Api::Gemini {
        "contents"
    } else {
        "messages"
    };
    (last.by_model && last.calls.is_empty()).then(|| place(&[list, &(turns.len() - 1).to_string()]))
}

fn ends_in_white_space(body: &Value) -> Option<Pointer> {
    let messages = list(&body["messages"]);
    let last = messages.last().filter(|last| last["role"] == "assistant")?;
    let block = list(&last["content"])
        .last()
        .and_then(|block| block["text"].as_str());
    let text = last["content"].as_str().or(block)?;
    let at = (messages.len() - 1).to_string();
    (text.trim_end() != text).then(|| place(&["messages", &at]))
}

/// Of Responses: what followed a thought is its text or its calls.
fn reasoning_alone(body: &Value) -> Option<Pointer> {
    let items = list(&body["input"]);
    let alone = items.iter().enumerate().position(|(at, item)| {
        let next = items.get(at + 1);
        let follows = next.is_some_and(|next| {
            word(next, "role") == "assistant"
                || !matches!(word(next, "type"), "" | "message" | "function_call_output")
        });
        item["type"] == "reasoning" && !follows
    });
    alone.map(|at| place(&["input", &at.to_string()]))
}

/// Of Messages: the turn whose calls are answered last.
fn last_calls_without_thoughts(body: &Value) -> Option<Pointer> {
    let messages = list(&body["messages"]);
    let ends_with_results = list(&messages.last()?["content"])
        .iter()
        .any(|block| block["type"] == "tool_result");
    let last = messages
        .iter()
        .rposition(|message| message["role"] == "assistant")
        .filter(|_| ends_with_results)?;
    let first = word(&messages[last]["content"][0], "type");
    let thinks = matches!(first, "thinking" | "redacted_thinking");
    (!thinks).then(|| place(&["messages", &last.to_string(), "content", "0"]))
}

/// Of Gemini: the first call of each turn since the user's last words.
fn call_without_signature(body: &Value) -> Option<Pointer> {
    let contents = list(&body["contents"]);
    let from = contents
        .iter()
        .rposition(|content: &Value| {
            let parts = list(&content["parts"]);
            content["role"] != "model"
                && parts
                    .iter()
                    .any(|part| part.get("functionResponse").is_none())
        })
        .unwrap_or(0);
    for (at, content) in contents.iter().enumerate().skip(from) {
        let parts = list(&content["parts"]);
        let Some(first) = parts
            .iter()
            .position(|part| part.get("functionCall").is_some())
        else {
            continue;
        };
        if parts[first].get("thoughtSignature").is_none() {
            return Some(place(&[
                "contents",
                &at.to_string(),
                "parts",
                &first.to_string(),
            ]));
        }
    }
    None
}

/// Of Messages.
fn more_than_four_marks(body: &Value) -> Option<Pointer> {
    (marks(body) > 4).then(Pointer::default)
}

/// Of Messages: tools, the system's text and the messages are one sequence.
fn longer_cache_behind_shorter(body: &Value) -> Option<Pointer> {
    let mut lifetimes = Vec::new();
    for part in ["tools", "system", "messages"] {
        collect_lifetimes(&body[part], &mut lifetimes);
    }
    let first_short = lifetimes.iter().position(|long| !long)?;
    lifetimes[first_short..]
        .contains(&true)
        .then(Pointer::default)
}

/// Of each mark: whether it is for an hour.
fn collect_lifetimes(value: &Value, found: &mut Vec<bool>) {
    match value {
        Value::Object(members) => {
            members
                .values()
                .for_each(|member| collect_lifetimes(member, found));
            found.extend(members.get("cache_control").map(|mark| mark["ttl"] == "1h"));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_lifetimes(item, found)),
        _ => {}
    }
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            usize::from(members.contains_key("cache_control"))
                + members.values().map(marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

fn turns(api: Api, body: &Value) -> Vec<Turn<'_>> {
    match api {
        Api::Chat => chat(body),
        Api::Responses => responses(body),
        Api::Messages => messages(body),
        Api::Gemini => gemini(body),
    }
}

fn place(steps: &[&str]) -> Pointer {
    Pointer(steps.iter().map(|step| (*step).to_owned()).collect())
}

/// Results that follow each other are one turn.
fn chat(body: &Value) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        let at = at.to_string();
        if word(message, "role") == "tool" {
            let result = Link {
                id: word(message, "tool_call_id"),
                name: word(message, "name"),
                place: place(&["messages", &at]),
            };
            match turns.last_mut().filter(|last| !last.results.is_empty()) {
                Some(last) => last.results.push(result),
                None => turns.push(Turn {
                    results: vec![result],
                    ..Turn::default()
                }),
            }
            continue;
        }
        let calls = list(&message["tool_calls"])
            .iter()
            .enumerate()
            .map(|(index, call)| Link {
                id: word(call, "id"),
                name: word(&call["function"], "name"),
                place: place(&["messages", &at, "tool_calls", &index.to_string()]),
            });
        let by_model = word(message, "role") == "assistant";
        turns.push(Turn {
            by_model,
            calls: calls.collect(),
            has_others: true,
            ..Turn::default()
        });
    }
    turns
}

/// Each item is a turn: only the order matters.
fn responses(body: &Value) -> Vec<Turn<'_>> {
    let items = list(&body["input"]).iter().enumerate();
    items
        .map(|(at, item)| {
            let link = Link {
                id: word(item, "call_id"),
                name: word(item, "name"),
                place: place(&["input", &at.to_string()]),
            };
            match word(item, "type") {
                "function_call" => Turn {
                    by_model: true,
                    calls: vec![link],
                    ..Turn::default()
                },
                "function_call_output" => Turn {
                    results: vec![link],
                    ..Turn::default()
                },
                _ => Turn {
                    has_others: true,
                    ..Turn::default()
                },
            }
        })
        .collect()
}

fn messages(body: &Value) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    for (at, message) in list(&body["messages"]).iter().enumerate() {
        let at = at.to_string();
        let mut turn = Turn {
            by_model: word(message, "role") == "assistant",
            ..Turn::default()
        };
        for (index, block) in list(&message["content"]).iter().enumerate() {
            let here = place(&["messages", &at, "content", &index.to_string()]);
            match word(block, "type") {
                "tool_use" => {
                    turn.calls.push(Link {
                        id: word(block, "id"),
                        name: word(block, "name"),
                        place: here,
                    });
                }
                "tool_result" => {
                    turn.results_are_late |= turn.has_others;
                    turn.results.push(Link {
                        id: word(block, "tool_use_id"),
                        name: "",
                        place: here,
                    });
                }
                _ => turn.has_others = true,
            }
        }
        turns.push(turn);
    }
    turns
}

fn gemini_link(value: &Value, place: Pointer) -> Link<'_> {
    Link {
        id: word(value, "id"),
        name: word(value, "name"),
        place,
    }
}

fn gemini(body: &Value) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    for (at, content) in list(&body["contents"]).iter().enumerate() {
        let mut turn = Turn {
            by_model: word(content, "role") == "model",
            ..Turn::default()
        };
        for (index, part) in list(&content["parts"]).iter().enumerate() {
            let place = place(&["contents", &at.to_string(), "parts", &index.to_string()]);
            match (part.get("functionCall"), part.get("functionResponse")) {
                (Some(call), _) => turn.calls.push(gemini_link(call, place)),
                (None, Some(result)) => turn.results.push(gemini_link(result, place)),
                (None, None) => turn.has_others = true,
            }
        }
        turns.push(turn);
    }
    turns
}
