//! Every example runs without a key and does what its first lines say, and every command that a page prints is there.

#![allow(
    clippy::expect_fun_call,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod commands;
mod pages;

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// An example that `cargo test` has built beside this test, without the environment's own settings.
fn example(example: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(example);
    assert!(
        path.exists(),
        "{} is not built: run `cargo test` as a whole, or `cargo build --examples`",
        path.display()
    );
    let mut command = Command::new(path);
    for variable in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"] {
        command.env_remove(variable);
    }
    command.env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs an example to its end.
fn run(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    example(name)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn quickstart_corrects_itself_and_its_sums_are_the_servers() {
    let output = run("quickstart", &[], &[]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let (first, second) = text
        .split_once("request 2, as the server logged it:")
        .expect(&text);
    let first = first
        .split_once("request 1, as the server logged it:")
        .expect(first)
        .1;
    assert!(
        second.starts_with(first),
        "request 2 begins with the messages of request 1: {text}"
    );
    assert!(
        second.contains(r#"assistant: {"item": "crowbar", "reason": ""}"#),
        "{text}"
    );
    assert!(
        second.contains(
            r#"- item: "crowbar" is not available; allowed: "brass key", "oil lamp", "rope""#
        ),
        "{text}"
    );
    assert!(
        second.contains("- reason: is empty"),
        "all violations: {text}"
    );
    let number = |after: &str| -> u64 {
        let rest = text.split_once(after).expect(&text).1;
        rest.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .unwrap()
    };
    let (ours, servers) = (
        number("{\"choose_item\": "),
        number("tokens by the server's log: "),
    );
    assert!(ours > 0 && ours == servers, "{text}");
    let shown = r#"  assistant: {"item": "crowbar", "reason": ""}
  user: That answer was not accepted:
    - item: "crowbar" is not available; allowed: "brass key", "oil lamp", "rope"
    - reason: is empty; say why in one sentence
    Answer again in full, with this corrected.
tokens by the server's log: 142
answer: brass key: A key opens a lock without breaking it.
in all: 2 requests, 142 tokens, cost 0.0000845
"#;
    assert!(text.ends_with(shown), "{text}");
}

#[test]
fn an_agent_with_a_server_of_its_own_answers() {
    let output = run("agent_mcp", &[], &[]);
    let expected = "notes_list ok\nnotes_read error\nnotes_read ok\nIt sails on Friday at noon.\n";
    assert_eq!(text(&output), expected);
}

#[test]
fn optimise_finds_examples_or_a_goal_and_says_what_they_are_worth() {
    for (arguments, written) in [(&[][..], "8 examples"), (&["reflect"], "0 examples")] {
        let output = run("optimise", arguments, &[]);
        let text = text(&output);
        assert!(output.status.success(), "{text}");
        assert!(
            text.contains("Before:\nsort: 0.462 (95 %: 0.232 to 0.709), 13 cases, 0 failed\n"),
            "{text}"
        );
        assert!(
            text.contains("validation 0.250 → 1.000: ") && text.contains(written),
            "{text}"
        );
        assert!(
            text.contains("\n0.462 → 1.000: +0.538 ") && text.ends_with("more than noise\n"),
            "{text}"
        );
    }
}

#[test]
fn the_docs_are_read_once_and_an_answer_cites_what_was_found() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-ask-docs-{}.db", std::process::id()));
    let ask = || {
        text(&run(
            "ask_docs",
            &[],
            &[("ASK_DOCS_DB", file.to_str().unwrap())],
        ))
    };
    let (first, second) = (ask(), ask());
    std::fs::remove_file(&file).unwrap();
    assert!(
        first.contains(" of ") && first.contains("] ") && first.contains("#]"),
        "a bar: {first}"
    );
    let line = |text: &str, with: &str| {
        text.lines()
            .find(|line| line.contains(with))
            .expect(text)
            .to_owned()
    };
    let (chunks, rest) = first
        .split_once(" new chunks, 0 kept, 0 replaced")
        .expect(&first);
    let chunks: usize = chunks.lines().last().unwrap().parse().unwrap();
    assert!(chunks > 100, "{first}");
    assert!(
        second.contains(&format!("0 new chunks, {chunks} kept, 0 replaced")),
        "{second}"
    );
    assert!(
        rest.contains("It is sent again after failures of the transport.\n["),
        "{rest}"
    );
    assert!(
        line(rest, "[").ends_with(".md]"),
        "the second answer cites what was found: {rest}"
    );
    assert!(line(rest, "embeddings: ").ends_with(" tokens"), "{rest}");
}

#[test]
fn quickstart_prints_its_ledger_as_json() {
    let output = run("quickstart", &["--json"], &[]);
    let ledger: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
    assert_eq!(ledger["format"], "llmnode/ledger");
    assert_eq!(ledger["nodes"]["choose_item"]["usage"]["requests"], 2);
    assert_eq!(
        ledger["calls"][0]["attempts"][0]["category"],
        "validation_error"
    );
    assert_eq!(ledger["calls"][0]["attempts"][1]["category"], Value::Null);
}

#[test]
fn quickstart_against_a_server_that_is_not_there_tells_so_and_exits_with_2() {
    // A port that was free a moment ago.
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let base_url = format!("http://{address}/v1");
    let environment = [
        ("OPENAI_BASE_URL", base_url.as_str()),
        ("OPENAI_MODEL", "m"),
    ];
    let output = run("quickstart", &[], &environment);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let told = format!("choose_item: network after 3 attempts: {address}: no connection");
    assert!(text.contains(&told), "{text}");
}

#[test]
fn extract_reads_the_invoice_and_corrects_the_total() {
    let output = run("extract", &[], &[]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("HL-2026-0417 of 3 September 2026 to The Ellery Sailing Club"),
        "{text}"
    );
    assert!(
        text.contains("  12 x Mooring line, 14 mm, 10 m at 31.50"),
        "{text}"
    );
    assert!(
        text.contains("total 769.20") && text.contains("read in 2 requests"),
        "{text}"
    );
}

#[test]
fn classify_keeps_the_order_and_goes_on_after_a_failure() {
    let output = run("classify", &[], &[]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let topics: Vec<_> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let expected = [
        "T-1 Billing",
        "T-2 Defect",
        "T-3 Wish",
        "T-4 Billing",
        "T-5 failed: refusal",
        "T-6 Defect",
        "T-7 Wish",
        "T-8 Other",
        "T-9 Defect",
        "T-10 Billing",
    ];
    assert_eq!(topics[..10], expected);
    assert!(
        topics[10].starts_with("9 of 10 sorted, 10 requests"),
        "{text}"
    );
}

#[test]
fn describe_image_sends_a_picture_between_texts() {
    let output = run("describe_image", &[], &[]);
    let text = text(&output);
    let lines: Vec<_> = text.lines().collect();
    assert!(output.status.success(), "{text}");
    assert_eq!(
        (lines.len(), lines[0]),
        (4, "A plain red square. (red)"),
        "{text}"
    );
    assert_eq!(
        lines[1],
        r#"part: {"type":"text","text":"What is this?\n"}"#
    );
    assert!(
        lines[2].contains(r#""url":"data:image/png;base64,iVBORw0KGgo"#),
        "{text}"
    );
    assert_eq!(
        lines[3],
        r#"part: {"type":"text","text":"\nAnswer in English."}"#
    );
}

#[test]
fn text_prints_what_the_model_said() {
    let output = run("text", &["a lighthouse keeper"], &[]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Every night he lit the lamp with his back to the water.\n"
    );
}

/// The rows bring what they expect, which the command never reads.
#[test]
fn cases_tells_what_came_of_each_fault() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/faults.jsonl");
    let output = run("cases", &[file], &[]);
    assert!(output.status.success(), "{}", text(&output));
    let rows: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).expect(id);
    let mut scored = 0;
    let expected = std::fs::read_to_string(file).unwrap();
    for given in expected
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        let Some(expected) = given["expect"].as_object() else {
            continue;
        };
        let row = row(given["id"].as_str().unwrap());
        for member in ["category", "first", "retry", "requests"] {
            assert_eq!(row[member], expected[member], "{member}: {row}");
        }
        if let Some(usage) = expected.get("usage") {
            let known =
                ["input", "output", "total", "unreported"].map(|name| row["usage"][name].clone());
            assert_eq!(Value::from(known.to_vec()), *usage, "{row}");
        }
        if let Some(least) = expected.get("min_wait_ms") {
            assert!(row["waits_ms"][0].as_f64() >= least.as_f64(), "{row}");
        }
        if let Some(flags) = expected.get("flags") {
            assert_eq!(row["flags"], *flags, "{row}");
        }
        assert_eq!(row["key_leaks"], 0, "{row}");
        scored += 1;
    }
    assert!(scored > 90, "{scored}");
    // The word is in what a refused connection says, so that this shows that leaks are seen.
    assert!(row("a secret that is none")["key_leaks"].as_u64() > Some(0));
}

/// What of a row's expectation the answer does not have.
fn differences(expected: &Value, answer: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for member in [
        "outcome",
        "text",
        "reasoning",
        "finish",
        "category",
        "retry",
    ] {
        if !expected[member].is_null() && expected[member] != answer[member] {
            wrong.push(format!(
                "{member}: {} for {}",
                answer[member], expected[member]
            ));
        }
    }
    if answer["wait_s"].as_f64() < expected["wait_s"].as_f64() {
        wrong.push(format!("wait_s: {}", answer["wait_s"]));
    }
    // A call of which nobody recorded the id has one of ours.
    let called = |call: &Value, with_id: bool| {
        (
            call["name"].clone(),
            call["arguments"].clone(),
            with_id.then(|| call["id"].clone()),
        )
    };
    let calls = list(&expected["calls"]);
    let with_ids = calls.iter().any(|call| call.get("id").is_some());
    let called = |calls: Vec<Value>| {
        calls
            .iter()
            .map(|call| called(call, with_ids))
            .collect::<Vec<_>>()
    };
    if called(calls) != called(list(&answer["calls"])) {
        wrong.push(format!("calls: {}", answer["calls"]));
    }
    match expected["usage"].as_object() {
        Some(usage) => {
            let members = ["input", "output", "cached", "cache_write", "reasoning"];
            for member in members
                .into_iter()
                .chain(usage.contains_key("total").then_some("total"))
            {
                if usage.get(member).unwrap_or(&Value::Null) != &answer["usage"][member] {
                    wrong.push(format!("usage: {}", answer["usage"]));
                }
            }
        }
        None if !answer["usage"].is_null() => wrong.push(format!("usage: {}", answer["usage"])),
        None => {}
    }
    let mut echo = list(&answer["echo"]).into_iter();
    for part in list(&expected["echo"]) {
        if !echo.any(|one| one == part) {
            wrong.push(format!("echo: {part} is not in {}", answer["echo"]));
        }
    }
    wrong
}

/// W30: recorded answers, which are kept outside of the repository.
#[test]
fn cases_reads_recorded_answers_as_they_were_judged() {
    let Some(folder) = std::env::var_os("LLMNODE_CASES") else {
        return;
    };
    let file = PathBuf::from(folder).join("wires.jsonl");
    let output = run("cases", &[file.to_str().unwrap()], &[]);
    assert!(output.status.success(), "{}", text(&output));
    let rows = std::fs::read_to_string(file).unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let mut wrong = Vec::new();
    for (row, answer) in rows.lines().zip(answers.lines()) {
        let (row, answer): (Value, Value) = (
            serde_json::from_str(row).unwrap(),
            serde_json::from_str(answer).unwrap(),
        );
        assert_eq!(row["id"], answer["id"]);
        wrong.extend(
            differences(&row["expect"], &answer)
                .iter()
                .map(|fault| format!("{}: {fault}", row["id"])),
        );
    }
    assert_eq!(
        (rows.lines().count(), wrong),
        (answers.lines().count(), Vec::new())
    );
}

#[test]
fn cases_says_why_a_row_is_not_run_and_goes_on() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-cases-{}.jsonl", std::process::id()));
    let rows = [
        &b"\xEF\xBB\xBF{\"id\": 1, \"client\": {\"tools\": []}, \"server\": {}}\r\n"[..],
        b"{\"id\": 2}\n\n",
        b"{\"id\": 3, \"server\":\n",
        b"\xFF\n",
        b"[]\n",
        b"{\"id\": 4, \"server\": {\"connection\": \"by pigeon\"}}\n",
        b"{\"id\": 5, \"server\": {\"body_text\": \"@every:1ms:\"}}\n",
        b"{\"id\": 6, \"server\": {\"body_text\": \"@repeat::1GiB\"}}\n",
        b"{\"id\": 7, \"client\": {\"api_key\": \"k\", \"base_url\": \"https://models.example\"}, \"server\": {}}\n",
        b"{\"id\": 8, \"client\": 5, \"server\": {\"status\": 500, \"headers\": 7, \"unknown\": {}}}\n",
        b"{\"id\": 9, \"input\": \"so: {'a': 1}\"}",
    ];
    std::fs::write(&file, rows.concat()).unwrap();
    let output = run("cases", &[file.to_str().unwrap()], &[]);
    std::fs::remove_file(&file).unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let says = |index: usize, word: &str| {
        let row = &rows[index];
        let why = row["error"]
            .as_str()
            .or(row["skipped"].as_str())
            .expect(&lines);
        assert!(why.contains(word), "{row}");
    };
    says(0, "tools");
    says(1, "unsupported");
    for (index, line) in [(2, 4), (3, 5), (4, 6)] {
        says(index, "not");
        assert_eq!(
            (&rows[index]["id"], &rows[index]["line"]),
            (&Value::Null, &line.into()),
            "{lines}"
        );
    }
    says(5, "by pigeon");
    says(6, "no text");
    says(7, "nothing to repeat");
    says(8, "another machine");
    assert_eq!(rows[9]["category"], "server_error", "{lines}");
    let read = serde_json::json!({"id": 9, "value": {"a": 1}, "flags": ["in_prose", {"repaired": "quotes"}]});
    assert_eq!(rows[10], read, "{lines}");
}

