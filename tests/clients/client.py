"""Drives `highwater mcp` with the Python client, over stdio and HTTP, in both eras of the protocol.

    client.py PROGRAM HOME

HOME holds what `highwater demo --once` pulled. One line a check, `ok …` or `not ok …`.
"""

import asyncio
import subprocess
import sys

from mcp import Client, StdioServerParameters

TOOLS = ["list_discussions", "list_issues", "list_pull_requests", "search", "get_thread"]
FAILED = []


def check(name, holds, seen=""):
    print(f"ok {name}" if holds else f"not ok {name}: {seen}", flush=True)
    if not holds:
        FAILED.append(name)


async def converse(where, server, mode):
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        check(f"{where}: the tools are listed", [tool.name for tool in tools] == TOOLS, tools)
        check(f"{where}: they only read", all(tool.annotations.read_only_hint for tool in tools), tools)
        # the client compares each answer with the tool's output schema by itself, and raises
        for tool, arguments, start in [
            ("list_issues", {"limit": 2}, "## "),
            ("list_pull_requests", {"limit": 2, "fields": ["title", "url"]}, "Total 180 pull requests found.\n\n## "),
            ("list_discussions", {"authors": ["nobody"]}, "No discussions found."),
            ("search", {"query": "pump"}, "## "),
            ("search", {"query": "\"unbalanced AND ("}, "No results found for "),
            ("get_thread", {"thread": "harbourworks/pump#1"}, "## "),
        ]:
            answer = await client.call_tool(tool, arguments)
            text = answer.content[0].text
            check(f"{where}: {tool} {arguments}", not answer.is_error and text.startswith(start), text[:200])
            check(f"{where}: {tool} has facts", "fresh_through" in answer.structured_content, answer)
        wrong = await client.call_tool("list_issues", {"fields": ["x"]})
        told = "Invalid fields: x\n\nUse one of the available fields: title, url, "
        check(f"{where}: a mistake is told", wrong.is_error and wrong.content[0].text.startswith(told), wrong)
        first = (await client.call_tool("list_issues", {"limit": 1})).structured_content
        second = (await client.call_tool("list_issues", {"limit": 1, "cursor": first["next_cursor"]})).structured_content
        check(f"{where}: pages follow each other", first["items"] != second["items"], second)
        prompts = (await client.list_prompts()).prompts
        check(f"{where}: the prompt is listed", [it.name for it in prompts] == ["user_summary"], prompts)
        prompt = await client.get_prompt("user_summary", {"username": "anchor", "period": "last week"})
        text = prompt.messages[0].content.text
        told = "Summarize the accomplishments of the user anchor during last week, "
        check(f"{where}: the prompt is filled in", text.startswith(told), text)


async def over_http(program, arguments):
    command = [program, "mcp", *arguments, "--http", "0"]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        url = server.stderr.readline().removeprefix("listening on ").strip()
        for mode in ["legacy", "2026-07-28"]:
            await converse(f"python, http, {mode}", url, mode)
    finally:
        server.terminate()
        check("python, http: it ends when it is told to", server.wait(timeout=10) == 0, server.returncode)


async def main(program, home):
    arguments = ["-m", home, "--toolsets", "threads"]
    for mode in ["legacy", "2026-07-28"]:
        server = StdioServerParameters(command=program, args=["mcp", *arguments])
        await converse(f"python, stdio, {mode}", server, mode)
    await over_http(program, arguments)


asyncio.run(main(*sys.argv[1:]))
sys.exit(1 if FAILED else 0)
