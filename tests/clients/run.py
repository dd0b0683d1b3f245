"""Runs the Python client against a gateway in front of the shop; one line for each transport and era.

Reads GATEWAY_URL, BACKEND_URL, SEZZLEE_BIN and SHOP_DOCUMENT from the environment.
"""

import asyncio
import json
import os
import re
import warnings
from importlib.metadata import version

from mcp import Client, MCPError, StdioServerParameters

PATIENCE_SECONDS = 120

# The handshake era has a ping, and it is checked.
warnings.filterwarnings("ignore", message="ping is removed")


class Checks:
    """Counts checks; a run that made none is a failure of the run."""

    def __init__(self):
        self.count = 0

    def ok(self, condition, what):
        if not condition:
            raise AssertionError(what)
        self.count += 1

    def equal(self, actual, expected, what):
        self.ok(actual == expected, f"{what}: {actual!r} instead of {expected!r}")


def envelope(checks, result):
    """The JSON object inside the one text block of a tool result."""
    checks.equal([block.type for block in result.content], ["text"], "one text block")
    checks.ok(result.structured_content is None, "no structured content")
    return json.loads(result.content[0].text)


async def check(server, mode, revision):
    checks = Checks()
    async with Client(server, mode=mode) as client:
        checks.equal(client.protocol_version, revision, "the revision")
        checks.equal(client.server_info.name, "sezzlee", "the name of the server")

        async def succeed(name, arguments):
            result = await client.call_tool(name, arguments)
            checks.ok(not result.is_error, f"{name} succeeds: {result.content}")
            return envelope(checks, result)

        async def fail(name, arguments, code):
            result = await client.call_tool(name, arguments)
            checks.equal(result.is_error, True, f"{name} fails with {code}")
            checks.equal(envelope(checks, result)["error"], code, "the code of the failure")

        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        checks.equal(names, ["load_tool", "search_tools", "invoke_tool"], "three tools")
        for tool in tools:
            checks.equal(tool.meta["sezzlee/catalogGeneration"], 0, "the first generation")

        page = await succeed("search_tools", {"query": "list orders", "limit": 5})
        found = [card["name"] for card in page["results"]]
        checks.ok("list_orders" in found, "the operation is found")

        definition = await succeed("load_tool", {"name": "list_orders"})
        checks.ok(re.fullmatch("[0-9a-f]{16}", definition["version"]), "a version")
        await fail("load_tool", {"name": "no_such_operation"}, "unknown_tool")

        pinned = {"name": "list_orders", "version": definition["version"], "arguments": {"limit": 2}}
        checks.equal((await succeed("invoke_tool", pinned))["status"], 200, "the status of the backend")
        missing = {"name": "get_order", "arguments": {"order_id": 999999999}}
        await fail("invoke_tool", missing, "not_found")
        await fail("invoke_tool", {"name": "export_orders", "arguments": {}}, "response_too_large")

        try:
            await client.call_tool("create_order", {})
        except MCPError as error:
            checks.equal(error.error.code, -32602, "a tool that is none")
        else:
            raise AssertionError("a tool that is none was called")

        pages = await asyncio.gather(*(succeed("search_tools", {"query": "invoice"}) for _ in range(20)))
        checks.ok(all(one == pages[0] for one in pages), "equal answers")

        if mode == "legacy":
            await client.send_ping()
            checks.ok(True, "ping")
        else:
            async with client.listen(tools_list_changed=True, prompts_list_changed=True) as subscription:
                checks.equal(subscription.honored.tools_list_changed, True, "tools are listened for")
                checks.ok(not subscription.honored.prompts_list_changed, "prompts are not")
            await succeed("search_tools", {"query": "order"})
    return checks.count


async def main():
    client = f"Python mcp {version('mcp')}"
    shop = StdioServerParameters(
        command=os.environ["SEZZLEE_BIN"],
        args=[
            "serve",
            "--stdio",
            os.environ["SHOP_DOCUMENT"],
            "--base-url",
            os.environ["BACKEND_URL"],
            "--allow-private",
        ],
    )
    for mode, revision in [("auto", "2026-07-28"), ("legacy", "2025-11-25")]:
        for transport, server in [("HTTP", os.environ["GATEWAY_URL"]), ("stdio", shop)]:
            count = await asyncio.wait_for(check(server, mode, revision), PATIENCE_SECONDS)
            if count == 0:
                raise AssertionError("no check was made")
            print(f"ok: {client}, {transport}, {mode}: {count} checks", flush=True)


asyncio.run(main())
