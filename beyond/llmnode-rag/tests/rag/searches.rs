//! What a search finds, and in which order.

use std::collections::BTreeMap;

use llmnode_rag::*;
use llmnode_runtime::Category;

use crate::support::*;

async fn written(store: impl DocumentStore + 'static, documents: &[(&str, &str)]) -> Collection {
    let docs = Collection::builder(store, "docs").open().await.unwrap();
    let documents = documents
        .iter()
        .map(|(source, text)| Document::new(*source, *text));
    run().call(&docs.write_all(documents)).await.unwrap();
    docs
}

/// Case 50.
#[tokio::test]
async fn no_word_of_a_user_is_syntax() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let docs = written(
            store,
            &[
                ("a", "Don't panic, body: x. A or B."),
                ("b", "café latte 🙂"),
            ],
        )
        .await;
        for query in [
            "don't",
            "a OR",
            "*",
            "\"",
            "body:x",
            "🙂",
            "NEAR(a b)",
            "a AND NOT b",
            "-a",
            "^a",
            "a*",
            "(",
            "{a}: b",
            "\0",
            "a\0b",
            "''",
            "\"unclosed a",
            "+",
            "Ω≈ç",
            "%_",
        ] {
            let hits = run().call(&docs.search(query)).await;
            assert!(hits.is_ok(), "{name}: {query:?}: {hits:?}");
        }
        let found = run().call(&docs.search("don't")).await.unwrap();
        assert_eq!(sources(&found), ["a"], "{name}");
        assert_eq!(
            sources(&run().call(&docs.search("CAFÉ")).await.unwrap()),
            ["b"],
            "{name}"
        );
        assert!(
            run().call(&docs.search("  ")).await.unwrap().is_empty(),
            "{name}"
        );
        let long = "panic ".repeat(100_000);
        assert_eq!(
            sources(&run().call(&docs.search(long)).await.unwrap()),
            ["a"],
            "{name}"
        );
    }
}

