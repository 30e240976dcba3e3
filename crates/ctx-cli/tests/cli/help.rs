//! What the command says about itself.

use insta::assert_snapshot;

use crate::ctx;

#[test]
fn the_version_is_one_line() {
    assert_snapshot!(ctx("--version", &[]), @"
    exit code 0
    === output
    ctx 0.1.0
    ");
}

#[test]
fn help_names_the_verbs_and_how_to_begin() {
    assert_snapshot!(ctx("--help", &[]), @"
    exit code 0
    === output
    Show the exact messages that an LLM receives, and explain each one

    Usage: ctx [OPTIONS] <COMMAND>

    Inspect:
      assemble     Show the messages that the model receives
      explain      Explain how the context is built, or trace one message
      diff         Compare two requests, or all requests of a log, and find where the prompt cache breaks
      check        Check files for errors, and apply safe fixes
      count        Count the tokens of a text, conversation or request
      recall       Search a conversation for passages about a question
      worldbook    Show active worldbook entries, and check worldbooks
      tap          Record the requests of another program
      mcp          Serve recall and request reports to an agent, over the Model Context Protocol
      hook         Answer a hook of a coding agent, before and after a compaction

    Edit:
      init         Create an example project
      studio       Edit a folder in the browser, with a live preview
      compress     Fit conversations to a token budget, or summarize them
      trust        Trust the `ctx.toml` of a folder

    Chat:
      chat         Chat with a model and store the conversation
      serve        Serve agents over the OpenAI, Anthropic and Gemini APIs
      session      Show, undo, export and import conversations

    Convert:
      import       Import SillyTavern, RisuAI or AIO Hub files as an agent
      export       Export an agent to SillyTavern or AIO Hub
      migrate      Update AIO Hub files to the current format

    Develop:
      test         Run snapshot tests of contexts
      anchors      List anchors and the entries placed at them
      processors   List the processors of the pipeline
      macros       List macros, and expand them in a text
      schema       Print JSON Schemas for editors
      completions  Print a shell completion script

    Options:
          --lang <LANG>
              Language of the output, also set by `CTX_LANG` [default: en]

              Possible values:
              - en: English
              - zh: Chinese

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Start with an example project:
      ctx init demo
      cd demo
      ctx assemble

    Results go to standard output, everything else to standard error. `-` means standard input.
    Exit codes: 0 success, 1 errors found, 2 usage error, 3 a file cannot be read, parsed or written,
    4 provider error, 5 no context fits the budget.
    ");
}

#[test]
fn shows_first_commands_without_arguments() {
    assert_snapshot!(ctx("", &[]), @"
    exit code 2
    === errors
    ctx shows the exact messages that an LLM receives, and explains each one.

    Start with an example project:
      ctx init demo
      cd demo
      ctx assemble

    Or import a SillyTavern character card:
      ctx import card.png --out ada

    Run `ctx --help` to list all commands, and `ctx COMMAND --help` for the options of one.
    ");
}

#[test]
fn help_of_assemble() {
    assert_snapshot!(ctx("assemble -h", &[]), @r#"
    exit code 0
    === output
    Show the messages that the model receives

    Usage: ctx assemble [OPTIONS] [AGENT]

    Arguments:
      [AGENT]  Agent or preset file [default: from ctx.toml]

    Options:
          --session <FILE>         Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from
                                   ctx.toml]
          --input <TEXT>           Next message of the user
          --profile <FILE>         User profile (JSON, YAML or plain text) [default: from ctx.toml]
          --worldbook <FILE>       Worldbook file, repeatable [default: from ctx.toml]
          --model <NAME>           Model name [default: from ctx.toml or the agent]
          --context-tokens <N>     Token limit of the context; 0 uses the model's context window
                                   [default: from ctx.toml or the agent]
          --format <FORMAT>        Output format [default: table] [possible values: table, json, text,
                                   snapshot, openai, openai-responses, anthropic, gemini, completion]
          --json                   Print JSON, same as `--format json`
          --all                    Show all messages in the table, even in long conversations
          --assets <DIR>           Attachment folder [default: from ctx.toml, or next to the
                                   conversation and agent]
          --at <RFC 3339>          Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
          --cache-marks <POLICY>   Prompt cache marks in the request body [default: off] [possible
                                   values: off, stable]
          --disable <ID,...>       Processors to disable
          --enable <ID,...>        Processors to enable; `ctx processors list` shows the ids
          --kind <KIND>            Generation type [default: normal] [possible values: normal, continue,
                                   impersonate, quiet]
          --model-settings <FILE>  Processor settings of the model, in the format of an agent's
                                   `parameters`
          --models <FILE>          Custom model table, searched before the built-in table
          --no-config              Ignore all `ctx.toml` files
          --prefix <MODE>          Prefix mode: whether text of earlier requests may change [default:
                                   from the agent] [possible values: moving, append-only, auto]
          --report <FILE>          File for the JSON report
          --reserve <N>            Tokens reserved for the response [default: from ctx.toml, the agent
                                   or model]
          --seed <N>               Seed for random values [default: 0]
          --template <NAME|FILE>   Turn template of text completions, by name or file [default: from the
                                   model name]
          --timings                Show the run time of each processor
          --tools <FILE>           Tool definitions, a list copied unchanged to the request body
          --tz <ZONE>              Time zone, such as Asia/Shanghai [default: from ctx.toml, or UTC]
          --lang <LANG>            Language of the output, also set by `CTX_LANG` [default: en]
                                   [possible values: en, zh]
      -h, --help                   Print help (see more with '--help')

    Examples:
      ctx assemble agent.yaml --session chat.json --profile me.yaml
      ctx assemble agent.yaml --input "Hello" --format openai
      ctx assemble agent.yaml --session chat.json --model claude-opus-5 --format anthropic
      ctx assemble --session chat.jsonl --context-tokens 8000 --format openai
      ctx assemble --session chat.jsonl --at 2026-01-31T12:00:00Z --format snapshot
    "#);
}

#[test]
fn long_help_has_details_below_each_option() {
    let help = ctx("processors list --help", &[]);
    for part in [
        "exit code 0\n=== output\nList the processors in run order, with their settings\n",
        "\nSettings have five layers, from lowest to highest: built-in, user (`ctx.toml`), model, agent,\ncommand line.",
        "\nUsage: ctx processors list [OPTIONS] [AGENT]\n",
        "\n  [AGENT]\n          Agent or preset file [default: from ctx.toml]\n",
        "\n      --enable <ID,...>\n          Processors to enable; `ctx processors list` shows the ids\n",
        "\n          - zh: Chinese\n",
        "\nExamples:\n  ctx processors list\n  ctx processors list agent.yaml --disable token-limiter\n",
    ] {
        assert!(help.contains(part), "no `{part}` in\n{help}");
    }
}
