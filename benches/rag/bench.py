"""Searches and ingests of llmnode's file beside numpy and Chroma's client and server, with the same vectors: tables in Markdown."""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import chromadb
import numpy

BINARY, PORT = sys.argv[1], int(sys.argv[2])
COLUMNS, QUERIES, K = 384, 50, 10
CHROMA = chromadb.HttpClient(host="127.0.0.1", port=PORT)


def make(folder, count):
    rng = numpy.random.default_rng(7)
    centres = rng.standard_normal((200, COLUMNS), dtype=numpy.float32)

    def vectors(rows):
        rows = centres[rng.integers(0, 200, rows)] + rng.standard_normal((rows, COLUMNS), dtype=numpy.float32)
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)

    documents, queries = vectors(count), vectors(QUERIES)
    vocabulary = [f"w{at}" for at in range(20_000)]
    weights = 1 / numpy.arange(1, 20_001)
    drawn = rng.choice(20_000, size=(count, 60), p=weights / weights.sum())
    texts = [f"chunk {at} " + " ".join(vocabulary[word] for word in row) for at, row in enumerate(drawn)]
    documents.tofile(folder / "documents.f32")
    queries.tofile(folder / "queries.f32")
    (folder / "texts.txt").write_text("\n".join(texts))
    return documents, queries, texts


def median(search, queries):
    times, found = [], []
    for query in queries:
        began = time.perf_counter()
        found.append(search(query))
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times), found


def numpy_search(documents):
    def search(query):
        scores = documents @ query
        best = numpy.argpartition(scores, -K)[-K:]
        return best[numpy.argsort(-scores[best])].tolist()

    return search


def chroma(documents, queries, texts):
    name = f"bench-{len(texts)}"
    collection = CHROMA.create_collection(name, metadata={"hnsw:space": "cosine"})
    began = time.perf_counter()
    for at in range(0, len(texts), 512):
        ids = [str(row) for row in range(at, min(at + 512, len(texts)))]
        collection.add(ids=ids, embeddings=documents[at : at + 512], documents=texts[at : at + 512])
    ingest = len(texts) / (time.perf_counter() - began)

    def search(query):
        found = collection.query(query_embeddings=[query], n_results=K, include=["documents", "metadatas", "distances"])
        return [int(one) for one in found["ids"][0]]

    search(queries[0])
    return ingest, *median(search, queries)


def recall(found, exact):
    return sum(len(set(one) & set(other)) for one, other in zip(found, exact)) / (K * QUERIES)


def main():
    print("| figure | chunks | llmnode | numpy | ratio | Chroma | ratio |\n|---|---|---|---|---|---|---|")
    for count in (10_000, 100_000):
        folder = pathlib.Path(sys.argv[3]) / str(count)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        documents, queries, texts = make(folder, count)
        own = {}
        for part in ("ingest", "search"):
            ended = subprocess.run([BINARY, str(folder), part], check=True, capture_output=True, text=True)
            own.update(json.loads(ended.stdout))
        exact = numpy_search(documents)
        exact(queries[0])
        numpy_ms, expected = median(exact, queries)
        ingest, chroma_ms, theirs = chroma(documents, queries, texts)
        row = lambda *cells: print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
        ratio = lambda one, other: f"{one / other:.2f}"
        vector = own["vector_ms"]
        row("search by vector", f"{count:,}", f"{vector:.2f} ms", f"{numpy_ms:.2f} ms", ratio(vector, numpy_ms),
            f"{chroma_ms:.2f} ms", ratio(vector, chroma_ms))
        row("recall of the exact ten", f"{count:,}", recall(own["found"], expected), "1.0", "", recall(theirs, expected), "")
        row("search by a word", f"{count:,}", f"{own['words_ms']:.2f} ms", "", "", "", "")
        row("search by both", f"{count:,}", f"{own['both_ms']:.2f} ms", "", "", "", "")
        row("ingest, chunks a second", f"{count:,}", f"{own['ingest']:.0f}", "", "", f"{ingest:.0f}", ratio(own["ingest"], ingest))
        row("the same again, unchanged", f"{count:,}", f"{own['again']:.0f}", "", "", "", "")
        row("opening", f"{count:,}", f"{own['open_ms']:.0f} ms", "", "", "", "")
        row("memory of a vector", f"{count:,}", f"{own['memory']:.0f} B", f"{COLUMNS * 4} B", ratio(own["memory"], COLUMNS * 4), "", "")
        row("file, a chunk", f"{count:,}", f"{own['file']:.0f} B", "", "", "", "")
        shutil.rmtree(folder)


main()
