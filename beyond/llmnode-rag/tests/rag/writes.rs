//! Writing: new sources, old ones, equal and nearly equal texts, failures.

use llmnode_rag::*;
use llmnode_runtime::Category;

use crate::support::*;

/// Case 53.
#[tokio::test]
async fn a_source_again_replaces_its_chunks() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let embedder = Planted::default();
        let docs = Collection::builder(store, "docs")
            .embedder(embedder.clone())
            .chunks(30, 0)
            .open()
            .await
            .unwrap();
        let text = "The key is here.\n\nThe lamp stays where it is.";
        let first = run()
            .call(&docs.write(Document::new("a", text)))
            .await
            .unwrap();
        assert_eq!(
            (first.chunks, first.kept, first.replaced),
            (2, 0, 0),
            "{name}"
        );

        // Nothing new: nothing is embedded.
        let asked = embedder.count();
        let same = run()
            .call(&docs.write(Document::new("a", text)))
            .await
            .unwrap();
        assert_eq!(
            (same.chunks, same.kept, same.replaced, embedder.count()),
            (0, 2, 0, asked),
            "{name}"
        );

        let text = "The key is elsewhere now.\n\nThe lamp stays where it is.";
        let again = run()
            .call(&docs.write(Document::new("a", text)))
            .await
            .unwrap();
        assert_eq!(
            (again.chunks, again.kept, again.replaced),
            (1, 1, 1),
            "{name}"
        );
        assert_eq!(
            embedder.count(),
            asked + 1,
            "{name}: the other chunk has its vector"
        );
        assert_eq!(
            docs.count().await.unwrap(),
            CollectionSize::new(1, 2),
            "{name}"
        );
        assert!(
            run()
                .call(&docs.search("here").by(SearchMode::Words))
                .await
                .unwrap()
                .is_empty(),
            "{name}: stale words"
        );

        // Metadata alone make a new version.
        let marked = run()
            .call(&docs.write(Document::new("a", text).meta("v", 2)))
            .await
            .unwrap();
        assert_eq!((marked.chunks, marked.kept), (0, 2), "{name}");
        assert_eq!(
            run()
                .call(&docs.search("lamp").filter("v", 2))
                .await
                .unwrap()
                .len(),
            2,
            "{name}"
        );

        // What it no longer has finds it no more.
        for document in [
            Document::new("a", text).meta("w", 1).meta("v", 2),
            Document::new("a", text).meta("v", 2),
        ] {
            run().call(&docs.write(document)).await.unwrap();
        }
        let stale = run()
            .call(&docs.search("lamp").filter("w", 1))
            .await
            .unwrap();
        assert!(stale.is_empty(), "{name}: {stale:?}");

        let emptied = run()
            .call(&docs.write(Document::new("a", " ")))
            .await
            .unwrap();
        assert_eq!(
            (emptied.replaced, docs.count().await.unwrap()),
            (2, CollectionSize::new(1, 0)),
            "{name}"
        );
        assert_eq!(docs.delete("a").await.unwrap(), 0);
        assert_eq!(
            docs.count().await.unwrap(),
            CollectionSize::new(0, 0),
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_equal_text_is_stored_once_and_stays_until_its_last_source_is_gone() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let embedder = Planted::default();
        let docs = Collection::builder(store, "docs")
            .embedder(embedder.clone())
            .open()
            .await
            .unwrap();
        let page = |source: &str| Document::new(source, "The same words.").meta("of", source);
        let written = run()
            .call(&docs.write_all([page("b"), page("a")]))
            .await
            .unwrap();
        assert_eq!(
            (written.chunks, written.duplicates, embedder.count()),
            (1, 1, 1),
            "{name}"
        );
        let written = run().call(&docs.write(page("c"))).await.unwrap();
        assert_eq!(
            (written.chunks, written.duplicates, embedder.count()),
            (0, 1, 1),
            "{name}: no new vector"
        );
        let hits = run().call(&docs.search("words")).await.unwrap();
        assert_eq!(sources(&hits), ["a"], "{name}: the first by name");
        assert_eq!(
            sources(
                &run()
                    .call(&docs.search("words").filter("of", "b"))
                    .await
                    .unwrap()
            ),
            ["b"],
            "{name}"
        );
        assert_eq!(docs.delete("a").await.unwrap(), 0, "{name}: others have it");
        assert_eq!(
            sources(&run().call(&docs.search("words")).await.unwrap()),
            ["b"],
            "{name}"
        );
        run()
            .call(&docs.write(Document::new("b", "Others.")))
            .await
            .unwrap();
        assert_eq!(docs.delete("c").await.unwrap(), 1, "{name}");
        assert_eq!(
            docs.count().await.unwrap(),
            CollectionSize::new(1, 1),
            "{name}"
        );
        // Within one text, too.
        let docs = Collection::builder(MemoryStore::new(), "docs")
            .chunks(10, 0)
            .open()
            .await
            .unwrap();
        let twice = run()
            .call(&docs.write(Document::new("d", "One two.\n\nOne two.")))
            .await
            .unwrap();
        assert_eq!((twice.chunks, twice.duplicates), (1, 1));
    }
}

