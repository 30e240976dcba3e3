"""Calls the tools of `ctx mcp` with the official client for Python: `mcp_client.py MODE JSON`."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode: str, ctx: str, project: str, environment: dict, calls: list) -> None:
    server = StdioServerParameters(command=ctx, args=["mcp"], cwd=project, env=environment)
    async with Client(server, mode=mode) as client:
        names = sorted(tool.name for tool in (await client.list_tools()).tools)
        assert names == ["count_tokens", "diff_requests", "explain_request", "recall", "what_was_lost"], names
        for index, (name, given, expected) in enumerate(calls):
            result = await client.call_tool(name, given)
            assert expected in result.content[0].text, (name, result.content[0].text)
            assert bool(result.is_error) == (index >= len(calls) - 2), (name, result)
        first = (await client.list_resources()).resources[0]
        read = await client.read_resource(first.uri)
        assert json.loads(read.contents[0].text)["model"] == "gpt-5.4", read
    print(f"Python client, {mode}: {len(calls)} calls")


asyncio.run(main(sys.argv[1], **json.loads(sys.argv[2])))
