//! The loop: turns, rounds, and what ends them.

use llmnode::prelude::*;
use llmnode::{
    AttemptKind, BoxError, Category, FinishReason, Flag, Message, Reply, Role, ScriptedModel,
    Toolset,
};
use serde_json::json;

use super::library::*;

fn calls(tools: &[(&str, serde_json::Value)]) -> Reply {
    tools
        .iter()
        .fold(Reply::text(""), |reply, (tool, arguments)| {
            reply.call(tool, arguments)
        })
}

#[tokio::test]
async fn an_answer_without_calls_is_one_request() {
    let model = ScriptedModel::new().reply("Rust in Action.");
    let report = run(model.clone()).call(&ASK).report().await.unwrap();
    assert_eq!(report.value, "Rust in Action.");
    assert_eq!(kinds(&report.record), [AttemptKind::First]);
    assert!(report.record.attempts[0].tools.is_empty());
    assert_eq!(model.requests()[0].tools.len(), 9);
}

#[tokio::test]
async fn a_round_gives_its_results_in_the_order_of_the_calls() {
    let model = ScriptedModel::new()
        .reply(
            Reply::text("I look.")
                .call("wait", json!({"milliseconds": 20}))
                .call("search", json!({"word": "Rust"})),
        )
        .reply("Rust in Action.");
    let run = run(model.clone());
    let report = run.call(&ASK).report().await.unwrap();
    assert_eq!(
        kinds(&report.record),
        [AttemptKind::First, AttemptKind::Turn]
    );
    assert_eq!(outcomes(&report.record, 0), ["ok", "ok"]);
    // They ran side by side.
    assert_eq!(
        run.state().log(),
        ["wait 20 begins", "search Rust", "wait 20 ends"]
    );
    let request = &model.requests()[1];
    assert_eq!(results(request), ["waited 20", r#"["Rust in Action"]"#]);
    let [_, said, first, second] = &request.messages[..] else {
        panic!("{:?}", request.messages)
    };
    assert_eq!(
        (said.role, said.content.as_str(), said.calls().len()),
        (Role::Assistant, "I look.", 2)
    );
    assert_eq!(
        [first.answers(), second.answers()],
        [Some("call_1"), Some("call_2")]
    );
}

#[tokio::test]
async fn a_round_without_usage_is_estimated_by_its_text_and_its_calls() {
    let round = Reply::text("I look.")
        .call("search", json!({"word": "Rust"}))
        .usage(None);
    let report = run(ScriptedModel::new().reply(round).reply("Rust in Action."))
        .call(&ASK)
        .report()
        .await
        .unwrap();
    let written = r#"I look.search{"word":"Rust"}"#.len() as u64;
    assert_eq!(
        report.record.attempts[0].estimate.unwrap().output,
        Some(written / 4)
    );
}

#[tokio::test]
async fn the_last_turn_has_to_be_the_answer() {
    #[llm_node(prompt = "{question}", state = Library, tools = [Count], turns = 2)]
    struct Short {
        question: String,
    }
    let model = ScriptedModel::new().otherwise(|_| Reply::text("three").call("count", json!({})));
    let report = run(model.clone())
        .call(&Short {
            question: "?".into(),
        })
        .report()
        .await
        .unwrap();
    // The call that was made all the same is dropped.
    assert_eq!(outcomes(&report.record, 1), ["not_executed"]);
    assert_eq!(report.value, "three");
    let [first, second] = &model.requests()[..] else {
        panic!("two requests")
    };
    assert!(!first.answer_now && second.answer_now);
    let names = |request: &llmnode::Request| {
        request
            .tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(first), names(second));
    let last = second.messages.last().unwrap();
    assert_eq!(
        (last.role, last.content.starts_with("No more tools")),
        (Role::User, true)
    );

    let model = ScriptedModel::new().otherwise(|_| Reply::text("").call("count", json!({})));
    let error = run(model)
        .call(&Short {
            question: "?".into(),
        })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::EmptyResponse);
    let told =
        "the last of 2 turns was used for a call of `count` instead of an answer; raise `turns`";
    assert!(error.message().ends_with(told), "{error}");
    assert_eq!(outcomes(error.record().unwrap(), 1), ["not_executed"]);
}

#[tokio::test]
async fn a_call_in_the_last_turn_is_told_to_the_program_alone() {
    #[llm_node(prompt = "?", output = u8, state = Library, tools = [Count], turns = 1, retries = 1)]
    struct Now;
    let model = ScriptedModel::new()
        .reply(Reply::text("I count.").call("count", json!({})))
        .reply("3");
    assert_eq!(run(model.clone()).call(&Now).await.unwrap(), 3);
    let feedback = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(!feedback.contains("turns"), "{feedback}");
}

#[tokio::test]
async fn one_turn_is_the_answer() {
    #[llm_node(prompt = "?", state = Library, tools = [Count], turns = 1)]
    struct Now;
    let model = ScriptedModel::new().reply("three");
    assert_eq!(run(model.clone()).call(&Now).await.unwrap(), "three");
    assert!(model.requests()[0].answer_now);
}

#[tokio::test]
async fn an_unknown_tool_is_told_and_the_others_run() {
    let model = ScriptedModel::new()
        .reply(calls(&[("serach", json!({})), ("count", json!({}))]))
        .reply("three");
    let report = run(model.clone()).call(&ASK).report().await.unwrap();
    assert_eq!(outcomes(&report.record, 0), ["unknown_tool", "ok"]);
    let told = results(&model.requests()[1])[0].to_owned();
    assert!(
        told.contains("did you mean search?") && told.contains("count, lend"),
        "{told}"
    );
    assert!(!model.requests()[1].answer_now);
}

#[tokio::test]
async fn two_rounds_in_a_row_without_any_tool_that_is_there_end_the_calls() {
    let bad = || calls(&[("fly", json!({}))]);
    let model = ScriptedModel::new()
        .reply(bad())
        .reply(calls(&[("count", json!({}))]))
        .reply(bad())
        .reply(calls(&[("ask", json!({}))]))
        .reply("three");
    let report = run(model.clone()).call(&ASK).report().await.unwrap();
    assert_eq!(report.value, "three");
    let now: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.answer_now)
        .collect();
    assert_eq!(now, [false, false, false, false, true]);
    let told = results(&model.requests()[4]).pop().unwrap().to_owned();
    assert!(
        told.starts_with("ask is you: answer, or call one of"),
        "{told}"
    );

    let error = run(ScriptedModel::new().otherwise(move |_| bad()))
        .call(&ASK)
        .await
        .unwrap_err();
    let told = "the model called `fly` after 2 responses in a row without a tool that exists, where only an answer is left";
    assert!(error.message().ends_with(told), "{error}");
}

