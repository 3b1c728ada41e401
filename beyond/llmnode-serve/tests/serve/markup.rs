//! What files, models and tools say is text on every panel: nothing becomes an element, an attribute or a script.

use llmnode_graph::Registry;
use llmnode_runtime::{BoxError, Reply, ScriptedModel, Toolset};
use llmnode_serve::serve;
use serde_json::{Value, json};

use crate::client::{Events, Folder, get, post};
use crate::dom::Dom;

const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</textarea><script>alert(1)</script>",
    "</pre><iframe src=javascript:alert(1)></iframe>",
    "</title></style><svg onload=alert(1)>",
    "</button><button value=yes>Yes</button>",
    "</form><form data-decide=\"x\" data-pause=\"1.1\"><input name=why>",
    "<!--",
    "<![CDATA[<b>]]>",
    "&lt;b&gt;&#60;b&#62;",
    "javascript:alert(1)",
    "\n\n<base href=//evil.example>",
    "\r\0\u{202e}\u{feff}\u{2028}\ndata: {\"panel\": \"waiting\", \"html\": \"<b>\"}\n\n",
];

/// What the panels are made of.
const ELEMENTS: [&str; 43] = [
    "html", "head", "body", "meta", "title", "link", "script", "div", "p", "span", "a", "h1", "h2",
    "h3", "header", "main", "nav", "section", "details", "summary", "pre", "code", "ul", "li",
    "table", "tbody", "tr", "th", "td", "form", "label", "input", "textarea", "select", "option",
    "button", "iframe", "noscript", "svg", "g", "rect", "path", "text",
];

/// In pictures.
const DRAWN: [&str; 4] = ["defs", "marker", "circle", "desc"];

fn check(what: &str, html: &str) {
    let dom = Dom::of(html);
    for element in &dom.elements {
        assert!(
            ELEMENTS.contains(&&**element) || DRAWN.contains(&&**element),
            "{what}: <{element}> in {html}"
        );
    }
    for (element, name, value) in &dom.attributes {
        assert!(
            !name.starts_with("on") && name != "style" && name != "srcdoc",
            "{what}: {element} {name}"
        );
        match &**name {
            "src" => assert!(
                value == "/script.js" || value.starts_with("/pages/"),
                "{what}: {value}"
            ),
            "href" => {
                let is_own = value.starts_with('#')
                    || value.starts_with("/pages/")
                    || value.starts_with("/file/");
                assert!(is_own || value == "/style.css", "{what}: {value}");
            }
            _ => {}
        }
    }
    let count = |name: &str| {
        dom.elements
            .iter()
            .filter(|element| *element == name)
            .count()
    };
    assert!(
        count("script") <= 1 && count("iframe") <= 1,
        "{what}: {html}"
    );
    if what == "waiting" {
        assert_eq!(
            (count("form"), count("button"), count("textarea")),
            (1, 2, 1),
            "{html}"
        );
    }
}

/// A graph, a model and a tool that say it wherever they may.
async fn said_everywhere(folder: &Folder, said: &'static str) {
    let graph = json!({
        "format": "llmnode/graph", "version": 1, "name": said,
        "inputs": {
            "text": {"type": "string", "description": said, "default": said},
            "choice": {"enum": [said, "b"], "description": said},
            "number": {"type": "integer", "default": 1, "description": said},
        },
        "nodes": [{"id": "payer", "type": "agent", "data": {
            "label": said, "prompt": "{{ text }} {{ choice }} {{ number }}", "system_prompt": said, "tools": ["pay"],
            "save_as": "answer",
        }}],
        "edges": [{"source": "payer", "target": "END"}],
    });
    let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
    let pay = Toolset::new().json_function("pay", said, schema, move |_: Value| async move {
        Ok::<_, BoxError>(said.to_owned())
    });
    let call = Reply::text(said).call("pay", json!({"to": said, said: said}));
    let model = ScriptedModel::new().reply(call).reply(said);
    let registry = Registry::new()
        .tools(pay.require_approval())
        .build()
        .unwrap();
    let served = serve(registry)
        .file(folder.write(&graph.to_string()))
        .model(model)
        .start()
        .await
        .unwrap();
    check("page", &get(&served, "/", "").await.1);

    let mut events = Events::open(&served).await;
    let inputs = json!({"text": said, "choice": said, "number": "7"});
    let (status, told) = post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": inputs, "requests": 9}),
    )
    .await;
    assert_eq!(status, 200, "{told}");
    let form = events.waiting("data-decide").await;
    check("waiting", &form);
    let id = form
        .split("data-decide=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for panel in ["graph-0", "form-0", "run"] {
        check(panel, &Events::open(&served).await.panel(panel, "<").await);
    }
    // A refusal does not say it back as markup, either.
    let wrong = json!({"pause": said, "id": said, "answer": "yes", "arguments": said});
    assert_eq!(post(&served, "/api/decide", &wrong).await.0, 409);
    let no = json!({"pause": "1.1", "id": id, "answer": "no", "why": format!("x{said}")});
    assert_eq!(post(&served, "/api/decide", &no).await.0, 200);
    let outcome = events.panel("outcome", "completed").await;
    check("outcome", &outcome);
    check("history", &events.panel("history", "completed").await);
    let link = outcome
        .split("/pages/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let page = get(&served, &format!("/pages/{link}"), "").await.1;
    let active = ["script", "img", "iframe", "form", "base", "object"];
    assert!(
        !Dom::of(&page)
            .elements
            .iter()
            .any(|element| active.contains(&&**element)),
        "{said}"
    );
}

#[tokio::test]
async fn nothing_that_is_said_is_markup() {
    for said in HOSTILE {
        said_everywhere(&Folder::new("markup"), said).await;
    }
}

/// The script reads no text that a person wrote, and makes no markup of one.
#[tokio::test]
async fn the_script_reads_no_fields() {
    let script = include_str!("../../src/assets/script.js");
    let lines = |part: &str| {
        script
            .lines()
            .filter(|line| line.contains(part))
            .map(str::trim)
            .collect::<Vec<_>>()
    };
    // What the server sends, and nothing else.
    assert_eq!(lines("JSON.parse").len(), 1);
    assert!(lines("JSON.parse")[0].contains("data.map"));
    assert_eq!(
        lines("innerHTML"),
        ["place.innerHTML = html;", "section.innerHTML = html;"]
    );
    for part in [
        "eval(",
        "Function(",
        "insertAdjacentHTML",
        "outerHTML",
        "document.write",
        "parseInt",
        "parseFloat",
        "valueAsNumber",
        "localStorage",
        "window.open",
        "postMessage",
        "import(",
        "setAttribute(\"on",
        "http:",
        "https:",
    ] {
        assert!(lines(part).is_empty(), "{part}: {:?}", lines(part));
    }
    // A number of the page's own: which file is run, and which run again.
    assert_eq!(lines("Number(").len(), 2);
    // Only headings and what had it before get the focus.
    for line in lines(".focus(") {
        assert!(
            ["heading", "element(focused)", "h2[tabindex]"]
                .iter()
                .any(|own| line.contains(own)),
            "{line}"
        );
    }
}