/// Case 51.
#[tokio::test]
async fn both_find_an_exact_identifier_and_a_paraphrase() {
    let error = "The build stops with ERR_MODULE_NOT_FOUND.";
    let other = "The build stops when a module is not found by accident.";
    let stove = "Turn the stove off before you leave.";
    let vectors = [
        (error, vec![-1.0, 0.0, 0.1]),
        (other, vec![0.5, 0.3, 0.0]),
        (stove, vec![0.0, 1.0, 0.0]),
        ("ERR_MODULE_NOT_FOUND", vec![1.0, 0.3, 0.0]),
        ("shut down the cooker", vec![0.0, 1.0, 0.1]),
    ];
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let docs = Collection::builder(store, "docs")
            .embedder(Planted::new(vectors.clone()))
            .open()
            .await
            .unwrap();
        let documents = [("error", error), ("other", other), ("stove", stove)];
        let documents = documents.map(|(source, text)| Document::new(source, text));
        run().call(&docs.write_all(documents)).await.unwrap();

        let search = docs.search("ERR_MODULE_NOT_FOUND").k(3);
        let by_vector = run()
            .call(&search.clone().by(SearchMode::Vector))
            .await
            .unwrap();
        assert_eq!(
            sources(&by_vector).last(),
            Some(&"error"),
            "{name}: vectors rank it last"
        );
        assert_eq!(
            sources(
                &run()
                    .call(&search.clone().by(SearchMode::Words))
                    .await
                    .unwrap()
            ),
            ["error"],
            "{name}"
        );
        assert_eq!(
            sources(&run().call(&search).await.unwrap())[0],
            "error",
            "{name}"
        );

        let search = docs.search("shut down the cooker").k(1);
        let by_words = run()
            .call(&search.clone().k(3).by(SearchMode::Words))
            .await
            .unwrap();
        assert!(!by_words.is_empty(), "{name}: `the` stands everywhere");
        assert_eq!(
            sources(
                &run()
                    .call(&search.clone().by(SearchMode::Vector))
                    .await
                    .unwrap()
            ),
            ["stove"],
            "{name}"
        );
        assert!(
            sources(&run().call(&search.k(2)).await.unwrap()).contains(&"stove"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn stores_find_the_same_in_the_same_order() {
    let texts: Vec<(String, String)> = (0..60)
        .map(|at| {
            let words = ["key", "door", "lamp", "rug", "river", "stone", "bread"];
            let text: Vec<_> = (0..5 + at % 7)
                .map(|place| words[(at * 7 + place * place * (at % 5 + 1)) % words.len()])
                .collect();
            (
                format!("{at:02}.md"),
                format!("{} {}", text.join(" "), at / 2),
            )
        })
        .collect();
    let folder = Folder::new();
    let mut found: BTreeMap<String, Vec<(&str, Vec<String>)>> = BTreeMap::new();
    for (name, store) in stores(&folder) {
        let docs = Collection::builder(store, "docs")
            .embedder(HashEmbedder::new(64))
            .open()
            .await
            .unwrap();
        let documents = texts
            .iter()
            .map(|(source, text)| Document::new(source, text));
        run().call(&docs.write_all(documents)).await.unwrap();
        for query in ["key", "door lamp", "river of bread", "7", "stone key rug"] {
            for by in [SearchMode::Words, SearchMode::Vector, SearchMode::Both] {
                let hits = run().call(&docs.search(query).k(7).by(by)).await.unwrap();
                assert!(hits.iter().enumerate().all(|(at, hit)| hit.rank == at + 1));
                assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
                let ids = hits.into_iter().map(|hit| hit.id).collect();
                found
                    .entry(format!("{query} {by:?}"))
                    .or_default()
                    .push((name, ids));
            }
        }
    }
    for (search, by_store) in found {
        let (_, first) = &by_store[0];
        assert!(!first.is_empty(), "{search}");
        for (name, ids) in &by_store {
            assert_eq!(ids, first, "{search}: {name}");
        }
    }
}

#[tokio::test]
async fn filters_hold_together_and_compare_values_of_one_type() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let docs = Collection::builder(store, "docs")
            .embedder(HashEmbedder::new(64))
            .open()
            .await
            .unwrap();
        let page = |source: &str, year: i32, draft: bool| {
            Document::new(source, format!("the key of {source}"))
                .meta("year", year)
                .meta("draft", draft)
        };
        let pages = [
            page("a", 2025, false),
            page("b", 2026, false),
            page("c", 2026, true),
            Document::new("d", "the key"),
        ];
        run().call(&docs.write_all(pages)).await.unwrap();
        for by in [SearchMode::Words, SearchMode::Vector, SearchMode::Both] {
            let found = async |search: Search| {
                let hits = run().call(&search.by(by)).await.unwrap();
                let mut found: Vec<_> = hits.into_iter().map(|hit| hit.source).collect();
                found.sort();
                found.join("")
            };
            assert_eq!(found(docs.search("key")).await, "abcd", "{name} {by:?}");
            assert_eq!(
                found(docs.search("key").filter("year", 2026)).await,
                "bc",
                "{name} {by:?}"
            );
            assert_eq!(
                found(
                    docs.search("key")
                        .filter("year", 2026)
                        .filter("draft", false)
                )
                .await,
                "b",
                "{name} {by:?}"
            );
            assert_eq!(
                found(docs.search("key").filter("year", "2026")).await,
                "",
                "{name} {by:?}: a text"
            );
            assert_eq!(
                found(docs.search("key").filter("draft", 1)).await,
                "",
                "{name} {by:?}: a number"
            );
            assert_eq!(
                found(docs.search("key").filter("x') OR 1=1 --", 1)).await,
                "",
                "{name} {by:?}"
            );
        }
        let hit = run()
            .call(&docs.search("key").filter("year", 2025))
            .await
            .unwrap()[0]
            .clone();
        assert_eq!(
            (
                hit.metadata["year"].as_i64(),
                hit.metadata["draft"].as_bool()
            ),
            (Some(2025), Some(false))
        );
        let refused = run()
            .call(&docs.search("key").filter("tags", vec!["x"]))
            .await
            .unwrap_err();
        assert_eq!(refused.category(), Category::ConfigError, "{name}");
    }
}

#[tokio::test]
async fn without_an_embedder_there_are_words_alone() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let docs = written(store, &[("a", "the key"), ("b", "the door")]).await;
        assert_eq!(
            sources(&run().call(&docs.search("key")).await.unwrap()),
            ["a"],
            "{name}"
        );
        let error = run()
            .call(&docs.search("key").by(SearchMode::Vector))
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().contains("SearchMode::Words"), "{error}");
        assert!(
            run()
                .call(&docs.search("key").k(0))
                .await
                .unwrap()
                .is_empty()
        );
    }
}