#[tokio::test]
async fn refused_arguments_cost_a_round_and_no_retry() {
    let model = ScriptedModel::new()
        .reply(calls(&[("search", json!("no JSON at all"))]))
        .reply(calls(&[("search", json!({"words": 1}))]))
        .reply(json!({"title": "Unknown"}))
        .reply(json!({"title": "Deep C"}));
    let report = run(model.clone()).call(&RECOMMEND).report().await.unwrap();
    use AttemptKind::{Correction, First, Turn};
    assert_eq!(kinds(&report.record), [First, Turn, Turn, Correction]);
    assert_eq!(outcomes(&report.record, 0), ["invalid_arguments"]);
    assert_eq!(outcomes(&report.record, 1), ["invalid_arguments"]);
    // Arguments that are not an object are not in the history: servers refuse them.
    assert_eq!(model.requests()[1].messages[1].calls()[0].arguments, "{}");
    assert!(
        results(&model.requests()[1])[0].contains("no JSON at all"),
        "{:?}",
        results(&model.requests()[1])
    );
}

#[tokio::test]
async fn each_request_begins_with_the_one_before() {
    let model = ScriptedModel::new()
        .reply(calls(&[("search", json!({"word": "Rust"}))]))
        .reply(json!({"title": "Unknown"}))
        .reply(calls(&[("count", json!({}))]))
        .reply(json!({"title": "Deep C"}));
    run(model.clone()).call(&RECOMMEND).await.unwrap();
    let written = |messages: &[Message]| {
        messages
            .iter()
            .map(|one| serde_json::to_string(one).unwrap())
            .collect::<Vec<_>>()
    };
    for pair in model.requests().windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|request| written(&request.messages));
        assert!(after.starts_with(&before), "{before:#?}\n{after:#?}");
    }
}

#[tokio::test]
async fn a_length_stop_with_calls_runs_nothing() {
    let cut =
        calls(&[("lend", json!({"title": "Deep C", "days": 3}))]).finish(FinishReason::Length);
    let run = run(ScriptedModel::new().reply(cut));
    let error = run.call(&ASK).await.unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput);
    assert!(run.state().log().is_empty());
}

