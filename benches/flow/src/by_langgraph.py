"""LangGraph: the same task, and the time of `compile`: `STEPS_IN_ALL langgraph STEPS RUNS yes|no`, or `load NODES`."""

import sys
import time
from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    count: int
    limit: int
    notes: list


def graph():
    builder = StateGraph(State)
    builder.add_node("add", lambda state: {"count": state["count"] + 1})
    builder.add_node("decide", lambda state: {})
    builder.add_edge(START, "add")
    builder.add_edge("add", "decide")
    builder.add_conditional_edges("decide", lambda state: "add" if state["count"] < state["limit"] else END, ["add", END])
    return builder.compile()


def steps(in_all, steps):
    compiled = graph()
    times = max(in_all // steps, 1)

    def once():
        state = compiled.invoke({"count": 0, "limit": steps // 2, "notes": [7] * 125}, {"recursion_limit": steps + 10})
        assert state["count"] == steps // 2

    once()
    cpu, clock = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(times):
        once()
    done = times * steps
    print((time.process_time_ns() - cpu) / done, (time.perf_counter_ns() - clock) / done)


def load(nodes):
    """Builds and compiles a graph of routers that lead on or back."""
    def once():
        builder = StateGraph(State)
        for at in range(nodes):
            builder.add_node(f"n{at}", lambda state: {})
        builder.add_edge(START, "n0")
        for at in range(nodes):
            on = END if at + 1 == nodes else f"n{at + 1}"
            builder.add_conditional_edges(f"n{at}", lambda state, on=on: on, [on, f"n{at // 2}"])
        return builder.compile()

    once()
    times = max(2000 // nodes, 2)
    cpu = time.process_time_ns()
    for _ in range(times):
        once()
    print((time.process_time_ns() - cpu) / times)


if __name__ == "__main__":
    if sys.argv[1] == "load":
        load(int(sys.argv[2]))
    else:
        steps(int(sys.argv[1]), int(sys.argv[3]))
