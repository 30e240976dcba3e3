# pyright: basic
"""The pytest plugin in runs of pytest."""

import json

import pytest
from langchain_core.messages import HumanMessage

from ctx.pytest_plugin import write_snapshot

pytest_plugins = ["pytester"]

TEST = '''
def test_context(ctx_snapshot):
    ctx_snapshot([{"role": "user", "content": "Hello"}])
    ctx_snapshot({"tokens": TOKENS}, name="report")
'''


def run(pytester: pytest.Pytester, tokens: int, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_app=TEST.replace("TOKENS", str(tokens)))
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)


def test_fails_until_snapshots_are_written(pytester: pytest.Pytester) -> None:
    missing = run(pytester, 3)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*is missing; run `pytest --ctx-update`*"])
    assert not (pytester.path / "__ctx__").exists()
    run(pytester, 3, "--ctx-update").assert_outcomes(passed=1)
    run(pytester, 3).assert_outcomes(passed=1)
    file = pytester.path / "__ctx__" / "test_app.test_context.report.json"
    assert file.read_bytes() == b'{\n  "tokens": 3\n}\n'
    changed = run(pytester, 4)
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["*differs from*"])
    assert json.loads(file.read_text()) == {"tokens": 3}


def test_accepts_files_with_carriage_returns(pytester: pytest.Pytester) -> None:
    run(pytester, 3, "--ctx-update").assert_outcomes(passed=1)
    for file in (pytester.path / "__ctx__").iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    run(pytester, 3).assert_outcomes(passed=1)


def test_refuses_two_snapshots_of_one_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_twice(ctx_snapshot):\n    ctx_snapshot(1)\n    ctx_snapshot(2)\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--ctx-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pass `name`*"])


def test_separates_parametrized_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n@pytest.mark.parametrize('one', ['a/b', 'a\\\\b'])\ndef test_it(ctx_snapshot, one):\n"
        "    ctx_snapshot(one)\n"
    )
    options = ("-p", "no:cacheprovider")
    pytester.runpytest_inprocess(*options, "--ctx-update").assert_outcomes(passed=2)
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=2)


def test_replaces_random_ids_and_times() -> None:
    first, second = "0a1b2c3d-0000-4000-8000-00000000000a", "0A1B2C3D-0000-4000-8000-00000000000B"
    messages = [
        HumanMessage("It is 2026-12-01T10:00:00Z.", id=first),
        {"role": "tool", "tool_call_id": second, "content": f"see {first}"},
    ]
    written = json.loads(write_snapshot(messages))
    assert written[0]["content"] == "It is <time 1>."
    assert written[0]["id"] == "<uuid 1>" and written[1]["tool_call_id"] == "<uuid 2>"
    assert written[1]["content"] == "see <uuid 1>"


def test_refuses_values_that_are_not_json() -> None:
    with pytest.raises(TypeError, match="convert it to dicts and lists"):
        write_snapshot({"value": object()})
