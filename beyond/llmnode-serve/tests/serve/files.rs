//! Files that are edited while the page is open.

use llmnode_runtime::ScriptedModel;
use serde_json::json;

use crate::client::{Events, Folder, get, graph, key, served};

#[tokio::test]
async fn without_a_script_the_page_has_the_graph_and_its_mistakes() {
    let folder = Folder::new("plain");
    let served = served(&folder, ScriptedModel::new()).await;
    let (status, page) = get(&served, "/", "").await;
    assert_eq!(status, 200);
    assert!(
        page.contains("<svg") && page.contains("no mistakes"),
        "{page}"
    );
    // What the file says is text.
    assert!(
        page.contains("Find &lt;b&gt;facts&lt;/b&gt;") && !page.contains("<b>"),
        "{page}"
    );
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_node() {
    let folder = Folder::new("edited");
    let served = served(&folder, ScriptedModel::new()).await;
    let mut events = Events::open(&served).await;
    events.panel("graph-0", "no mistakes").await;

    let mut wrong = graph();
    wrong["nodes"][1]["data"]["tools"] = json!(["pya"]);
    folder.write(&serde_json::to_string_pretty(&wrong).unwrap());
    let panel = events.panel("graph-0", "1 mistake").await;
    assert!(panel.contains("did you mean \"pay\"?"), "{panel}");
    assert!(
        panel.contains("href=\"#node-0-1\"") && panel.contains("has a mistake"),
        "{panel}"
    );
    assert!(panel.contains("<svg"), "{panel}");
    let (_, checked) = get(
        &served,
        "/api/check",
        &format!("x-llmnode-key: {}\r\n", key(&served)),
    )
    .await;
    assert!(checked.contains("did you mean"), "{checked}");

    // Half of a file keeps the picture.
    folder.write("{\"format\": \"llmnode/graph\", \"nodes\": [");
    let panel = events.panel("graph-0", "is not JSON").await;
    assert!(
        panel.contains("<svg") && panel.contains("scroll old"),
        "{panel}"
    );

    std::fs::remove_file(folder.0.join("graph.json")).unwrap();
    let panel = events.panel("graph-0", "cannot be read").await;
    assert!(
        panel.contains("<svg") && panel.contains("scroll old"),
        "{panel}"
    );

    folder.write(&graph().to_string());
    events.panel("graph-0", "no mistakes").await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_another_file_is_not_followed() {
    let folder = Folder::new("link");
    let served = served(&folder, ScriptedModel::new()).await;
    let mut events = Events::open(&served).await;
    events.panel("graph-0", "no mistakes").await;
    let secret = folder.0.join("secret.json");
    std::fs::write(&secret, "the secret of the house").unwrap();
    let file = folder.0.join("graph.json");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    let panel = events
        .panel(
            "graph-0",
            "it is a link to another file now, which is not opened",
        )
        .await;
    assert!(!panel.contains("secret of the house"));
}

#[tokio::test]
async fn too_many_nodes_to_draw_are_counted() {
    let folder = Folder::new("big");
    let served = served(&folder, ScriptedModel::new()).await;
    let mut events = Events::open(&served).await;
    let node = |n: usize| json!({"id": format!("n{n}"), "type": "agent", "data": {"prompt": "x"}});
    let mut big = graph();
    big["nodes"] = (0..5_000).map(node).collect();
    big["edges"] = json!([]);
    folder.write(&big.to_string());
    let panel = events
        .panel("graph-0", "5000 nodes, too many to draw")
        .await;
    assert!(
        panel.contains("at most 2000 are allowed"),
        "{}",
        &panel[..500]
    );
}
