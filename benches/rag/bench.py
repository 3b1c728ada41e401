"""Searches and ingests of llmnode's file beside numpy, Chroma's client and server, sqlite-vec and swiftide, with the same vectors: a
table in Markdown. What is compared is measured in rounds, one after the other, so that what else the machine does meets all of it; a
figure is the median of the rounds, which stand on the standard error. numpy runs on one thread, as a search of llmnode's does, and once
more on as many as it likes."""

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

BINARY, PORT, FOLDER, SWIFTIDE = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
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


def ran(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def recall(found, exact):
    return sum(len(set(one) & set(other)) for one, other in zip(found, exact)) / (K * QUERIES)


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def compare(figure, count, unit, rounds):
    """Rounds are figures by name, llmnode's first."""
    middle = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    for name in middle:
        print(f"  {figure}, {count:,}, {name}: {', '.join(f'{one[name]:.2f}' for one in rounds)} {unit}", file=sys.stderr)
    own = middle.pop("llmnode")
    for name, other in middle.items():
        row(figure, f"{count:,}", f"{own:,.2f} {unit}", name, f"{other:,.2f} {unit}", f"{own / other:.2f}")


def main():
    row("figure", "chunks", "llmnode", "beside", "its figure", "ratio")
    row(*["---"] * 6)
    for count in (10_000, 100_000):
        folder = FOLDER / str(count)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        documents, queries, texts = make(folder, count)
        file = ran(BINARY, folder, "ingest")
        chroma_ingest, by_chroma = chroma(documents, texts)
        vec_ingest, by_vec = vec(folder / "vec.db", documents, texts)
        memory = [{"llmnode": ran(BINARY, folder, "memory")["ingest"], "swiftide": ran(SWIFTIDE, folder)} for _ in range(ROUNDS)]
        exact, rounds = numpy_search(documents), []
        for _ in range(ROUNDS):
            own = ran(BINARY, folder, "search")
            with threadpoolctl.threadpool_limits(1):
                exact(queries[0])
                one_thread, expected = median(exact, queries)
            exact(queries[0])
            threads, _ = median(exact, queries)
            chroma_ms, theirs = median(by_chroma, queries)
            vec_ms, _ = median(by_vec, queries)
            rounds.append({"llmnode": own["vector_ms"], "numpy, 1 thread": one_thread, "numpy, all threads": threads,
                           "Chroma": chroma_ms, "sqlite-vec": vec_ms})
        compare("search by vector", count, "ms", rounds)
        row("recall of the exact ten", f"{count:,}", str(recall(own["found"], expected)), "Chroma", str(recall(theirs, expected)), "")
        compare("ingest into a file, chunks/s", count, "", [{"llmnode": file["ingest"], "Chroma": chroma_ingest, "sqlite-vec": vec_ingest}])
        compare("ingest into memory, chunks/s", count, "", memory)
        compare("memory of a vector", count, "B", [{"llmnode": own["memory"], "its numbers": COLUMNS * 4}])
        for name, figure in (("search by a word", f"{own['words_ms']:.2f} ms"), ("search by both", f"{own['both_ms']:.2f} ms"),
                             ("ingest again, unchanged, chunks/s", f"{file['again']:,.0f}"), ("opening", f"{own['open_ms']:.0f} ms"),
                             ("file, a chunk", f"{own['file']:.0f} B")):
            row(name, f"{count:,}", figure, "", "", "")
        shutil.rmtree(folder)


main()
