"""A shop by the SDK of the protocol's authors, which asks in the middle of a refund: refund.py PORT [FILE].

Each refund is a line of FILE, with its time in milliseconds."""

import sys
import time
from typing import Annotated

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

shop = MCPServer("shop")


class Amount(BaseModel):
    euros: int


def how_much(order: str) -> Elicit[Amount]:
    return Elicit(f"How many euros for the order {order}?", Amount)


@shop.tool()
def refund(order: str, amount: Annotated[Amount, Resolve(how_much)]) -> str:
    """Refunds an order."""
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a") as refunds:
            refunds.write(f"{time.time_ns() // 1_000_000} {amount.euros} for {order}\n")
    return f"{amount.euros} euros are refunded for the order {order}"


uvicorn.run(shop.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