/// An embedder may know nothing of a text.
#[tokio::test]
async fn a_vector_of_zeros_is_near_nothing() {
    let vectors = [
        ("the key", vec![1.0, 0.0]),
        ("the door", vec![0.0, 0.0]),
        ("key", vec![0.0, 0.0]),
        ("lock", vec![1.0, 0.0]),
    ];
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let docs = Collection::builder(store, "docs")
            .embedder(Planted::new(vectors.clone()))
            .open()
            .await
            .unwrap();
        let documents = [
            Document::new("a", "the key"),
            Document::new("b", "the door"),
        ];
        run().call(&docs.write_all(documents)).await.unwrap();
        let found = async |search: Search| run().call(&search).await.unwrap();
        assert!(
            found(docs.search("key").by(SearchMode::Vector))
                .await
                .is_empty(),
            "{name}"
        );
        assert_eq!(
            sources(&found(docs.search("key")).await),
            ["a"],
            "{name}: by words"
        );
        assert_eq!(
            sources(&found(docs.search("lock").by(SearchMode::Vector)).await),
            ["a", "b"],
            "{name}"
        );
    }
}

/// Half of the questions share a word with their document and point elsewhere; the others share none and point at it.
#[tokio::test]
async fn both_find_what_either_finds_alone() {
    const QUESTIONS: usize = 200;
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let mut vectors = BTreeMap::new();
        let mut documents = Vec::new();
        let axis = |at: usize, sign: f32| -> Vec<f32> {
            let mut vector = vec![0.0; QUESTIONS + 1];
            vector[at] = sign;
            vector[QUESTIONS] = 0.01;
            vector
        };
        for at in 0..QUESTIONS {
            let document = format!("document with the mark word{at}");
            let by_words = at % 2 == 0;
            let question = if by_words {
                format!("word{at}")
            } else {
                format!("paraphrase{at}")
            };
            vectors.insert(document.clone(), axis(at, 1.0));
            vectors.insert(question, axis(at, if by_words { -1.0 } else { 1.0 }));
            documents.push(Document::new(format!("{at:03}"), document));
        }
        let docs = Collection::builder(store, "docs")
            .embedder(Planted::of(vectors))
            .open()
            .await
            .unwrap();
        run().call(&docs.write_all(documents)).await.unwrap();
        let mut found = BTreeMap::new();
        for at in 0..QUESTIONS {
            let question = if at % 2 == 0 {
                format!("word{at}")
            } else {
                format!("paraphrase{at}")
            };
            for by in [SearchMode::Words, SearchMode::Vector, SearchMode::Both] {
                let hits = run()
                    .call(&docs.search(&question).k(5).by(by))
                    .await
                    .unwrap();
                let is_found = sources(&hits).contains(&format!("{at:03}").as_str());
                *found.entry(format!("{by:?}")).or_insert(0) += usize::from(is_found);
            }
        }
        println!("{name}: {found:?} of {QUESTIONS}");
        assert!(found["Both"] >= QUESTIONS * 95 / 100, "{name}: {found:?}");
        assert!(
            found["Words"] <= QUESTIONS * 55 / 100 && found["Vector"] <= QUESTIONS * 55 / 100,
            "{name}: {found:?}"
        );
    }
}

/// The same store through an embedder that makes vectors of another length.
#[tokio::test]
async fn a_query_of_another_length_is_an_error() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let of = |numbers: usize| {
            let embedder = Planted::new([("the key", vec![0.5; numbers])]);
            Collection::builder(std::sync::Arc::clone(&store), "lengths")
                .embedder(embedder)
                .open()
        };
        let docs = of(4).await.unwrap();
        run()
            .call(&docs.write_all([Document::new("a", "the key")]))
            .await
            .unwrap();
        for numbers in [3, 5] {
            let docs = of(numbers).await.unwrap();
            for by in [SearchMode::Vector, SearchMode::Both] {
                let error = run()
                    .call(&docs.search("the key").by(by))
                    .await
                    .unwrap_err();
                assert_eq!(error.category(), Category::ConfigError, "{name}: {error}");
                assert!(
                    error
                        .to_string()
                        .contains(&format!("have 4 numbers, and one of {numbers} came")),
                    "{error}"
                );
            }
        }
        assert_eq!(
            sources(
                &run()
                    .call(&docs.search("the key").by(SearchMode::Vector))
                    .await
                    .unwrap()
            ),
            ["a"],
            "{name}"
        );
    }
}
