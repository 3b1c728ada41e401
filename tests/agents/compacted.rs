//! Conversations that are too long for their model: what is left out of them, when, and what stays as it was.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{
    Approval, Category, Compact, CompactionCause, CompactionStep, DynNode, FnModel, Message,
    ModelError, Paused, Reply, Request, Settings, TokenUsage, Toolset, Unfinished,
};
use serde_json::{Value, json};

/// Tokens of the window of the model in these tests.
pub(crate) const WINDOW: u64 = 8_192;

/// How long a result of `search` is.
const LONG: usize = 3_000;

const QUESTION: &str = "What do the pages say?";

/// What tools did, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

/// Four bytes are a token.
pub(crate) fn tokens(request: &Request) -> u64 {
    let mut bytes = 0;
    for message in &request.messages {
        bytes += message.content.len();
        let calls = message.calls().iter();
        bytes += calls
            .map(|call| call.arguments.len() + call.name.len() + call.id.len())
            .sum::<usize>();
    }
    bytes as u64 / 4
}

/// Refuses what is longer than its window, in llama.cpp's words, and counts the rest.
pub(crate) fn small(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FnModel {
    FnModel::new(move |request| {
        let input = tokens(request);
        if input > WINDOW {
            let said = format!(
                "request ({input} tokens) exceeds the available context size ({WINDOW} tokens), try increasing it"
            );
            return Reply::error(ModelError::new(Category::ContextLengthError, said));
        }
        answer(request).usage(TokenUsage::new(input, 30))
    })
    .named("small")
}

/// How many rounds there were.
pub(crate) fn rounds(request: &Request) -> usize {
    let calling = |message: &&Message| !message.calls().is_empty();
    request.messages.iter().filter(calling).count()
}

fn page(number: &Value) -> String {
    format!("page {number} begins. {}", "x".repeat(LONG))
}

/// `search` has long results, `note` short ones, `pay` must not run twice.
pub(crate) fn tools(log: &Log) -> Toolset {
    let schema = || json!({"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]});
    let noting = |name: &'static str| {
        let log = Arc::clone(log);
        move |arguments: &Value| {
            log.lock()
                .unwrap()
                .push(format!("{name} {}", arguments["page"]))
        }
    };
    let [searched, noted, paid] = ["search", "note", "pay"].map(noting);
    let once = Toolset::new()
        .json_function("pay", "Pays.", schema(), move |arguments: Value| {
            paid(&arguments);
            async move { Ok::<_, BoxError>(page(&arguments["page"])) }
        })
        .idempotent(false);
    Toolset::new()
        .json_function(
            "search",
            "Reads a page.",
            schema(),
            move |arguments: Value| {
                searched(&arguments);
                async move { Ok::<_, BoxError>(page(&arguments["page"])) }
            },
        )
        .json_function(
            "note",
            "Notes a page.",
            schema(),
            move |arguments: Value| {
                noted(&arguments);
                async move { Ok::<_, BoxError>(format!("noted {}", arguments["page"])) }
            },
        )
        .with(once)
}

/// Reads pages.
#[llm_node(
    system = "Be brief.",
    prompt = "{question}",
    turns = 100,
    compact(keep = 3),
    window = 8_192
)]
struct Research<'a> {
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

/// The same, and what is too long is an error.
#[llm_node(
    system = "Be brief.",
    prompt = "{question}",
    turns = 100,
    window = 8_192
)]
struct Plain<'a> {
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

/// Nobody says how large the window is.
#[llm_node(prompt = "{question}", turns = 100, compact)]
struct Unknown<'a> {
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

fn read(number: usize) -> Reply {
    Reply::text("").call("search", json!({"page": number}))
}

/// Reads so many pages, one a turn, and answers.
fn reader(pages: usize) -> FnModel {
    small(move |request| match rounds(request) {
        read_so_far if read_so_far < pages => read(read_so_far),
        _ => Reply::text("Done."),
    })
}