#[tokio::test]
async fn calls_with_white_space_up_to_the_limit_are_a_round() {
    let stopped = |reply: Reply| reply.finish(FinishReason::Length);
    let in_text = format!(
        "{}{}",
        json!({"name": "count", "arguments": {}}),
        " ".repeat(9)
    );
    for padded in [
        Reply::text("").call("count", "{}   "),
        Reply::text("")
            .call("count", "{}")
            .call("count", "{}\n\n\n"),
        Reply::text(in_text),
    ] {
        let model = ScriptedModel::new().reply(stopped(padded)).reply("three");
        let report = run(model).call(&ASK).report().await.unwrap();
        assert_eq!(report.value, "three");
        assert!(report.record.attempts[0].flags.contains(&Flag::LengthStop));
    }
    for cut in [
        Reply::text("").call("count", "{   "),
        Reply::text("").call("count", "{").call("count", "{}   "),
        Reply::text("").call("count", "   "),
    ] {
        let error = run(ScriptedModel::new().reply(stopped(cut)))
            .call(&ASK)
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::TruncatedOutput);
    }
}

#[tokio::test]
async fn calls_with_the_finish_reason_stop_are_a_round() {
    let stop = calls(&[("count", json!({}))]).finish(FinishReason::Stop);
    assert_eq!(
        run(ScriptedModel::new().reply(stop).reply("three"))
            .call(&ASK)
            .await
            .unwrap(),
        "three"
    );
}

#[tokio::test]
async fn an_answer_beside_calls_is_not_taken() {
    let model = ScriptedModel::new()
        .reply(
            Reply::text(r#"{"title": "Deep C"}"#)
                .call("Advice", json!({"title": "Deep C"}))
                .call("count", json!({})),
        )
        .reply(json!({"title": "The Go Book"}));
    let report = run(model.clone()).call(&RECOMMEND).report().await.unwrap();
    assert_eq!(report.value.title, "The Go Book");
    assert_eq!(outcomes(&report.record, 0), ["not_executed", "ok"]);
    assert_eq!(
        results(&model.requests()[1])[0],
        "not used: answer after the results of the tools"
    );
}

#[tokio::test]
async fn of_two_answers_the_first_is_judged() {
    let two = calls(&[
        ("Advice", json!({"title": "Deep C"})),
        ("Advice", json!({"title": "The Go Book"})),
    ]);
    let report = run(ScriptedModel::new().reply(two))
        .call(&RECOMMEND)
        .report()
        .await
        .unwrap();
    assert_eq!(
        (report.value.title.as_str(), report.record.attempts.len()),
        ("Deep C", 1)
    );
}

#[tokio::test]
async fn of_forty_calls_thirty_two_run() {
    let many: Vec<_> = (0..40).map(|_| ("count", json!({}))).collect();
    let model = ScriptedModel::new().reply(calls(&many)).reply("three");
    let run = run(model.clone());
    let report = run.call(&ASK).report().await.unwrap();
    assert_eq!(run.state().log().len(), 32);
    assert_eq!(
        outcomes(&report.record, 0)
            .iter()
            .filter(|outcome| **outcome == "not_executed")
            .count(),
        8
    );
    assert_eq!(
        results(&model.requests()[1])[39],
        "not executed: at most 32 calls of one answer are"
    );
}

#[tokio::test]
async fn a_call_that_is_the_whole_text_is_a_call() {
    let call = json!({"name": "count", "arguments": {}});
    let model = ScriptedModel::new()
        .reply(call.clone())
        .reply(json!({"title": "Deep C"}));
    let run = run(model.clone());
    let report = run.call(&RECOMMEND).report().await.unwrap();
    assert_eq!(report.record.attempts[0].flags, [llmnode::Flag::CallInText]);
    assert_eq!(
        (run.state().log(), outcomes(&report.record, 0)),
        (vec!["count".to_owned()], vec!["ok"])
    );
    assert_eq!(model.requests()[1].messages[1].calls()[0].name, "count");

    // In prose it is text, and where tools are forbidden, too.
    #[llm_node(prompt = "?", state = Library, tools = [Count], turns = 1)]
    struct Now;
    let prose = format!("I would call {call}.");
    assert_eq!(
        super::library::run(ScriptedModel::new().reply(prose.as_str()))
            .call(&ASK)
            .await
            .unwrap(),
        prose
    );
    let text = super::library::run(ScriptedModel::new().reply(call.clone()))
        .call(&Now)
        .await
        .unwrap();
    assert_eq!(text, call.to_string());

    // An answer that can be read is the answer.
    #[llm_output]
    struct Named {
        name: String,
        arguments: std::collections::BTreeMap<String, String>,
    }
    #[llm_node(prompt = "?", output = Named, state = Library, tools = [Count])]
    struct Name;
    let named = super::library::run(ScriptedModel::new().reply(call))
        .call(&Name)
        .await
        .unwrap();
    assert_eq!((named.name.as_str(), named.arguments.len()), ("count", 0));
}

/// Where calls are texts, a model that has its result writes a text.
#[tokio::test]
async fn after_a_call_in_text_the_answer_is_asked_for_at_once_and_costs_no_retry() {
    let call = || ScriptedModel::new().reply(json!({"name": "count", "arguments": {}}));
    let model = call()
        .reply("It is Deep C.")
        .reply(json!({"title": "Deep C"}));
    let report = run(model.clone())
        .call(&RECOMMEND)
        .retries(0)
        .report()
        .await
        .unwrap();
    assert_eq!(report.value.title, "Deep C");
    assert_eq!(
        kinds(&report.record),
        [AttemptKind::First, AttemptKind::Turn, AttemptKind::Adapted]
    );
    let now: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.answer_now)
        .collect();
    assert_eq!(now, [false, false, true], "no tool can be called any more");

    for (retries, advice) in [(0, "set"), (1, "raise")] {
        let model = call()
            .reply("It is Deep C.")
            .reply("Deep C, as I said.")
            .reply("Deep C!");
        let error = run(model.clone())
            .call(&RECOMMEND)
            .retries(retries)
            .await
            .unwrap_err();
        assert_eq!(model.requests().len() as u32, 3 + retries);
        let says = format!("; the tool ran, but no answer came: {advice} `retries`");
        assert!(error.message().ends_with(&says), "{error}");
    }

    // A model whose calls are recognised is corrected as ever.
    let native = ScriptedModel::new().reply(calls(&[("count", json!({}))]));
    let model = native
        .reply("It is Deep C.")
        .reply(json!({"title": "Deep C"}));
    let error = run(model.clone())
        .call(&RECOMMEND)
        .retries(0)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::SchemaError, 2)
    );
    assert!(!error.message().contains("retries"), "{error}");
}

