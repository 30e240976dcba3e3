"""Runs the cases of the conformance suite through the package.

Usage: conformance.py SUITE.zip LINES. Compares what comes out of each case with what the suite expects, but for
``decisions``, and writes all calls with their results into LINES, for comparing bytes with Rust's.
"""

import base64
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import ctx

AS_THE_COMMAND = ["macros/unknown_zone_is_utc", "worldbook/books_of_cards_follow_their_rules"]
QUIET = ["merge-system-to-head", "merge-consecutive-roles"]
OF_A_MESSAGE = ["role", "content", "name", "tool_calls", "tool_call_id", "attachments", "prefix"]
RENAMED = {"expand_input": "expandInput", "profile_name": "profileName", "context_tokens": "contextTokens"}
OF_A_TURN = ["input", "expand_input", "kind", "model", "profile_name", "at", "tz", "seed", "context_tokens", "reserve"]


def main(suite: str, lines: Path) -> None:
    with zipfile.ZipFile(suite) as archive, lines.open("w") as written:
        manifest = json.loads(archive.read("manifest.json"))
        run = left = 0
        different = []
        for case in manifest["cases"]:
            name = case["name"]
            options = json.loads(archive.read(f"cases/{name}/case.json"))
            # Turns that follow each other, and files that only `ctx-documents` reads, are no part of the package.
            # Two more differ as the command does: it refuses zones that do not exist, and calls books by their titles.
            if options.get("turns", 1) > 1 or "files" in case["needs"] or name in AS_THE_COMMAND:
                left += 1
                continue
            read = {path: archive.read(f"cases/{name}/{path}") for path in case["files"]}
            outcome = of_case(options, read, written)
            expected = json.loads(archive.read(f"cases/{name}/expected.json"))
            expected.pop("decisions", None)
            if "unreadable" in expected or "error" in expected:
                expected.pop("findings", None)
            if outcome != expected:
                different.append(name)
            run += 1
    print(f"{run - len(different)} of {run} cases give what the suite expects, {left} left out")
    if different:
        sys.exit("these differ: " + ", ".join(different))


def document(path: str, content: bytes) -> dict[str, Any]:
    return {"file": path, "base64": base64.b64encode(content).decode()}


def of_case(options: dict[str, Any], files: dict[str, bytes], written: Any) -> dict[str, Any]:
    given: dict[str, Any] = {}
    assets: dict[str, str] = {}
    for path, content in sorted(files.items()):
        stem = path.split("/")[0].split(".")[0]
        if path.startswith("assets/"):
            assets[path.removeprefix("assets/")] = base64.b64encode(content).decode()
        elif stem.startswith("worldbook"):
            given.setdefault("worldbooks", []).append(document(path, content))
        else:
            given["conversation" if stem == "session" else stem] = document(path, content)
    given["enable"] = options.get("enable", [])
    given["disable"] = options.get("disable", []) + ([] if options.get("formatters") else QUIET)
    for key, name in [("user_parameters", "userSettings"), ("model_parameters", "modelSettings"), ("at_hand", "atHand")]:
        if key in options:
            given[name] = options[key]
    given |= {RENAMED.get(key, key): options[key] for key in OF_A_TURN if key in options}
    if assets:
        given["files"] = assets
    made = answer("assemble", given, written)
    if "error" in made and made["error"]["code"].startswith("CTX"):
        return {"unreadable": unreadable(files)}
    if "error" in made:
        return {"error": made["error"]["code"]}
    outcome: dict[str, Any] = {"messages": [message(one) for one in made["messages"]]}
    outcome["findings"] = sorted(found["code"] for found in made["report"].get("diagnostics", []))
    bodies = {}
    tools = {"tools": options["tools"]} if "tools" in options else {}
    for dialect in options.get("bodies", []):
        own = {"format": dialect, "parameters": options.get("parameters", {})}
        bodies[dialect] = answer("assemble", given | own | tools, written).get("body")
    if options.get("openai"):
        bodies["openai"] = answer("assemble", given | {"format": "openai"}, written).get("body")
    # A body names the model of the turn; where a case has none, the suite writes `model`.
    for body in filter(None, bodies.values()):
        if body.get("model") == "unspecified":
            body["model"] = "model"
    outcome["bodies"] = bodies
    return outcome


def unreadable(files: dict[str, bytes]) -> list[str]:
    """Names the documents that cannot be read, each tried alone."""
    found = []
    order = ["agent", "session", "profile"]
    for path, content in sorted(files.items(), key=lambda file: [file[0].split(".")[0] != one for one in order]):
        stem = path.split(".")[0]
        kind = "worldbooks" if stem.startswith("worldbook") else {"session": "conversation"}.get(stem, stem)
        given = document(path, content)
        try:
            ctx.call("assemble", {kind: [given] if kind == "worldbooks" else given, "contextTokens": 0})
        except ctx.CtxError as error:
            if error.code.startswith("CTX"):
                found.append(stem)
    return found


def message(one: dict[str, Any]) -> dict[str, Any]:
    kept = {key: one[key] for key in OF_A_MESSAGE if key in one}
    source = {key: one["source"][key] for key in ["kind", "id", "index"] if key in one["source"]}
    return kept | {"source": source}


def answer(name: str, given: dict[str, Any], written: Any) -> dict[str, Any]:
    """Carries out an operation and notes the call with its result."""
    try:
        result = ctx.call_json(name, json.dumps(given))
    except ctx.CtxError as error:
        problem = {"error": {"code": error.code, "message": str(error)}}
        result = json.dumps(problem, ensure_ascii=False, separators=(",", ":"))
    written.write(json.dumps([name, given]) + "\t" + result + "\n")
    value: dict[str, Any] = json.loads(result)
    return value


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