fn results(messages: &[Message]) -> Vec<&str> {
    let results = messages
        .iter()
        .filter(|message| message.answers().is_some());
    results.map(|message| &*message.content).collect()
}

fn is_left_out(result: &str) -> bool {
    result == "[result of search, 3 KB, left out]"
}

#[tokio::test]
async fn old_results_are_left_out_before_the_window_is_full() {
    const PAGES: usize = 60;
    let log = Log::default();
    let model = reader(PAGES);
    let node = Research {
        question: QUESTION,
        tools: tools(&log),
    };
    let report = Run::new(model.clone()).call(&node).report().await.unwrap();
    assert_eq!(report.value, "Done.");
    assert_eq!(report.record.attempts.len(), PAGES + 1, "none was refused");
    assert_eq!(log.lock().unwrap().len(), PAGES, "no tool was repeated");
    let requests = model.requests();
    for request in &requests {
        assert!(tokens(request) <= WINDOW);
        let results = results(&request.messages);
        let kept = &results[results.len().saturating_sub(3)..];
        assert!(kept.iter().all(|result| !is_left_out(result)));
        assert_eq!(request.messages[0].content, "Be brief.");
        assert_eq!(request.messages[1].content, QUESTION);
    }
    // Calls stay, each with its result.
    let last = requests.last().unwrap();
    assert_eq!(rounds(last), PAGES);
    assert_eq!(results(&last.messages).len(), PAGES);
    // The report has what was sent, and beside it the rest.
    let history = report.history().unwrap();
    assert_eq!(history[..history.len() - 1], last.messages[1..]);
    let mut whole: Vec<String> = Vec::new();
    for compacted in &report.compacted {
        assert_eq!(compacted.step, CompactionStep::Results);
        assert!(
            matches!(compacted.cause, CompactionCause::Full { tokens } if tokens > WINDOW * 8 / 10)
        );
        for replaced in &compacted.replaced {
            assert_eq!(replaced.messages.len(), 1);
            whole.push(replaced.messages[0].content.clone());
        }
    }
    let left = results(&history)
        .into_iter()
        .filter(|result| !is_left_out(result));
    whole.extend(left.map(str::to_owned));
    let expected: Vec<String> = (0..PAGES).map(|number| page(&json!(number))).collect();
    assert_eq!(whole, expected);
    // Each time, the provider's cache is lost: it happens as rarely as the window allows.
    assert!(
        report.compacted.len() <= PAGES / 3,
        "{}",
        report.compacted.len()
    );
}

#[tokio::test]
async fn without_compact_a_long_conversation_is_an_error() {
    let log = Log::default();
    let model = reader(60);
    let node = Plain {
        question: QUESTION,
        tools: tools(&log),
    };
    let error = Run::new(model.clone()).call(&node).await.unwrap_err();
    assert_eq!(error.category(), Category::ContextLengthError);
    assert!(!error.message().contains("compact"), "{error}");
    let requests = model.requests();
    let last = requests.last().unwrap();
    assert!(
        results(&last.messages)
            .into_iter()
            .all(|result| !is_left_out(result))
    );
}