#[tokio::test]
async fn broken_arguments_are_told_with_their_line_and_column() {
    for (broken, told) in [
        (
            "{\"title\": \"Deep C\",\n \"days\": 3 4}",
            "- invalid JSON at line 2 column 12: expected a comma",
        ),
        (
            "{\"title\": [\"Deep C\"",
            "- the JSON that begins at line 1 column 1 is not complete",
        ),
        ("3", "- they are not a JSON object: `3`"),
    ] {
        let model = ScriptedModel::new()
            .reply(Reply::text("").call("lend", broken))
            .reply("done");
        run(model.clone()).call(&ASK).await.unwrap();
        let requests = model.requests();
        let results = results(&requests[1]);
        assert!(
            results[0].starts_with(&format!("These arguments were not accepted:\n{told}")),
            "{results:?}"
        );
    }
}

#[tokio::test]
async fn no_arguments_are_an_empty_object() {
    for arguments in [json!(""), json!(null), json!({})] {
        let model = ScriptedModel::new()
            .reply(calls(&[("count", arguments)]))
            .reply("three");
        let report = run(model).call(&ASK).report().await.unwrap();
        assert_eq!(outcomes(&report.record, 0), ["ok"]);
    }
}

#[tokio::test]
async fn a_tool_that_runs_alone_is_a_barrier() {
    let lend = |title: &str| ("lend", json!({"title": title, "days": 3}));
    let model = ScriptedModel::new()
        .reply(calls(&[
            ("wait", json!({"milliseconds": 5})),
            lend("Deep C"),
            ("wait", json!({"milliseconds": 1})),
        ]))
        .reply("done");
    let run = run(model.clone());
    run.call(&ASK).await.unwrap();
    assert_eq!(
        run.state().log(),
        [
            "wait 5 begins",
            "wait 5 ends",
            "lend Deep C begins",
            "lend Deep C for 3 ends",
            "wait 1 begins",
            "wait 1 ends"
        ]
    );
    assert_eq!(
        results(&model.requests()[1]),
        ["waited 5", "done", "waited 1"]
    );
}

