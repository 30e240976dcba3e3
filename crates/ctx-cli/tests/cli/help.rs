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
      diff         Compare two contexts, and find where the prompt cache breaks
      check        Check files for errors, and apply safe fixes
      count        Count the tokens of a text or conversation
      recall       Search a conversation for passages about a question
      worldbook    Show active worldbook entries, and check worldbooks

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
          --model <NAME>           Target model [default: from ctx.toml or the agent]
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
fn help_of_explain() {
    assert_snapshot!(ctx("explain -h", &[]), @"
    exit code 0
    === output
    Explain how the context is built, or trace one message

    Usage: ctx explain [OPTIONS] [AGENT] [MSG]

    Arguments:
      [AGENT]  Agent or preset file [default: from ctx.toml]
      [MSG]    Message to trace: its number, or its source as printed in tables

    Options:
          --session <FILE>         Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from
                                   ctx.toml]
          --input <TEXT>           Next message of the user
          --profile <FILE>         User profile (JSON, YAML or plain text) [default: from ctx.toml]
          --worldbook <FILE>       Worldbook file, repeatable [default: from ctx.toml]
          --model <NAME>           Target model [default: from ctx.toml or the agent]
          --context-tokens <N>     Token limit of the context; 0 uses the model's context window
                                   [default: from ctx.toml or the agent]
          --message <MSG>          Same as MSG, for use without AGENT
          --html <FILE>            File for a self-contained HTML report
          --json                   Print the report or message trace as JSON
          --assets <DIR>           Attachment folder [default: from ctx.toml, or next to the
                                   conversation and agent]
          --at <RFC 3339>          Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
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
          --reserve <N>            Tokens reserved for the response [default: from ctx.toml, the agent
                                   or model]
          --seed <N>               Seed for random values [default: 0]
          --timings                Show the run time of each processor
          --tools <FILE>           Tool definitions, a list copied unchanged to the request body
          --tz <ZONE>              Time zone, such as Asia/Shanghai [default: from ctx.toml, or UTC]
          --lang <LANG>            Language of the output, also set by `CTX_LANG` [default: en]
                                   [possible values: en, zh]
      -h, --help                   Print help (see more with '--help')

    Examples:
      ctx explain agent.yaml --session chat.json --context-tokens 8000
      ctx explain agent.yaml --session chat.json 0
      ctx explain agent.yaml --session chat.json history:n3
      ctx explain --session chat.json --message 2
      ctx explain agent.yaml --session chat.json --html context.html
      ctx explain agent.yaml --session chat.json --timings
      ctx explain agent.yaml --session chat.json --json
    ");
}