#[tokio::test]
async fn what_nobody_can_read_again_or_is_short_stays() {
    let log = Log::default();
    let names = ["pay", "note", "search"];
    let model = small(move |request| match rounds(request) {
        turn @ 0..30 => Reply::text("").call(
            if turn < 4 { names[turn % 3] } else { "search" },
            json!({"page": turn}),
        ),
        _ => Reply::text("Done."),
    });
    let node = Research {
        question: QUESTION,
        tools: tools(&log),
    };
    let report = Run::new(model.clone()).call(&node).report().await.unwrap();
    let results: Vec<&str> = results(&report.messages);
    assert_eq!(results[0], page(&json!(0)), "paid");
    assert_eq!(results[1], "noted 1");
    assert!(is_left_out(results[2]));
    assert_eq!(results[3], page(&json!(3)), "paid");
    assert!(!report.compacted.is_empty());

    // A person has approved the calls of this one.
    let log = Log::default();
    let node = Research {
        question: QUESTION,
        tools: tools(&log).require_approval(),
    };
    let run = Run::new(reader(60)).with_approval(|_| async { Approval::yes() });
    let error = run.call(&node).await.unwrap_err();
    assert_eq!(error.category(), Category::ContextLengthError);
    assert!(
        error
            .message()
            .contains("`compact` found nothing more that may be left out"),
        "{error}"
    );
    assert!(
        error.message().contains("(role tool, about 758 tokens)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refusal_is_enough_where_nobody_says_how_large_the_window_is() {
    let log = Log::default();
    let model = reader(60);
    let node = Unknown {
        question: QUESTION,
        tools: tools(&log),
    };
    let report = Run::new(model.clone()).call(&node).report().await.unwrap();
    assert_eq!(report.value, "Done.");
    let failed = report
        .record
        .attempts
        .iter()
        .filter(|attempt| attempt.category.is_some());
    assert_eq!(failed.count(), 1, "the refusal names the window");
    assert_eq!(report.compacted[0].cause, CompactionCause::Refused);
    assert!(matches!(
        report.compacted[1].cause,
        CompactionCause::Full { .. }
    ));
    assert_eq!(log.lock().unwrap().len(), 60);
}

#[tokio::test]
async fn last_rounds_that_do_not_fit_together_are_left_out_rather_than_failing() {
    let log = Log::default();
    let model = small(|request| match rounds(request) {
        turn @ 0..4 => {
            let at = |place: usize| json!({"page": turn * 8 + place});
            let mut reply = Reply::text("").call("search", at(0));
            for place in 1..8 {
                reply = reply.and_call("search", at(place));
            }
            reply
        }
        _ => Reply::text("Done."),
    });
    let node = DynNode::builder("research")
        .text()
        .tools(tools(&log))
        .compact(Compact::new().keep(6))
        .build()
        .unwrap();
    let report = Run::new(model)
        .call(&node.ask(QUESTION))
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "Done.");
    assert_eq!(log.lock().unwrap().len(), 32);
    let results = results(&report.messages);
    assert!(results[24..].iter().all(|result| !is_left_out(result)));
}

#[tokio::test]
async fn a_conversation_goes_on_as_it_was_compacted() {
    let log = Log::default();
    let asks = |request: &Request| match rounds(request) {
        turn @ (30 | 31) => Reply::text("").call("pay", json!({"page": turn})),
        turn @ 0..36 => read(turn),
        _ => Reply::text("Done."),
    };
    // Without a pause.
    let straight = small(asks);
    let set = |approved: bool, log: &Log| {
        let tools = tools(log);
        let pay = tools.clone().only(["pay"]);
        let rest = tools.only(["search", "note"]);
        rest.with(if approved {
            pay.require_approval()
        } else {
            pay
        })
    };
    let node = |tools| Research {
        question: QUESTION,
        tools,
    };
    let whole = Run::new(straight.clone())
        .call(&node(set(false, &log)))
        .report()
        .await
        .unwrap();

    // With two pauses, each stored and read again.
    let log = Log::default();
    let model = small(asks);
    let run = Run::new(model.clone());
    let node = node(set(true, &log));
    let mut error = run.call(&node).await.unwrap_err();
    for _ in 0..2 {
        let paused = error.paused().unwrap();
        assert_eq!(
            results(paused.messages())
                .into_iter()
                .filter(|result| is_left_out(result))
                .count(),
            0,
            "a pause has all"
        );
        let stored = serde_json::to_string(&paused).unwrap();
        let paused: Paused = serde_json::from_str(&stored).unwrap();
        let id = paused.waiting()[0].id.clone();
        let decided = paused.decide(&id, Approval::yes()).unwrap();
        match run.call(&node).approve(decided).report().await {
            Err(next) => error = next,
            Ok(report) => assert_eq!(report.value, whole.value),
        }
    }
    let sent = |model: &FnModel| -> Vec<Vec<Message>> {
        model
            .requests()
            .into_iter()
            .map(|request| request.messages)
            .collect()
    };
    let (straight, paused) = (sent(&straight), sent(&model));
    assert_eq!(straight.len(), paused.len());
    for (at, messages) in straight.iter().enumerate() {
        assert_eq!(messages, &paused[at], "request {at}");
    }
}

#[tokio::test]
async fn a_failed_call_goes_on_with_all_that_it_had() {
    let log = Log::default();
    let fails = Arc::new(Mutex::new(true));
    let now = Arc::clone(&fails);
    let model = small(move |request| match rounds(request) {
        30 if std::mem::take(&mut *now.lock().unwrap()) => Reply::failure(Category::BadRequest),
        turn @ 0..40 => read(turn),
        _ => Reply::text("Done."),
    });
    let node = Research {
        question: QUESTION,
        tools: tools(&log),
    };
    let run = Run::new(model.clone());
    let error = run.call(&node).await.unwrap_err();
    let unfinished = serde_json::to_string(&error.unfinished().unwrap()).unwrap();
    let unfinished: Unfinished = serde_json::from_str(&unfinished).unwrap();
    assert!(
        results(unfinished.messages())
            .into_iter()
            .all(|result| !is_left_out(result))
    );
    let failed = model.requests().pop().unwrap();
    let report = run.call(&node).resume(unfinished).report().await.unwrap();
    assert_eq!(report.value, "Done.");
    let first = &model.requests()[31];
    assert_eq!(
        first.messages, failed.messages,
        "it is asked what it was asked"
    );
    assert_eq!(log.lock().unwrap().len(), 40);
}

#[tokio::test]
async fn a_long_history_is_compacted_in_the_first_request() {
    let log = Log::default();
    let run = Run::new(reader(9));
    let node = DynNode::builder("research")
        .text()
        .tools(tools(&log))
        .turns(50)
        .compact(Compact::new().keep(2))
        .build()
        .unwrap();
    let settings = || Settings::new().window(100_000);
    let before = run
        .call(&node.ask(QUESTION))
        .settings(settings())
        .report()
        .await
        .unwrap();
    assert!(before.compacted.is_empty());
    let history = before.history().unwrap();

    let model = small(|_| Reply::text("Hi."));
    let chat = node.history(history).ask("And now?");
    let settings = Settings::new().window(8_192);
    let after = Run::new(model.clone())
        .call(&chat)
        .settings(settings)
        .report()
        .await
        .unwrap();
    assert_eq!(after.value, "Hi.");
    assert_eq!(model.requests().len(), 1);
    assert_eq!(after.compacted.len(), 1);
    let history = after.history().unwrap();
    assert_eq!(history.len(), before.history().unwrap().len() + 2);
    assert_eq!(
        results(&history)
            .into_iter()
            .filter(|result| is_left_out(result))
            .count(),
        8
    );
}

#[tokio::test]
async fn impossible_rules_are_faults_of_the_node() {
    let log = Log::default();
    for (rules, why) in [
        (Compact::new().at(1.5), "the share 1.5 of the window"),
        (Compact::new().at(0_u64), "at 0 tokens"),
    ] {
        let node = DynNode::builder("n")
            .text()
            .tools(tools(&log))
            .compact(rules);
        let error = node.build().unwrap_err();
        assert!(error.message().contains(why), "{error}");
    }
    let run = Run::new(reader(1));
    let node = Unknown {
        question: QUESTION,
        tools: tools(&log),
    };
    let error = run
        .call(&node)
        .settings(Settings::new().window(0))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
}
