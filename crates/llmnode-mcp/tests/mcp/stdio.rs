//! Servers as child processes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use llmnode_mcp::{Mcp, McpServer};
use llmnode_runtime::{Category, DynNode, Reply, Run, ScriptedModel};
use serde_json::json;

use crate::{result, results};

/// A server with a log of what it was sent.
struct Scripted {
    log: PathBuf,
    mcp: Mcp,
}

fn scripted(test: &str, mode: &str) -> Scripted {
    let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.log"));
    let _ = std::fs::remove_file(&log);
    let arguments = [
        "child",
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ];
    let mcp = Mcp::stdio(std::env::current_exe().unwrap(), arguments)
        .name("s")
        .env("MODE", mode)
        .env("LOG", &log);
    Scripted { log, mcp }
}

impl Scripted {
    async fn connect(&self) -> McpServer {
        self.mcp.clone().connect().await.unwrap()
    }

    /// The messages that it was sent: process, method, tool.
    fn log(&self) -> Vec<(u32, String)> {
        let text = std::fs::read_to_string(&self.log).unwrap();
        let line = |line: &str| {
            let (process, rest) = line.split_once(' ').unwrap();
            (process.parse().unwrap(), rest.trim().to_owned())
        };
        // The last line may be under way.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(line)
            .collect()
    }

    fn count(&self, message: &str) -> usize {
        self.log().iter().filter(|(_, one)| one == message).count()
    }

