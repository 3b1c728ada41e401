"""PocketFlow: prints the nanoseconds that a step takes, of the processor and by the clock.

by_pocketflow.py STEPS_IN_ALL FLAVOUR STEPS RUNS yes|no, as for the program `steps`; FLAVOUR is pocketflow or
pocketflow-async."""

import asyncio
import sys
import time

from pocketflow import AsyncFlow, AsyncNode, Flow, Node


class Add(Node):
    def prep(self, shared):
        return shared["count"]

    def exec(self, count):
        return count + 1

    def post(self, shared, prep_res, exec_res):
        shared["count"] = exec_res


class Decide(Node):
    def post(self, shared, prep_res, exec_res):
        return "more" if shared["count"] < shared["limit"] else "enough"


class AsyncAdd(AsyncNode):
    async def prep_async(self, shared):
        return shared["count"], shared["yields"]

    async def exec_async(self, prep_res):
        count, yields = prep_res
        if yields:
            await asyncio.sleep(0)
        return count + 1

    async def post_async(self, shared, prep_res, exec_res):
        shared["count"] = exec_res


class AsyncDecide(AsyncNode):
    async def prep_async(self, shared):
        return shared["yields"]

    async def exec_async(self, yields):
        if yields:
            await asyncio.sleep(0)

    async def post_async(self, shared, prep_res, exec_res):
        return "more" if shared["count"] < shared["limit"] else "enough"


class Done(Node):
    pass


def connected(add, decide):
    # Without a successor for "enough", PocketFlow warns at the end of each run.
    add >> decide
    decide - "more" >> add
    decide - "enough" >> Done()
    return add


def state(steps, yields):
    return {"count": 0, "limit": steps // 2, "yields": yields, "notes": [7] * 125}


def once(steps, yields):
    shared = state(steps, yields)
    Flow(start=connected(Add(), Decide())).run(shared)
    assert shared["count"] == steps // 2


async def once_async(steps, yields):
    shared = state(steps, yields)
    await AsyncFlow(start=connected(AsyncAdd(), AsyncDecide())).run_async(shared)
    assert shared["count"] == steps // 2


async def in_flight(runs, steps, yields):
    await asyncio.gather(*(once_async(steps, yields) for _ in range(runs)))


def main():
    in_all, flavour, steps, runs, yields = sys.argv[1:]
    steps, runs, yields, in_all = int(steps), int(runs), yields == "yes", int(in_all)
    times = max(1, in_all // steps // runs)
    before = [time.process_time_ns(), time.perf_counter_ns()]
    for _ in range(times):
        if flavour == "pocketflow":
            assert runs == 1, "AsyncFlow is for more than one at a time"
            once(steps, yields)
        else:
            asyncio.run(in_flight(runs, steps, yields))
    after = [time.process_time_ns(), time.perf_counter_ns()]
    print(*((end - begin) / (times * runs * steps) for begin, end in zip(before, after)))


main()