#[tokio::test]
async fn ids_are_unique_in_a_conversation() {
    let model = ScriptedModel::new()
        .reply(calls(&[("count", json!({}))]))
        .reply(calls(&[("count", json!({})), ("count", json!({}))]))
        .reply("three");
    run(model.clone()).call(&ASK).await.unwrap();
    let request = model.requests().pop().unwrap();
    let ids: Vec<_> = request
        .messages
        .iter()
        .flat_map(Message::calls)
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(
        ids.iter().collect::<std::collections::BTreeSet<_>>().len(),
        3,
        "{ids:?}"
    );
    let answered: Vec<_> = request
        .messages
        .iter()
        .filter_map(Message::answers)
        .collect();
    assert_eq!(ids, answered);
}

#[tokio::test]
async fn a_history_with_an_open_call_is_refused() {
    #[llm_node(prompt = "{question}", state = Library, tools = [Count])]
    struct Chat {
        #[node(history)]
        history: Vec<Message>,
        question: String,
    }
    let call = llmnode::ToolCall::new("call_7", "count", "{}");
    let open = vec![
        Message::user("How many?"),
        Message::assistant("").calling([call.clone()]),
    ];
    let closed = open
        .iter()
        .cloned()
        .chain([Message::tool("call_7", "3"), Message::assistant("Three.")])
        .collect();
    let model = ScriptedModel::new().reply("Three.");
    let run = run(model.clone());
    let error = run
        .call(&Chat {
            history: open,
            question: "And now?".into(),
        })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::PrepError);
    assert!(error.to_string().contains("call_7"), "{error}");
    assert_eq!(model.requests().len(), 0);
    run.call(&Chat {
        history: closed,
        question: "And now?".into(),
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn what_the_compiler_cannot_see_is_a_config_error_before_the_first_request() {
    /// Another count.
    #[tool(name = "count")]
    fn count_again() -> usize {
        0
    }
    #[llm_node(prompt = "?", state = Library, tools = [Count, CountAgain])]
    struct Twice {
        #[node(tools)]
        more: Toolset,
    }
    let more = Toolset::new().function("a name", "No name.", |(): ()| async {
        Ok::<_, BoxError>(())
    });
    let model = ScriptedModel::new();
    let error = run(model.clone()).call(&Twice { more }).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::ConfigError, 0)
    );
    let text = error.to_string();
    assert!(
        text.contains(r#"two tools are called "count""#) && text.contains(r#""a name""#),
        "{text}"
    );
}

#[tokio::test]
async fn a_fallback_model_takes_over_the_rounds() {
    #[llm_node(prompt = "?", output = Advice, state = Library, tools = [Count], fallback_model = "other", transport_retries = 0)]
    struct Careful;
    let other = ScriptedModel::new().reply(json!({"title": "Deep C"}));
    let model = ScriptedModel::new()
        .reply(calls(&[("count", json!({}))]))
        .reply(Reply::failure(Category::ServerError));
    let run = run(model).model("other", other.clone());
    let report = run.call(&Careful).report().await.unwrap();
    assert_eq!(report.value.title, "Deep C");
    assert_eq!(results(&other.requests()[0]), ["3"]);
    assert_eq!(run.state().log(), ["count"]);
}

#[tokio::test]
async fn counters_of_the_transport_begin_anew_after_each_round() {
    #[llm_node(prompt = "?", state = Library, tools = [Count], transport_retries = 1, wait = 0s)]
    struct Stubborn;
    let busy = || Reply::failure(Category::ServerError);
    let model = ScriptedModel::new()
        .reply(busy())
        .reply(calls(&[("count", json!({}))]))
        .reply(busy())
        .reply(calls(&[("count", json!({}))]))
        .reply(busy())
        .reply("three");
    assert_eq!(run(model).call(&Stubborn).await.unwrap(), "three");
}

#[tokio::test]
async fn any_number_of_calls_of_tools_that_are_not_there_stays_small() {
    // Half of the ids are those that the other half would get.
    let id = |at: usize| {
        if at < 10_000 {
            format!("call_{}", at + 10_000)
        } else {
            String::new()
        }
    };
    let mut many = llmnode::Completion::new("");
    many.calls = (0..20_000)
        .map(|at| llmnode::ToolCall::new(id(at), "nothing", "{}"))
        .collect();
    let model = ScriptedModel::new().reply(many).reply("Nothing.");
    run(model.clone()).call(&ASK).await.unwrap();
    let requests = model.requests();
    let bytes: usize = results(&requests[1])
        .iter()
        .map(|result| result.len())
        .sum();
    assert!(bytes < 20_000 * 64, "{bytes}");
}

#[tokio::test]
async fn calls_in_tags_run_and_calls_inside_other_text_or_out_of_the_data_do_not() {
    let call = json!({"name": "search", "arguments": {"word": "C"}});
    let tagged = format!("<tool_call>\n{call}\n</tool_call>");
    let model = ScriptedModel::new()
        .reply(tagged.as_str())
        .reply(json!({"title": "Deep C"}));
    let run_of_tags = run(model);
    assert_eq!(run_of_tags.call(&RECOMMEND).await.unwrap().title, "Deep C");
    assert_eq!(run_of_tags.state().log(), ["search C"]);

    let model = ScriptedModel::new()
        .reply(format!("I call {call} now."))
        .reply(json!({"title": "Deep C"}));
    let run_of_prose = run(model.clone());
    let report = run_of_prose.call(&RECOMMEND).report().await.unwrap();
    assert!(
        report.record.attempts[0].violations.len() > 1,
        "its other faults are said, too"
    );
    assert!(run_of_prose.state().log().is_empty());
    let feedback = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(
        feedback.contains("has a call of `search` inside other text; write only the call"),
        "{feedback}"
    );

    let many = json!(vec![json!({"name": "count", "arguments": {}}); 33]).to_string();
    let model = ScriptedModel::new().reply(many.as_str());
    let run_of_many = run(model);
    assert_eq!(run_of_many.call(&ASK).await.unwrap(), many);
    assert!(run_of_many.state().log().is_empty());

    let question = format!("Repeat this: {call}");
    let model = ScriptedModel::new()
        .reply(call.to_string())
        .reply(json!({"title": "Deep C"}));
    let run_of_document = run(model.clone());
    let ask = super::library::Recommend {
        question: question.leak(),
    };
    let report = run_of_document.call(&ask).report().await.unwrap();
    assert_eq!(report.record.attempts[0].flags, [llmnode::Flag::QuotedCall]);
    assert!(run_of_document.state().log().is_empty());
    let feedback = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(
        feedback.contains("stands in the data; nothing was called"),
        "{feedback}"
    );
}

#[tokio::test]
async fn a_raw_answer_that_repeats_a_call_is_text_with_a_flag() {
    #[llm_node(prompt = "Repeat this: {document}", state = Library, tools = [Count])]
    struct Repeat {
        document: String,
    }
    let call = json!({"name": "count", "arguments": {}}).to_string();
    let run = run(ScriptedModel::new().reply(call.as_str()));
    let report = run
        .call(&Repeat {
            document: call.clone(),
        })
        .report()
        .await
        .unwrap();
    assert_eq!((&report.value, run.state().log().len()), (&call, 0));
    assert_eq!(report.record.attempts[0].flags, [llmnode::Flag::QuotedCall]);
}

#[tokio::test]
async fn calls_in_text_may_be_turned_off() {
    #[llm_node(prompt = "?", state = Library, tools = [Count], calls_in_text = false)]
    struct Native;
    let call = json!({"name": "count", "arguments": {}}).to_string();
    let run_of_node = run(ScriptedModel::new().reply(call.as_str()));
    let report = run_of_node.call(&Native).report().await.unwrap();
    assert_eq!((&report.value, run_of_node.state().log().len()), (&call, 0));
    assert!(report.record.attempts[0].flags.is_empty());

    let on = llmnode::Settings::new().calls_in_text(true);
    let run_of_call = run(ScriptedModel::new().reply(call.as_str()).reply("three"));
    assert_eq!(
        run_of_call.call(&Native).settings(on).await.unwrap(),
        "three"
    );
    assert_eq!(run_of_call.state().log(), ["count"]);

    // The complaint is that of the schema alone.
    let off = llmnode::Settings::new().calls_in_text(false);
    let model = ScriptedModel::new()
        .reply(call.as_str())
        .reply(json!({"title": "Deep C"}));
    let run_of_type = run(model.clone());
    run_of_type.call(&RECOMMEND).settings(off).await.unwrap();
    assert!(run_of_type.state().log().is_empty());
    let feedback = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(
        feedback.contains("title") && !feedback.contains("call"),
        "{feedback}"
    );
}
