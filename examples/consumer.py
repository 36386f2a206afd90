#!/usr/bin/env python3
"""Notes each comment in a file, once.

    highwater events exec --consumer notes --forever -- python3 examples/consumer.py notes.jsonl
"""

import json
import pathlib
import sys

RETRY_LATER = 75
event = json.load(sys.stdin)
notes = pathlib.Path(sys.argv[1])
try:
    known = notes.read_text().splitlines() if notes.exists() else []
    if any(json.loads(line)["id"] == event["id"] for line in known):
        sys.exit(0)  # delivered twice: the last run ended before its event was acknowledged
    note = {name: event[name] for name in ["id", "change", "author", "url", "body"]}
    with notes.open("a") as file:
        file.write(json.dumps(note) + "\n")
except OSError as error:
    print(f"{notes}: {error}", file=sys.stderr)
    sys.exit(RETRY_LATER)
print(f"noted {event['url']}")