/// Case 54.
#[tokio::test]
async fn near_equals_are_found_within_a_batch_and_in_the_store() {
    let vectors = [
        ("The key is under the mat.", vec![1.0, 0.0]),
        ("The key is under the mat!", vec![0.999, 0.02]),
        ("The keys are under the mat.", vec![0.99, 0.05]),
        ("Bread needs flour.", vec![0.0, 1.0]),
    ];
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let embedder = Planted::new(vectors.clone());
        let docs = Collection::builder(store, "docs")
            .embedder(embedder)
            .dedup(0.95)
            .open()
            .await
            .unwrap();
        let pages = vectors.clone().into_iter().take(2).enumerate();
        let pages: Vec<_> = pages
            .map(|(at, (text, _))| Document::new(at.to_string(), text))
            .collect();
        let written = run().call(&docs.write_all(pages)).await.unwrap();
        assert_eq!(
            (written.chunks, written.duplicates),
            (1, 1),
            "{name}: within the batch"
        );
        let more = [
            Document::new("2", vectors[2].0),
            Document::new("3", vectors[3].0),
        ];
        let written = run().call(&docs.write_all(more)).await.unwrap();
        assert_eq!(
            (written.chunks, written.duplicates),
            (1, 1),
            "{name}: in the store"
        );
        // Each source still finds its chunk.
        assert_eq!(docs.delete("0").await.unwrap(), 0, "{name}");
        assert_eq!(
            sources(&run().call(&docs.search("mat").k(1)).await.unwrap()),
            ["1"],
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_small_change_of_a_source_is_no_duplicate_of_its_old_text() {
    let (old, new) = ("The meeting is on Monday.", "The meeting is on Tuesday.");
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let embedder = Planted::new([(old, vec![1.0, 0.0]), (new, vec![0.9999, 0.001])]);
        let docs = Collection::builder(store, "docs")
            .embedder(embedder)
            .dedup(0.9)
            .open()
            .await
            .unwrap();
        run()
            .call(&docs.write(Document::new("a", old)))
            .await
            .unwrap();
        let written = run()
            .call(&docs.write(Document::new("a", new)))
            .await
            .unwrap();
        assert_eq!((written.chunks, written.replaced), (1, 1), "{name}");
        assert_eq!(
            run().call(&docs.search("meeting")).await.unwrap()[0].text,
            new,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_failed_embedding_writes_nothing_and_the_next_call_goes_on() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let embedder = Planted::default();
        let docs = Collection::builder(store, "docs")
            .embedder(embedder.clone())
            .open()
            .await
            .unwrap();
        let pages = || (0..5).map(|at| Document::new(at.to_string(), format!("page {at}")));
        *embedder.fails_after.lock().unwrap() = Some(2);
        let error = run().call(&docs.write_all(pages())).await.unwrap_err();
        assert_eq!(error.category(), Category::BadRequest, "{name}");
        assert_eq!(
            docs.count().await.unwrap(),
            CollectionSize::new(0, 0),
            "{name}"
        );
        *embedder.fails_after.lock().unwrap() = None;
        let written = run().call(&docs.write_all(pages())).await.unwrap();
        assert_eq!(written.chunks, 5, "{name}");
    }
}

#[tokio::test]
async fn groups_that_were_written_before_a_failure_stay_and_are_not_embedded_again() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let embedder = Planted::default();
        let docs = Collection::builder(store, "docs")
            .embedder(embedder.clone())
            .chunks(20, 0)
            .open()
            .await
            .unwrap();
        // Each has 300 chunks: two of them are a group.
        let page = |at: usize| {
            let text: Vec<_> = (0..300)
                .map(|chunk| format!("text {at} of {chunk}."))
                .collect();
            Document::new(at.to_string(), text.join("\n\n"))
        };
        *embedder.fails_after.lock().unwrap() = Some(320);
        assert!(
            run().call(&docs.write_all((0..4).map(page))).await.is_err(),
            "{name}"
        );
        assert_eq!(
            docs.count().await.unwrap(),
            CollectionSize::new(2, 600),
            "{name}"
        );
        *embedder.fails_after.lock().unwrap() = None;
        embedder.asked.lock().unwrap().clear();
        let written = run().call(&docs.write_all((0..4).map(page))).await.unwrap();
        assert_eq!(
            (written.kept, written.chunks, embedder.count()),
            (600, 600, 600),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_source_twice_in_one_call_is_refused() {
    let docs = Collection::builder(MemoryStore::new(), "docs")
        .open()
        .await
        .unwrap();
    let error = run()
        .call(&docs.write_all([Document::new("a", "x"), Document::new("a", "y")]))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("\"a\"") && error.message().contains("twice"));
}

#[tokio::test]
async fn a_long_ingest_tells_how_far_it_is() {
    let docs = Collection::builder(MemoryStore::new(), "docs")
        .open()
        .await
        .unwrap();
    let writes = (0..4).map(|at| docs.write(Document::new(at.to_string(), format!("page {at}"))));
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let map = run();
    let written = map.map(writes).concurrency(2).on_progress(move |progress| {
        let _ = tell.send(progress.done);
    });
    let chunks: usize = written
        .await
        .into_iter()
        .map(|written| written.unwrap().chunks)
        .sum();
    assert_eq!(chunks, 4);
    let mut last = 0;
    while let Ok(done) = told.try_recv() {
        last = done;
    }
    assert_eq!(last, 4);
}
