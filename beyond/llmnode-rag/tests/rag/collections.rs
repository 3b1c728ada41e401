//! Opening a collection, and what is refused.

use llmnode_rag::*;
use llmnode_runtime::Category;

use crate::support::*;

#[tokio::test]
async fn another_embedder_is_refused_when_the_collection_is_opened() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let open = async |embedder: Option<HashEmbedder>| {
            let builder = Collection::builder(store.clone(), "docs");
            let builder = embedder
                .into_iter()
                .fold(builder, CollectionBuilder::embedder);
            builder.open().await
        };
        open(Some(HashEmbedder::new(64))).await.unwrap();
        open(Some(HashEmbedder::new(64))).await.unwrap();
        let error = open(Some(HashEmbedder::new(32))).await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{name}");
        let message = error.message();
        assert!(
            message.contains("\"hash/64\"") && message.contains("\"hash/32\""),
            "{name}: {message}"
        );
        assert!(
            open(None)
                .await
                .unwrap_err()
                .message()
                .contains("no embedder"),
            "{name}"
        );
        // Another collection of the same store may have another one.
        Collection::builder(store.clone(), "words")
            .open()
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_vector_of_another_length_is_refused_and_nothing_is_written() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let docs = Collection::builder(store.clone(), "docs")
            .embedder(Planted::new([("a", vec![1.0, 0.0])]))
            .open()
            .await;
        run()
            .call(&docs.unwrap().write(Document::new("a", "a")))
            .await
            .unwrap();
        let longer = Planted::new([("b", vec![1.0, 0.0, 0.0])]);
        let docs = Collection::builder(store, "docs")
            .embedder(longer)
            .open()
            .await
            .unwrap();
        let error = run()
            .call(&docs.write(Document::new("b", "b")))
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{name}: {error}");
        assert_eq!(
            docs.count().await.unwrap(),
            CollectionSize::new(1, 1),
            "{name}"
        );
    }
}

#[tokio::test]
async fn settings_that_cannot_be_are_refused() {
    let refused =
        async |builder: CollectionBuilder| builder.open().await.unwrap_err().message().to_owned();
    let builder = |name: &str| Collection::builder(MemoryStore::new(), name);
    for name in ["", "a b", "../x", &"x".repeat(65), "ä"] {
        assert!(refused(builder(name)).await.contains("1 to 64"), "{name}");
    }
    assert!(
        refused(builder("a").chunks(0, 0))
            .await
            .contains("0 characters")
    );
    assert!(
        refused(builder("a").chunks(100, 51))
            .await
            .contains("at most half")
    );
    assert!(
        refused(builder("a").dedup(0.9))
            .await
            .contains("no embedder")
    );
    assert!(
        refused(builder("a").embedder(HashEmbedder::new(8)).dedup(1.5))
            .await
            .contains("1.5")
    );
    let store = MemoryStore::new();
    let error = store.count("nowhere").await.unwrap_err();
    assert!(error.message().contains("\"nowhere\""));
}

#[tokio::test]
async fn collections_of_a_store_do_not_see_each_other() {
    let folder = Folder::new();
    for (name, store) in stores(&folder) {
        let open = async |name| {
            Collection::builder(store.clone(), name)
                .open()
                .await
                .unwrap()
        };
        let (one, other) = (open("one").await, open("other").await);
        run()
            .call(&one.write(Document::new("a", "the key")))
            .await
            .unwrap();
        run()
            .call(&other.write(Document::new("a", "the door")))
            .await
            .unwrap();
        assert!(
            run().call(&one.search("door")).await.unwrap().is_empty(),
            "{name}"
        );
        assert_eq!(other.delete("a").await.unwrap(), 1, "{name}");
        assert_eq!(
            one.count().await.unwrap(),
            CollectionSize::new(1, 1),
            "{name}"
        );
    }
}