    /// Waits until no process of this server is left.
    async fn ends(&self) {
        let begun = Instant::now();
        while self.log().iter().any(|(process, _)| is_alive(*process)) {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "a process is left"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Whether a process is there, zombies included.
fn is_alive(process: u32) -> bool {
    if cfg!(target_os = "linux") {
        PathBuf::from(format!("/proc/{process}")).exists()
    } else {
        false
    }
}

#[tokio::test]
async fn an_agent_calls_its_tools() {
    let scripted = scripted("calls", "");
    let server = scripted.connect().await;
    let calls = [
        ("s_add", json!({"a": 2, "b": 40})),
        ("s_fail", json!({})),
        ("s_image", json!({})),
        ("s_link", json!({})),
        ("s_structured", json!({})),
        ("s_none", json!({})),
        ("s_refuse", json!({})),
    ];
    let told = results(server.tools(), &calls).await;
    let expected = [
        "42",
        "the disk is full",
        "A dot:",
        "secrets: file:///etc/passwd",
        r#"{"degrees":21}"#,
        "done",
        "no  such thing, token-1234567890",
    ];
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{told:?} lacks {expected:?}");
    }
    assert_eq!(told.len(), calls.len());
}

#[tokio::test]
async fn an_image_is_shown_to_the_model() {
    let server = scripted("image", "").connect().await;
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("s_image", json!({})))
        .reply(r#"{"value": "a dot"}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("What is it?"))
        .await
        .unwrap();
    let images = model.requests()[1]
        .messages
        .iter()
        .map(|message| message.attachments().count())
        .sum::<usize>();
    assert_eq!(images, 1);
}

#[tokio::test]
async fn structured_content_stays_beside_an_image() {
    let server = scripted("beside", "broken").connect().await;
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("s_second", json!({})))
        .reply(r#"{"value": "36"}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("What is it?"))
        .await
        .unwrap();
    let messages = model.requests()[1].messages.clone();
    let result = messages
        .iter()
        .find(|message| message.answers().is_some())
        .unwrap();
    assert_eq!(result.content, r#"{"total":36}"#);
    assert_eq!(
        messages
            .iter()
            .map(|message| message.attachments().count())
            .sum::<usize>(),
        1
    );
}

#[tokio::test]
async fn arguments_are_checked_before_the_server_is_asked() {
    let scripted = scripted("arguments", "");
    let server = scripted.connect().await;
    let told = result(&server, "s_add", json!({"a": "two", "b": -1})).await;
    assert!(told.contains("a: ") && told.contains("b: "), "{told}");
    let told = result(&server, "s_add", json!({"a": 2})).await;
    assert!(told.contains("missing property `b`"), "{told}");
    assert_eq!(scripted.count("tools/call add"), 0);
}

#[tokio::test]
async fn a_child_sees_six_variables_and_what_the_program_gives() {
    // Cargo sets dozens of variables for a test.
    let server = scripted("environment", "")
        .mcp
        .env("OWN", "1")
        .connect()
        .await
        .unwrap();
    let seen = result(&server, "s_environment", json!({})).await;
    let allowed = [
        "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "MODE", "LOG", "OWN",
    ];
    assert!(
        seen.split(' ').all(|name| allowed.contains(&name)),
        "{seen}"
    );
    assert!(
        seen.contains("OWN") && std::env::vars().count() > allowed.len(),
        "{seen}"
    );
}

#[tokio::test]
async fn names_and_descriptions_are_cleaned() {
    let server = scripted("dirty", "dirty").connect().await;
    let model = ScriptedModel::new().reply(r#"{"value": ""}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("Go."))
        .await
        .unwrap();
    let tool = model.requests()[0].tools[0].clone();
    assert_eq!(tool.name, "s_a_tool_");
    assert!(
        tool.description.starts_with("Reads.xxx") && tool.description.len() < 1100,
        "{}",
        tool.description.len()
    );
}

#[tokio::test]
async fn what_nobody_sees_goes_from_texts_and_a_tool_that_compares_it_is_left_out() {
    let model = ScriptedModel::new().reply(r#"{"value": ""}"#);
    let server = scripted("hidden", "hidden").connect().await;
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("Go."))
        .await
        .unwrap();
    let tools = model.requests()[0].tools.clone();
    assert_eq!(
        tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["s_seen"]
    );
    let schema = tools[0].schema.plain().get();
    assert!(
        schema.contains("\"xy\"") && schema.contains("[\"z\"]"),
        "{schema}"
    );
}

#[tokio::test]
async fn the_pages_of_a_list_are_bounded_together() {
    let server = scripted("pages", "pages").connect().await;
    let model = ScriptedModel::new().reply(r#"{"value": ""}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("Go."))
        .await
        .unwrap();
    assert_eq!(
        model.requests()[0].tools.len(),
        3,
        "of 1 MiB each, 4 MiB with what is around them"
    );
}

#[tokio::test]
async fn of_two_tools_of_one_name_the_second_is_left_out() {
    let both = scripted("clash", "clash").connect().await;
    let reason = "it would be called `s_a_b`, as \"a_b\" is; choose one of them with `only`";
    assert_eq!(both.left_out()["a_b"], reason);
    assert_eq!(result(&both, "s_a_b", json!({})).await, "done");
    let server = scripted("clash_only", "clash")
        .mcp
        .only(["a b"])
        .connect()
        .await
        .unwrap();
    // The same tool of two servers with one name.
    let twice = server.tools().with(server.tools());
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(twice)
        .build()
        .unwrap();
    let fault = Run::new(ScriptedModel::new())
        .call(&agent.ask("Go."))
        .await
        .unwrap_err();
    assert!(
        fault.message().contains("two tools are called \"s_a_b\""),
        "{fault}"
    );
    // Names keep two servers apart.
    let other = scripted("clash_other", "clash")
        .mcp
        .name("t")
        .only(["a b"])
        .connect()
        .await
        .unwrap();
    let told = results(
        server.tools().with(other.tools()),
        &[("s_a_b", json!({})), ("t_a_b", json!({}))],
    )
    .await;
    assert_eq!(told, ["done", "done"]);
}

#[tokio::test]
async fn settings_that_do_not_fit_are_named() {
    let fault = |mcp: Mcp| async { mcp.connect().await.unwrap_err().to_string() };
    let said = fault(scripted("only", "").mcp.only(["ad"])).await;
    assert!(
        said.contains("`only` names [\"ad\"]") && said.contains("\"add\""),
        "{said}"
    );
    let said = fault(scripted("approval", "").mcp.require_approval(["ad"])).await;
    assert!(said.contains("`require_approval` names \"ad\""), "{said}");
    let said = fault(scripted("many", "many").mcp).await;
    assert!(said.contains("more than 128 tools"), "{said}");
    let said = fault(scripted("bearer", "").mcp.bearer_env("TOKEN")).await;
    assert!(
        said.contains("give a program its token with `env`"),
        "{said}"
    );
    let said = fault(Mcp::stdio("no-such-program", [""; 0])).await;
    assert!(
        said.contains("`no-such-program` cannot be started"),
        "{said}"
    );
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_told_with_its_last_words() {
    let mcp = scripted("refuses", "refuses")
        .mcp
        .env("KEY", "key-1234567890");
    let fault = mcp.connect().await.unwrap_err();
    assert_eq!(fault.category(), Category::Network);
    let said = "its log ends with: no folder `notes` the key [redacted] is not accepted";
    assert!(fault.message().ends_with(said), "{fault}");
    assert!(
        fault.message().starts_with("the MCP server `s`: "),
        "{fault}"
    );
}

/// A server may say again what it was given.
#[tokio::test]
async fn a_key_of_the_environment_is_in_no_result() {
    let mcp = scripted("says its key", "").mcp;
    let mcp = mcp
        .env("API_KEY", "token-1234567890")
        .env("FOLDER", "such thing");
    let server = mcp.connect().await.unwrap();
    let told = result(&server, "s_refuse", json!({})).await;
    assert!(told.contains("no  such thing, [redacted]"), "{told}");
}

/// A server may build what it says of its tools from its settings.
#[tokio::test]
async fn a_key_of_the_environment_is_in_no_tool() {
    let mcp = scripted("lists its key", "lists its key").mcp;
    // A password that is a word stays in names: `seen` has it as one of a parameter.
    let mcp = mcp
        .env("API_KEY", "token-1234567890")
        .env("DB_PASSWORD", "password")
        .require_approval(["seen"]);
    let server = mcp.connect().await.unwrap();
    let model = ScriptedModel::new().reply(r#"{"value": ""}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("Go."))
        .await
        .unwrap();
    let tools = model.requests()[0].tools.clone();
    assert_eq!(
        tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(),
        ["s_seen"]
    );
    let schema = tools[0].schema.plain().get();
    for told in [&tools[0].description, schema] {
        assert!(
            told.contains("[redacted]") && !told.contains("token-1234567890"),
            "{told}"
        );
    }
    let left_out: Vec<_> = server.left_out().into_keys().collect();
    assert_eq!(left_out, ["_redacted_", "value"]);
}

/// rmcp keeps each response until it is sent: here, until the program reads again.
#[tokio::test]
async fn a_program_that_pings_without_end_gets_few_responses() {
    let server = scripted("pings", "pings").connect().await;
    let pongs = result(&server, "s_none", json!({})).await;
    let pongs: usize = pongs.trim().parse().unwrap();
    assert!(pongs < 5_000, "{pongs} of 50,000");
}

/// Logs are JSON, and end anywhere.
#[tokio::test]
async fn no_part_of_a_key_is_among_the_last_words_of_a_program() {
    let line = "MIIEvQ".repeat(10);
    let lines = format!("-----BEGIN KEY-----\nMIIEvQ\"{line}\n");
    for (mode, key) in [
        ("refuses in JSON", &*lines),
        ("refuses with a long line", &line),
        (
            "refuses with a long line",
            "a password of words MIIEvQMIIEvQ",
        ),
    ] {
        let mcp = scripted(mode, mode).mcp.env("KEY", key);
        let fault = mcp.connect().await.unwrap_err();
        assert!(!fault.message().contains("MIIEvQ"), "{mode}: {fault}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_told_in_time_and_ended() {
    let scripted = scripted("hangs", "hangs");
    let fault = scripted
        .mcp
        .clone()
        .connect_timeout(Duration::from_millis(500))
        .connect()
        .await
        .unwrap_err();
    assert_eq!(fault.category(), Category::Timeout);
    assert!(
        fault.message().contains("does not list its tools"),
        "{fault}"
    );
    scripted.ends().await;
}

/// Of the newest protocol, and older ones that do not expect its first message.
#[tokio::test]
async fn servers_of_every_protocol_are_connected() {
    for (mode, version, processes) in [
        ("modern", "2026-07-28", 1),
        ("", "2025-11-25", 1),
        ("empty", "2025-11-25", 1),
        ("silent", "2025-11-25", 1),
        ("late", "2025-11-25", 1),
        ("dies", "2025-11-25", 2),
    ] {
        let scripted = scripted(&format!("protocol-{mode}"), mode);
        let server = scripted
            .mcp
            .clone()
            .connect_timeout(Duration::from_secs(6))
            .connect()
            .await
            .unwrap();
        assert!(
            format!("{server:?}").contains(&format!("protocol: \"{version}\"")),
            "{mode}: {server:?}"
        );
        assert_eq!(
            result(&server, "s_add", json!({"a": 1, "b": 1})).await,
            "2",
            "{mode}"
        );
        let started: BTreeSet<u32> = scripted
            .log()
            .into_iter()
            .map(|(process, _)| process)
            .collect();
        assert_eq!(started.len(), processes, "{mode}");
    }
}

#[tokio::test]
async fn a_tool_a_page_and_a_block_that_cannot_be_read_cost_no_other() {
    let server = scripted("broken", "broken").connect().await;
    let left_out = server.left_out();
    for (name, reason) in [
        ("bad", "it has no inputSchema"),
        ("null", "its inputSchema is null, not an object"),
        (
            "int",
            "its schema cannot be used: `properties.n.type` is \"int\", must be one of null, boolean, integer, number, string, array, object",
        ),
        (
            "nulls",
            "its schema cannot be used: `properties` is null, must be an object of schemas",
        ),
        (
            "look",
            "it would be called `s_look`, as \"look\" is; choose one of them with `only`",
        ),
        ("tool 6", "it has no name"),
        (
            "tools/list",
            "the rest of the list cannot be read: it refused the request: its list of tools is no list",
        ),
    ] {
        assert_eq!(left_out[name], reason, "{left_out:?}");
    }
    assert_eq!(left_out.len(), 7, "{left_out:?}");
    let told = results(
        server.tools(),
        &[("s_look", json!({})), ("s_second", json!({}))],
    )
    .await;
    let missing = "[a block of the type `video` was left out: no such type is known]";
    assert_eq!(
        told,
        [format!("fine\n{missing}"), "{\"total\":36}".to_owned()]
    );
    let named = scripted("broken-only", "broken")
        .mcp
        .only(["bad"])
        .connect()
        .await
        .unwrap_err();
    assert!(
        named
            .message()
            .contains("`only` names \"bad\", which was left out: it has no"),
        "{named}"
    );
    let waits = scripted("broken-waits", "broken")
        .mcp
        .require_approval(["bad"])
        .connect()
        .await;
    assert!(waits.is_ok(), "nobody calls it");
}

#[tokio::test]
async fn a_list_that_goes_round_ends() {
    let server = scripted("round", "round").connect().await;
    assert_eq!(
        server.left_out()["tools/list"],
        "the list begins again: a cursor came twice"
    );
    assert_eq!(result(&server, "s_one", json!({})).await, "done");
}

#[tokio::test]
async fn a_call_that_hangs_is_cancelled_and_told() {
    let scripted = scripted("slow", "");
    let server = scripted
        .mcp
        .clone()
        .call_timeout(Duration::from_millis(300))
        .connect()
        .await
        .unwrap();
    let told = result(&server, "s_slow", json!({})).await;
    assert!(told.contains("no result within 300ms"), "{told}");
    let told = result(&server, "s_add", json!({"a": 1, "b": 1})).await;
    assert_eq!(told, "2");
    assert_eq!(
        (
            scripted.count("tools/call slow"),
            scripted.count("notifications/cancelled")
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn a_server_that_dies_is_told_and_connected_again_and_no_call_is_repeated() {
    let scripted = scripted("dies", "");
    let server = scripted.connect().await;
    let told = result(&server, "s_die", json!({})).await;
    assert!(
        told.contains("was lost, and it may have been executed"),
        "{told}"
    );
    assert_eq!(result(&server, "s_add", json!({"a": 1, "b": 1})).await, "2");
    assert_eq!(
        (
            scripted.count("tools/call die"),
            scripted.count("initialize")
        ),
        (1, 2)
    );
}

#[tokio::test]
async fn a_server_that_floods_is_bounded() {
    let server = scripted("floods", "")
        .mcp
        .call_timeout(Duration::from_secs(3))
        .connect()
        .await
        .unwrap();
    let told = result(&server, "s_flood", json!({})).await;
    assert!(told.contains("no result within 3s"), "{told}");
    // On a busy machine, what was sent before may take longer than a call.
    for _ in 0..10 {
        if result(&server, "s_none", json!({})).await == "done" {
            return;
        }
    }
    panic!("nothing is called any more");
}

#[tokio::test]
async fn hints_decide_nothing_and_approval_waits() {
    let scripted = scripted("waits", "");
    let server = scripted
        .mcp
        .clone()
        .require_approval(["add"])
        .connect()
        .await
        .unwrap();
    let model = ScriptedModel::new().reply(Reply::text("").call("s_add", json!({"a": 1, "b": 1})));
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    let error = Run::new(model).call(&agent.ask("Go.")).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused);
    assert_eq!(scripted.count("tools/call add"), 0);
}

#[tokio::test]
async fn a_list_counts_from_refresh_on() {
    let scripted = scripted("refresh", "");
    let server = scripted.connect().await;
    assert_eq!(scripted.count("tools/list"), 1);
    let _ = (server.tools(), server.refresh().await.unwrap());
    assert_eq!(scripted.count("tools/list"), 2);
}

#[tokio::test]
async fn close_waits_until_the_program_is_gone() {
    let scripted = scripted("closes", "stays");
    let server = scripted.connect().await;
    server.close().await;
    assert!(
        scripted
            .log()
            .iter()
            .all(|(process, _)| !is_alive(*process))
    );
}

/// It does not take the whole of a long call, so that its input cannot be closed.
#[tokio::test]
async fn a_program_that_reads_nothing_more_is_ended() {
    let scripted = scripted("reads-no-more", "reads no more");
    let server = scripted
        .mcp
        .clone()
        .call_timeout(Duration::from_millis(300))
        .connect()
        .await
        .unwrap();
    let long = json!({"text": "x".repeat(1 << 20)});
    let told = result(&server, "s_none", long).await;
    assert!(told.contains("no result within 300ms"), "{told}");
    server.close().await;
    assert!(
        scripted
            .log()
            .iter()
            .all(|(process, _)| !is_alive(*process))
    );
}

/// Half of the runs are dropped in the middle of a call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_and_no_call_is_left_behind() {
    let runs: u32 = std::env::var("LLMNODE_MCP_RUNS").map_or(20, |runs| runs.parse().unwrap());
    for at in 0..runs {
        let scripted = scripted(&format!("run{at}"), "");
        let server = scripted.connect().await;
        let tool = if at % 2 == 0 { "s_slow" } else { "s_none" };
        let model = ScriptedModel::new()
            .reply(Reply::text("").call(tool, json!({})))
            .reply(r#"{"value": ""}"#);
        let run = Run::new(model);
        let agent = DynNode::builder("agent")
            .output::<String>()
            .tools(server.tools())
            .build()
            .unwrap();
        let question = agent.ask("Go.");
        let mut call = Box::pin(run.call(&question).into_future());
        if at % 2 == 0 {
            while scripted.count("tools/call slow") == 0 {
                assert!(
                    tokio::time::timeout(Duration::from_millis(20), &mut call)
                        .await
                        .is_err()
                );
            }
            drop(call);
            while scripted.count("notifications/cancelled") == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } else {
            call.await.unwrap();
        }
        let nodes = run.ledger().snapshot().nodes;
        assert_eq!((nodes["agent"].visits, nodes[tool].visits), (1, 1));
        drop((server, agent, question));
        scripted.ends().await;
    }
}
