"""Searches and ingests of llmnode's file beside numpy, Chroma's client and server, and sqlite-vec, with the same vectors: tables in
Markdown. Each search is measured in rounds, one after the other, so that what else the machine does meets all of them; the figure is
the median of the rounds. numpy runs on one thread, as a search of llmnode's does, and once more on as many as it likes."""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import apsw
import chromadb
import numpy
import sqlite_vec
import threadpoolctl

BINARY, PORT = sys.argv[1], int(sys.argv[2])
COLUMNS, QUERIES, K, ROUNDS = 384, 50, 10, 5
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


def chroma(documents, texts):
    collection = CHROMA.create_collection(f"bench-{len(texts)}", metadata={"hnsw:space": "cosine"})
    began = time.perf_counter()
    for at in range(0, len(texts), 512):
        ids = [str(row) for row in range(at, min(at + 512, len(texts)))]
        collection.add(ids=ids, embeddings=documents[at : at + 512], documents=texts[at : at + 512])
    ingest = len(texts) / (time.perf_counter() - began)

    def search(query):
        found = collection.query(query_embeddings=[query], n_results=K, include=["documents", "metadatas", "distances"])
        return [int(one) for one in found["ids"][0]]

    return ingest, search


def vec(file, documents, texts):
    """Vectors and texts in one file of sqlite-vec; a search returns the texts, as the others do."""
    connection = apsw.Connection(str(file))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    columns = f"id INTEGER PRIMARY KEY, vector float[{COLUMNS}] distance_metric=cosine, +text TEXT"
    connection.execute(f"CREATE VIRTUAL TABLE docs USING vec0({columns})")
    began = time.perf_counter()
    for at in range(0, len(texts), 512):
        rows = range(at, min(at + 512, len(texts)))
        with connection:
            connection.executemany("INSERT INTO docs VALUES (?, ?, ?)", ((row, documents[row].tobytes(), texts[row]) for row in rows))
    ingest = len(texts) / (time.perf_counter() - began)

    def search(query):
        select = "SELECT id, text, distance FROM docs WHERE vector MATCH ? AND k = ?"
        return [row[0] for row in connection.execute(select, (query.tobytes(), K))]

    return ingest, search


def own(folder, part):
    ended = subprocess.run([BINARY, str(folder), part], check=True, capture_output=True, text=True)
    return json.loads(ended.stdout)


def recall(found, exact):
    return sum(len(set(one) & set(other)) for one, other in zip(found, exact)) / (K * QUERIES)


def main():
    print("| figure | chunks | llmnode | numpy, 1 thread | ratio | numpy | Chroma | ratio | sqlite-vec | ratio |\n" + "|---" * 10 + "|")
    for count in (10_000, 100_000):
        folder = pathlib.Path(sys.argv[3]) / str(count)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        documents, queries, texts = make(folder, count)
        ingests = own(folder, "ingest")
        ingest, by_chroma = chroma(documents, texts)
        vec_ingest, by_vec = vec(folder / "vec.db", documents, texts)
        exact = numpy_search(documents)
        rounds = []
        for _ in range(ROUNDS):
            searches = own(folder, "search")
            with threadpoolctl.threadpool_limits(1):
                exact(queries[0])
                one_thread, expected = median(exact, queries)
            exact(queries[0])
            threads, _ = median(exact, queries)
            chroma_ms, theirs = median(by_chroma, queries)
            vec_ms, vecs = median(by_vec, queries)
            rounds.append((searches["vector_ms"], one_thread, threads, chroma_ms, vec_ms))
        row = lambda *cells: print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
        ratio = lambda one, other: f"{one / other:.2f}"
        vector, one_thread, threads, chroma_ms, vec_ms = (statistics.median(column) for column in zip(*rounds))
        row("search by vector", f"{count:,}", f"{vector:.2f} ms", f"{one_thread:.2f} ms", ratio(vector, one_thread), f"{threads:.2f} ms",
            f"{chroma_ms:.2f} ms", ratio(vector, chroma_ms), f"{vec_ms:.2f} ms", ratio(vector, vec_ms))
        for name, column in zip(("llmnode", "numpy, 1 thread", "numpy", "Chroma", "sqlite-vec"), zip(*rounds)):
            print(f"  {count:,} {name}: rounds of {', '.join(f'{ms:.2f}' for ms in column)} ms", file=sys.stderr)
        row("recall of the exact ten", f"{count:,}", recall(searches["found"], expected), 1.0, "", "", recall(theirs, expected), "",
            recall(vecs, expected), "")
        row("ingest, chunks a second", f"{count:,}", f"{ingests['ingest']:.0f}", "", "", "", f"{ingest:.0f}",
            ratio(ingests["ingest"], ingest), f"{vec_ingest:.0f}", ratio(ingests["ingest"], vec_ingest))
        row("memory of a vector", f"{count:,}", f"{searches['memory']:.0f} B", f"{COLUMNS * 4} B",
            ratio(searches["memory"], COLUMNS * 4), *[""] * 5)
        for name, figure in (("search by a word", f"{searches['words_ms']:.2f} ms"), ("search by both", f"{searches['both_ms']:.2f} ms"),
                             ("the same again, unchanged, chunks a second", f"{ingests['again']:.0f}"),
                             ("opening", f"{searches['open_ms']:.0f} ms"), ("file, a chunk", f"{searches['file']:.0f} B")):
            row(name, f"{count:,}", figure, *[""] * 7)
        shutil.rmtree(folder)


main()