#[test]
fn help_of_check() {
    assert_snapshot!(ctx("check -h", &[]), @"
    exit code 0
    === output
    Check files for errors, and apply safe fixes

    Usage: ctx check [OPTIONS] [PATHS]...

    Arguments:
      [PATHS]...  Files, or folders with JSON, JSON Lines, YAML and `ctx.toml` files [default: the
                  current folder]

    Options:
          --fix               Apply safe fixes and show the changes
          --dry-run           With `--fix`, show the changes without writing them
          --deny-warnings     Treat warnings as errors
          --explain <CODE>    Explain a diagnostic code, such as CTX0200
          --worldbook <FILE>  Worldbook file for the agents, repeatable
          --models <FILE>     Custom model table, searched before the built-in table
          --as <FORMAT>       Format of the files, and of unknown files in folders, or API dialect of
                              request bodies [possible values: agent, session, lorebook, profile,
                              openai, openai-responses, anthropic, gemini, completion]
          --json              Print JSON
          --lang <LANG>       Language of the output, also set by `CTX_LANG` [default: en] [possible
                              values: en, zh]
      -h, --help              Print help (see more with '--help')

    Examples:
      ctx check presets/ chat.json
      ctx check presets/ --deny-warnings --json
      ctx check agent.yaml --worldbook sky.json
      ctx check agent.yaml --fix
      ctx check --explain CTX0200

    Exit codes: 0 no errors, 1 errors found, 2 usage error, 3 a file cannot be read, parsed or written.
    ");
}

#[test]
fn help_of_anchors_list() {
    assert_snapshot!(ctx("anchors list --help", &[]), @"
    exit code 0
    === output
    List built-in anchors, and the anchors and entries of an agent

    Usage: ctx anchors list [OPTIONS] [AGENT]

    Arguments:
      [AGENT]
              Agent or preset file [default: from ctx.toml]

    Options:
          --json
              Print JSON

          --no-config
              Ignore all `ctx.toml` files

          --lang <LANG>
              Language of the output, also set by `CTX_LANG` [default: en]

              Possible values:
              - en: English
              - zh: Chinese

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      ctx anchors list
      ctx anchors list agent.yaml --json
    ");
}

#[test]
fn help_of_processors_list() {
    assert_snapshot!(ctx("processors list --help", &[]), @"
    exit code 0
    === output
    List the processors in run order, with their settings

    Settings have five layers, from lowest to highest: built-in, user (`ctx.toml`), model, agent,
    command line. For each processor, the highest layer that names it replaces all lower layers except
    the built-in defaults.

    Usage: ctx processors list [OPTIONS] [AGENT]

    Arguments:
      [AGENT]
              Agent or preset file [default: from ctx.toml]

    Options:
          --json
              Print JSON, including the fields of each processor

          --disable <ID,...>
              Processors to disable

          --enable <ID,...>
              Processors to enable; `ctx processors list` shows the ids

          --model-settings <FILE>
              Processor settings of the model, in the format of an agent's `parameters`

          --no-config
              Ignore all `ctx.toml` files

          --lang <LANG>
              Language of the output, also set by `CTX_LANG` [default: en]

              Possible values:
              - en: English
              - zh: Chinese

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      ctx processors list
      ctx processors list agent.yaml --disable token-limiter
      ctx processors list agent.yaml --json
    ");
}

#[test]
fn help_of_test() {
    // The parser indents a blank line.
    let help = ctx("test --help", &[]);
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    assert_snapshot!(lines.join("\n"), @"
    exit code 0
    === output
    Run snapshot tests of contexts

    A test case is a folder with an agent (`agent.yaml`), a conversation (`session.json`) or both, and
    the snapshot `expected.txt`. It can also contain `profile.yaml`, `worldbook.json` and options in
    `case.yaml`.

    Usage: ctx test [OPTIONS] [DIR]...

    Arguments:
      [DIR]...
              Folders to search for test cases

              [default: .]

    Options:
          --update
              Write the results as the new snapshots

          --watch
              Rerun the tests when a file changes, until Ctrl-C

          --junit <FILE>
              File for a JUnit XML report

          --json
              Print JSON

          --lang <LANG>
              Language of the output, also set by `CTX_LANG` [default: en]

              Possible values:
              - en: English
              - zh: Chinese

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      ctx test tests
      ctx test tests --update              save the results as snapshots
      ctx test tests --watch               rerun when a file changes
      ctx test tests --junit results.xml   write a report for CI

    Exit codes: 0 all tests passed, 1 a test failed or has no snapshot, 2 usage error,
    3 a file cannot be read.
    ");
}

#[test]
fn help_of_count() {
    assert_snapshot!(ctx("count -h", &[]), @r#"
    exit code 0
    === output
    Count the tokens of a text or conversation

    Usage: ctx count [OPTIONS] [FILE]

    Arguments:
      [FILE]  Conversation or text file [default: standard input]

    Options:
          --model <NAME>   Model to count tokens for [default: from ctx.toml]
          --all            Show all messages in the table, even in long conversations
          --json           Print JSON
          --models <FILE>  Custom model table, searched before the built-in table
          --no-config      Ignore all `ctx.toml` files
          --lang <LANG>    Language of the output, also set by `CTX_LANG` [default: en] [possible
                           values: en, zh]
      -h, --help           Print help (see more with '--help')

    Examples:
      ctx count --model gpt-5 chat.json
      echo "Hello" | ctx count
    "#);
}

#[test]
fn help_of_schema() {
    assert_snapshot!(ctx("schema -h", &[]), @"
    exit code 0
    === output
    Print JSON Schemas for editors

    Usage: ctx schema [OPTIONS] [NAME]

    Arguments:
      [NAME]  Schema to print

    Options:
          --out <DIR>    Output folder for `NAME.schema.json` files
          --json         Print the list or the written files as JSON
          --lang <LANG>  Language of the output, also set by `CTX_LANG` [default: en] [possible values:
                         en, zh]
      -h, --help         Print help (see more with '--help')

    Examples:
      ctx schema
      ctx schema agent > agent.schema.json
      ctx schema --out schemas
    ");
}

#[test]
fn help_of_completions() {
    assert_snapshot!(ctx("completions -h", &[]), @"
    exit code 0
    === output
    Print a shell completion script

    Usage: ctx completions [OPTIONS] <SHELL>

    Arguments:
      <SHELL>  Shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
          --json         Print JSON
          --lang <LANG>  Language of the output, also set by `CTX_LANG` [default: en] [possible values:
                         en, zh]
      -h, --help         Print help (see more with '--help')

    Examples:
      ctx completions bash > ~/.local/share/bash-completion/completions/ctx
      ctx completions fish > ~/.config/fish/completions/ctx.fish
    ");
}

#[test]
fn help_of_init() {
    assert_snapshot!(ctx("init -h", &[]), @"
    exit code 0
    === output
    Create an example project

    Usage: ctx init [OPTIONS] [FOLDER]

    Arguments:
      [FOLDER]  Output folder [default: .]

    Options:
          --long         Enable compression and recall for long conversations
          --force        Replace existing files
          --json         Print JSON
          --lang <LANG>  Language of the output, also set by `CTX_LANG` [default: en] [possible values:
                         en, zh]
      -h, --help         Print help (see more with '--help')

    Examples:
      ctx init demo
      ctx init demo --long
    ");
}

#[test]
fn an_unknown_verb_is_a_usage_error() {
    assert_snapshot!(ctx("asemble", &[]), @"
    exit code 2
    === errors
    error: unrecognized subcommand 'asemble'

      tip: a similar subcommand exists: 'assemble'

    Usage: ctx [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn help_of_worldbook_scan() {
    assert_snapshot!(ctx("worldbook scan -h", &[]), @r#"
    exit code 0
    === output
    Show active entries with the matched key, message and pass

    Usage: ctx worldbook scan [OPTIONS] [BOOK]...

    Arguments:
      [BOOK]...  Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI) [default:
                 from the agent and ctx.toml]

    Options:
          --session <FILE>      Conversation file (AIO Hub, OpenAI or SillyTavern) [default: from
                                ctx.toml]
          --input <TEXT>        Next message of the user
          --agent <FILE>        Agent for filters, regex rules and settings [default: from ctx.toml]
          --profile <FILE>      User profile; entries can search it for keys [default: from ctx.toml]
          --all                 Show inactive entries
          --settings <FILE>     Worldbook settings (SillyTavern settings, or an agent's
                                `worldbookSettings`)
          --model <NAME>        Model whose context window sets the budget of entries [default: from
                                ctx.toml or the agent]
          --context-tokens <N>  Token limit of the context; 0 uses the model's context window [default:
                                from ctx.toml or the agent]
          --state <FILE>        File with timed effects of earlier scans [default: from the
                                conversation]
          --write               Save the timed effects to the `--state` file or the conversation
          --json                Print JSON
          --at <RFC 3339>       Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
          --kind <KIND>         Generation type [default: normal] [possible values: normal, continue,
                                impersonate, quiet]
          --no-config           Ignore all `ctx.toml` files
          --seed <N>            Seed for random values [default: 0]
          --lang <LANG>         Language of the output, also set by `CTX_LANG` [default: en] [possible
                                values: en, zh]
      -h, --help                Print help (see more with '--help')

    Examples:
      ctx worldbook scan sky.json --session chat.json
      ctx worldbook scan sky.json town.json --session chat.json --all
      ctx worldbook scan sky.json --input "Look at the moon" --context-tokens 8000
      ctx worldbook scan sky.json --session chat.json --state timed.json --write

    Exit codes: 0 success, 2 usage error, 3 a file cannot be read or written.
    "#);
}

#[test]
fn help_of_worldbook_check() {
    assert_snapshot!(ctx("worldbook check -h", &[]), @"
    exit code 0
    === output
    Check worldbooks without a conversation

    Usage: ctx worldbook check [OPTIONS] <BOOK>...

    Arguments:
      <BOOK>...  Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI)

    Options:
          --settings <FILE>     Worldbook settings (SillyTavern settings, or an agent's
                                `worldbookSettings`)
          --model <NAME>        Model whose context window sets the budget of entries [default: from
                                ctx.toml]
          --context-tokens <N>  Token limit of the context; 0 uses the model's context window [default:
                                from ctx.toml]
          --deny-warnings       Treat warnings as errors
          --json                Print JSON
          --no-config           Ignore all `ctx.toml` files
          --lang <LANG>         Language of the output, also set by `CTX_LANG` [default: en] [possible
                                values: en, zh]
      -h, --help                Print help (see more with '--help')

    Examples:
      ctx worldbook check sky.json
      ctx worldbook check sky.json town.json --context-tokens 8000 --deny-warnings

    Exit codes: 0 no errors, 1 errors found, 2 usage error, 3 a file cannot be read.
    ");
}