/// What an example prints that reads its standard input.
fn talk(name: &str, input: &[u8]) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = example(name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn chat_sends_what_was_said_before() {
    let said = "You said: I am Ada.\nYou said: I like maps. And before: I am Ada.\n\
                You said: Who am I? And before: I am Ada. I like maps.\n";
    assert_eq!(
        talk("chat", b"I am Ada.\n\n I like maps. \nWho am I?\n"),
        said
    );
}

/// What a flow of the examples prints.
fn flow(name: &str) -> Vec<String> {
    let output = run(name, &[], &[]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn flow_agent_searches_until_it_knows_enough() {
    let expected = [
        "search: north light reaches",
        "answer: The north light reaches 26 sea miles; its lens was ground in Paris.",
        "requests of gather: 2",
    ];
    assert_eq!(flow("flow_agent"), expected);
}

#[test]
fn a_graph_from_a_file_runs_each_of_its_nodes() {
    let expected = [
        "list: 1 visits, 1 requests",
        "each: 3 visits, 0 requests",
        "write: 2 visits, 2 requests",
        "sum: 1 visits, 1 requests",
        r#"answer: ["Of its light much is known.","Of its keeper much is known."]"#,
    ];
    assert_eq!(flow("graph"), expected);
}

#[test]
fn flow_judge_sends_the_complaint_back_to_the_writer() {
    assert_eq!(
        flow("flow_judge"),
        [
            "round 1: not yet",
            "round 2: good enough",
            "Come up. See far."
        ]
    );
}

#[test]
fn flow_parallel_gathers_in_the_order_of_the_flow() {
    let expected = [
        "weather: Wind from the west, dry.",
        "news: The ferry is late again.",
        "tides: High water at eleven today.",
        "brief: A dry and windy day, a late ferry, and high water at eleven.",
        "Gather: 3 requests",
        "Brief: 1 requests",
    ];
    assert_eq!(flow("flow_parallel"), expected);
}

#[test]
fn flow_map_reduce_sums_up_each_file_and_falls_back_for_one() {
    let expected = [
        "east: 97 visitors, to do: find a keeper",
        "north: 412 visitors, to do: a new handrail",
        "south: 0 visitors, to do: read it yourself",
        "509 visitors in all; The handrail is most urgent.",
    ];
    assert_eq!(flow("flow_map_reduce"), expected);
}

#[test]
fn flow_map_reduce_tells_which_folder_cannot_be_read() {
    let output = run("flow_map_reduce", &["no/such/folder"], &[]);
    assert!(!output.status.success());
    assert!(
        text(&output).contains("no/such/folder"),
        "{}",
        text(&output)
    );
}

#[test]
fn flow_vote_takes_what_most_say() {
    assert_eq!(flow("flow_vote"), ["3 of 5: 8", "2 of 5: 10", "answer: 8"]);
}

#[test]
fn flow_translate_runs_once_for_each_file_and_language() {
    let pages = [
        ("hours", "The tower is open from April to October."),
        (
            "prices",
            "Children under six years climb the stairs for free.",
        ),
    ];
    let expected = pages.map(|(file, text)| {
        ["German", "French", "Danish"]
            .map(|language| format!("{file}, {language}: ({language}) {text}"))
    });
    assert_eq!(flow("flow_translate"), expected.concat());
}

#[test]
fn flow_chat_goes_round_until_the_input_ends() {
    let expected = "You told me 1 things, the last of them: I am Ada.\n\
                    You told me 2 things, the last of them: I like maps.\n4 messages\n";
    assert_eq!(talk("flow_chat", b"I am Ada.\nI like maps.\n"), expected);
}

#[test]
fn agent_searches_lends_and_answers() {
    let output = run("agent", &[], &[]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            r#"call_1 search({"word":"sea"})"#,
            "call_1 ok",
            r#"call_2 lend({"title":"The Sea Around"})"#,
            r#"call_3 praise({"title":"The Sea Around Us"})"#,
            "call_2 invalid_arguments",
            "call_3 ok",
            r#"call_4 lend({"title":"The Sea Around Us"})"#,
            "call_4 ok",
            "The Sea Around Us: It makes the ocean a neighbour.",
            r#"lent: ["The Sea Around Us"]"#,
            "requests: 5 (4 of the librarian)",
        ]
    );
}

/// The example is killed while it asks, and again after one decision; it goes on where it was.
#[cfg(feature = "journal")]
#[test]
fn agent_approval_survives_its_own_kill() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::Stdio;
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-approval-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    let start = || {
        let mut child = example("agent_approval");
        child
            .arg(&place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        child.spawn().unwrap()
    };
    // Killed as it asks for the first time.
    let mut first = start();
    let mut told = BufReader::new(first.stdout.take().unwrap());
    let mut list = String::new();
    told.read_line(&mut list).unwrap();
    assert_eq!(list, "list: draft-1.txt draft-2.txt letter.txt\n");
    let mut asks = [0; 30];
    told.read_exact(&mut asks).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&asks),
        r#"delete({"name":"draft-1.txt"})?"#[..30]
    );
    first.kill().unwrap();
    first.wait().unwrap();

    let mut second = start();
    second
        .stdin
        .take()
        .unwrap()
        .write_all(b"y\nit is a memory\n")
        .unwrap();
    let output = second.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert_eq!(
        told,
        "delete({\"name\":\"draft-1.txt\"})? delete({\"name\":\"draft-2.txt\"})? deleted: draft-1.txt\n\
         I deleted 1 files.\nrequests: 3\n"
    );
    assert!(!place.exists());
}
