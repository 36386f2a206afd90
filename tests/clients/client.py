"""Drives `highwater mcp` with the Python client, over stdio and HTTP, in both generations of the protocol.

    client.py PROGRAM HOME

HOME is the home of a `highwater demo --once`. Prints one line per check, `ok …` or `not ok …`.
"""

import asyncio
import subprocess
import sys

from mcp import Client, StdioServerParameters

TOOLS = ["list_discussions", "list_issues", "list_pull_requests", "search", "get_thread", "read_events", "ack_events"]
WRITING = {"read_events", "ack_events"}
FAILED = []


def check(name, passed, actual=""):
    print(f"ok {name}" if passed else f"not ok {name}: {actual}", flush=True)
    if not passed:
        FAILED.append(name)


async def check_session(where, server, mode):
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        check(f"{where}: tools are listed", [tool.name for tool in tools] == TOOLS, tools)
        honest = all(tool.annotations.read_only_hint == (tool.name not in WRITING) for tool in tools)
        check(f"{where}: tools say whether they write", honest, tools)
        # the client validates each answer against the tool's output schema, and raises
        for tool, arguments, start in [
            ("list_issues", {"limit": 2}, "## "),
            ("list_pull_requests", {"limit": 2, "fields": ["title", "url"]}, "Total 180 pull requests found.\n\n## "),
            ("list_discussions", {"authors": ["nobody"]}, "No discussions found."),
            ("search", {"query": "pump"}, "## "),
            ("search", {"query": "\"unbalanced AND ("}, "No results found for "),
            ("get_thread", {"thread": "harborworks/pump#1"}, "## "),
            ("read_events", {"consumer": "client"}, "No events found."),
            ("ack_events", {"consumer": "client", "ids": ["0" * 32]}, "Acknowledged 0 events."),
        ]:
            answer = await client.call_tool(tool, arguments)
            text = answer.content[0].text
            check(f"{where}: {tool} {arguments}", not answer.is_error and text.startswith(start), text[:200])
            check(f"{where}: {tool} has structured content", "fresh_through" in answer.structured_content, answer)
        wrong = await client.call_tool("list_issues", {"fields": ["x"]})
        message = "Invalid fields: x\n\nUse one of the available fields: title, url, "
        check(f"{where}: wrong arguments are reported", wrong.is_error and wrong.content[0].text.startswith(message), wrong)
        first = (await client.call_tool("list_issues", {"limit": 1})).structured_content
        second = (await client.call_tool("list_issues", {"limit": 1, "cursor": first["next_cursor"]})).structured_content
        check(f"{where}: pages differ", first["items"] != second["items"], second)
        prompts = (await client.list_prompts()).prompts
        check(f"{where}: prompt is listed", [prompt.name for prompt in prompts] == ["user_summary"], prompts)
        prompt = await client.get_prompt("user_summary", {"username": "anchor", "period": "last week"})
        text = prompt.messages[0].content.text
        start = "Summarize the accomplishments of the user anchor during last week, "
        check(f"{where}: prompt is filled in", text.startswith(start), text)


async def check_http(program, arguments):
    command = [program, "mcp", *arguments, "--http", "0"]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        url = server.stderr.readline().removeprefix("listening on ").strip()
        for mode in ["legacy", "2026-07-28"]:
            await check_session(f"python, http, {mode}", url, mode)
    finally:
        server.terminate()
        check("python, http: server ends when terminated", server.wait(timeout=10) == 0, server.returncode)


async def main(program, home):
    arguments = ["-m", home, "--toolsets", "threads,events"]
    for mode in ["legacy", "2026-07-28"]:
        server = StdioServerParameters(command=program, args=["mcp", *arguments])
        await check_session(f"python, stdio, {mode}", server, mode)
    await check_http(program, arguments)


asyncio.run(main(*sys.argv[1:]))
sys.exit(1 if FAILED else 0)
