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
    assert_snapshot!(ctx("--help", &[]), @r"
    exit code 0
    === output
    Turn a preset with named anchors and a conversation into exactly the messages that a model receives,
    and explain every one of them

    Usage: ctx [OPTIONS] <COMMAND>

    Look:
      assemble     Show the messages a model receives, and why
      explain      Show how a context was made: stages, budget, decisions
      diff         Compare two contexts: what they share, what is billed again
      check        Find what is wrong with files, and fix what is certain
      count        Count the tokens of a text or a conversation
      recall       Show what a conversation says about a question
      worldbook    Show which worldbook entries a conversation activates

    Change:
      studio       Edit and look at a folder on a local web page
      init         Create a small project to begin with
      compress     Shorten conversations: fit a budget, or summarize
      trust        Trust the `ctx.toml` of a folder

    Converse:
      chat         Talk with a model, and keep the conversation
      serve        Serve the agents of a folder to programs that speak to OpenAI, Anthropic or Gemini
      session      Show conversations, undo steps, move them to and from the store

    Convert:
      import       Make an agent from SillyTavern, RisuAI or AIO Hub files
      export       Write an agent as a file of another application
      migrate      Update old spellings in AIO Hub files

    Develop:
      test         Compare contexts with the expected ones
      anchors      List the anchors of presets, and what goes to each
      processors   List the processors that make a context, and their settings
      macros       List the macros, and expand a text
      schema       Print JSON Schemas of files and reports, for editors
      completions  Print the completion script of a shell

    Options:
          --lang <LANG>
              The language in which the command speaks to people; also `CTX_LANG`

              Possible values:
              - en: English
              - zh: Chinese

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Begin with a small project, and look at what its model would receive:
      ctx init demo
      cd demo
      ctx assemble

    Results go to standard output, all else to standard error. `-` is standard input.
    Exit codes: 0 ok (warnings too), 1 findings, 2 usage, 3 unreadable input, 4 no answer of a
    provider, 5 no context fits.
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
    Show the messages a model receives, and why

    Usage: ctx assemble [OPTIONS] [AGENT]

    Arguments:
      [AGENT]  The agent or preset (JSON or YAML); that of `ctx.toml` if absent; without one the
               conversation alone is looked at

    Options:
          --lang <LANG>            The language in which the command speaks to people; also `CTX_LANG`
                                   [possible values: en, zh]
          --session <FILE>         The conversation (AIO Hub session, OpenAI messages, SillyTavern chat
                                   JSONL); that of `ctx.toml` if absent
          --input <TEXT>           What the user is about to send
          --profile <FILE>         The user profile (JSON, YAML, or a plain text that is the persona)
          --worldbook <FILE>       A worldbook (SillyTavern, AIO Hub, character card), which holds for
                                   this turn; may be given several times
          --model <NAME>           The model that the request goes to
          --models <FILE>          A table of models, whose rows are tried before the built-in ones
          --model-settings <FILE>  The model's own settings of processors: an object like an agent's
                                   `parameters`
          --tools <FILE>           Tool definitions: a list, copied into the request body unchanged
          --assets <DIR>           The folder of attached files; by default those of the conversation
                                   and of the agent
          --context-tokens <N>     How many tokens the context may have in place of the model's window;
                                   0 means the window
          --reserve <N>            How many tokens are kept free for the answer; by default what the
                                   agent or the model needs
          --kind <KIND>            What is to be generated [default: normal] [possible values: normal,
                                   continue, impersonate, quiet]
          --at <RFC 3339>          The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
          --tz <ZONE>              The time zone, such as Asia/Shanghai; UTC if absent
          --seed <N>               The seed of random draws [default: 0]
          --enable <ID,...>        Switch processors on; `ctx processors list` names them
          --disable <ID,...>       Switch processors off
          --timings                Show how long each stage took
          --no-config              Ignore `ctx.toml`, which in this folder or one above gives defaults
          --format <FORMAT>        What is printed [default: table] [possible values: table, json, text,
                                   snapshot, openai, openai-responses, anthropic, gemini, completion]
          --json                   Print JSON: short for `--format json`
          --all                    Show each message of the conversation in the table; else of a long
                                   run the first and the last
          --template <NAME|FILE>   How a text completion writes turns: the name of a template, or a file
                                   with one (JSON or YAML); by default what suits the model's name
          --cache-marks <POLICY>   Where marks ask the provider to keep the beginning of the request
                                   [default: off] [possible values: off, stable]
          --report <FILE>          Write the report (JSON) to a file too
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
    Show how a context was made: stages, budget, decisions

    Usage: ctx explain [OPTIONS] [AGENT] [MSG]

    Arguments:
      [AGENT]  The agent or preset (JSON or YAML); that of `ctx.toml` if absent; without one the
               conversation alone is looked at
      [MSG]    The message to follow through all stages: its number in the context, or its source as
               tables print it

    Options:
          --lang <LANG>            The language in which the command speaks to people; also `CTX_LANG`
                                   [possible values: en, zh]
          --session <FILE>         The conversation (AIO Hub session, OpenAI messages, SillyTavern chat
                                   JSONL); that of `ctx.toml` if absent
          --input <TEXT>           What the user is about to send
          --profile <FILE>         The user profile (JSON, YAML, or a plain text that is the persona)
          --worldbook <FILE>       A worldbook (SillyTavern, AIO Hub, character card), which holds for
                                   this turn; may be given several times
          --model <NAME>           The model that the request goes to
          --models <FILE>          A table of models, whose rows are tried before the built-in ones
          --model-settings <FILE>  The model's own settings of processors: an object like an agent's
                                   `parameters`
          --tools <FILE>           Tool definitions: a list, copied into the request body unchanged
          --assets <DIR>           The folder of attached files; by default those of the conversation
                                   and of the agent
          --context-tokens <N>     How many tokens the context may have in place of the model's window;
                                   0 means the window
          --reserve <N>            How many tokens are kept free for the answer; by default what the
                                   agent or the model needs
          --kind <KIND>            What is to be generated [default: normal] [possible values: normal,
                                   continue, impersonate, quiet]
          --at <RFC 3339>          The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
          --tz <ZONE>              The time zone, such as Asia/Shanghai; UTC if absent
          --seed <N>               The seed of random draws [default: 0]
          --enable <ID,...>        Switch processors on; `ctx processors list` names them
          --disable <ID,...>       Switch processors off
          --timings                Show how long each stage took
          --no-config              Ignore `ctx.toml`, which in this folder or one above gives defaults
          --message <MSG>          The same as MSG, when no agent is given
          --html <FILE>            Write the whole explanation as a web page that needs no network and
                                   no scripts
          --json                   Print the report, or the life of the message, as JSON
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
    assert_snapshot!(ctx("check -h", &[]), @r"
    exit code 0
    === output
    Find what is wrong with files, and fix what is certain

    Usage: ctx check [OPTIONS] [PATHS]...

    Arguments:
      [PATHS]...  Files, or folders whose JSON, JSON Lines and YAML files, and `ctx.toml`, are checked

    Options:
          --lang <LANG>       The language in which the command speaks to people; also `CTX_LANG`
                              [possible values: en, zh]
          --worldbook <FILE>  A worldbook that is at hand for the agents; may be given several times
          --as <FORMAT>       The format of files whose content does not show it [possible values:
                              agent, session, lorebook, profile]
          --fix               Make the fixes that are certain, such as the right name of an anchor, and
                              show what changes
          --dry-run           With `--fix`: only show what would change
          --deny-warnings     Fail on warnings too
          --explain <CODE>    Explain the code of a finding, with an example and a way out, in place of
                              checking files
          --json              Print the findings, or what a code means, as JSON
      -h, --help              Print help (see more with '--help')

    Examples:
      ctx check presets/ chat.json
      ctx check presets/ --deny-warnings --json
      ctx check agent.yaml --worldbook sky.json
      ctx check agent.yaml --fix
      ctx check --explain CTX0200

    Exit codes: 0 nothing is wrong (warnings pass unless denied), 1 findings, 2 usage, 3 a file cannot
    be read.
    ");
}

#[test]
fn help_of_anchors_list() {
    assert_snapshot!(ctx("anchors list --help", &[]), @r"
    exit code 0
    === output
    List the built-in anchors; with an agent also those that it declares, and what goes to each

    Usage: ctx anchors list [OPTIONS] [AGENT]

    Arguments:
      [AGENT]
              The agent or preset (JSON or YAML); that of `ctx.toml` if absent

    Options:
          --json
              Print the list as JSON

          --lang <LANG>
              The language in which the command speaks to people; also `CTX_LANG`

              Possible values:
              - en: English
              - zh: Chinese

          --no-config
              Ignore `ctx.toml`, which in this folder or one above gives defaults

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      ctx anchors list
      ctx anchors list agent.yaml --json
    ");
}

#[test]
fn help_of_processors_list() {
    assert_snapshot!(ctx("processors list --help", &[]), @r"
    exit code 0
    === output
    List all processors in the order in which they run, with what is set and who set it

    Settings come in layers: built-in, user (`ctx.toml`), model, agent, command line. The highest layer
    that names a processor decides about it as a whole: what it does not say is built-in again.

    Usage: ctx processors list [OPTIONS] [AGENT]

    Arguments:
      [AGENT]
              The agent or preset (JSON or YAML); that of `ctx.toml` if absent

    Options:
          --lang <LANG>
              The language in which the command speaks to people; also `CTX_LANG`

              Possible values:
              - en: English
              - zh: Chinese

          --model-settings <FILE>
              The model's own settings of processors: an object like an agent's `parameters`

          --enable <ID,...>
              Switch processors on; `ctx processors list` names them

          --disable <ID,...>
              Switch processors off

          --json
              Print the list as JSON, with the fields of each processor

          --no-config
              Ignore `ctx.toml`, which in this folder or one above gives defaults

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
    assert_snapshot!(ctx("test --help", &[]), @r"
    exit code 0
    === output
    Compare contexts with the expected ones

    A case is a folder with an agent, a conversation or both (`agent.yaml`, `session.json`), a profile
    (`profile.yaml`), a worldbook (`worldbook.json`) and options (`case.yaml`), each as it is needed,
    and the expected result, `expected.txt`.

    Usage: ctx test [OPTIONS] [DIR]...

    Arguments:
      [DIR]...
              Folders, or else the current one; each of them, and each below, with an agent, a
              conversation, options or an expected result is a case

    Options:
          --lang <LANG>
              The language in which the command speaks to people; also `CTX_LANG`

              Possible values:
              - en: English
              - zh: Chinese

          --update
              Expect the results from now on: write them

          --watch
              Run the cases again whenever a file below the folders, or one that a case names, changes,
              until Ctrl-C

          --junit <FILE>
              Also write the outcomes as `JUnit` XML

          --json
              Print the outcome of each case as JSON

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      ctx test tests
      ctx test tests --update              writes what differs; look at it before you keep it
      ctx test tests --watch               runs them again whenever a file changes
      ctx test tests --junit results.xml   also writes what build servers read

    Exit codes: 0 all passed, 1 a context differs or nothing is expected of it yet, 3 a case cannot be
    read.
    ");
}

#[test]
fn help_of_count() {
    assert_snapshot!(ctx("count -h", &[]), @r#"
    exit code 0
    === output
    Count the tokens of a text or a conversation

    Usage: ctx count [OPTIONS] [FILE]

    Arguments:
      [FILE]  A conversation, or any other text; standard input if absent

    Options:
          --lang <LANG>    The language in which the command speaks to people; also `CTX_LANG` [possible
                           values: en, zh]
          --model <NAME>   The model whose tokens are counted
          --models <FILE>  A table of models, whose rows are tried before the built-in ones
          --all            Show each message in the table; else of a long run the first and the last
          --json           Print the figures as JSON
          --no-config      Ignore `ctx.toml`, which in this folder or one above gives defaults
      -h, --help           Print help (see more with '--help')

    Examples:
      ctx count --model gpt-5 chat.json
      echo "Hello" | ctx count
    "#);
}

#[test]
fn help_of_schema() {
    assert_snapshot!(ctx("schema -h", &[]), @r"
    exit code 0
    === output
    Print JSON Schemas of files and reports, for editors

    Usage: ctx schema [OPTIONS] [NAME]

    Arguments:
      [NAME]  Which schema is printed

    Options:
          --lang <LANG>  The language in which the command speaks to people; also `CTX_LANG` [possible
                         values: en, zh]
          --out <DIR>    Write the schema, or all of them, to a folder, as `NAME.schema.json`
          --json         Print the list, or the written files, as JSON; a schema is JSON already
      -h, --help         Print help (see more with '--help')

    Examples:
      ctx schema
      ctx schema agent > agent.schema.json
      ctx schema --out schemas
    ");
}

#[test]
fn help_of_completions() {
    assert_snapshot!(ctx("completions -h", &[]), @r"
    exit code 0
    === output
    Print the completion script of a shell

    Usage: ctx completions [OPTIONS] <SHELL>

    Arguments:
      <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
          --json         Print the script within JSON
          --lang <LANG>  The language in which the command speaks to people; also `CTX_LANG` [possible
                         values: en, zh]
      -h, --help         Print help (see more with '--help')

    Examples:
      ctx completions bash > ~/.local/share/bash-completion/completions/ctx
      ctx completions fish > ~/.config/fish/completions/ctx.fish
    ");
}

#[test]
fn help_of_init() {
    assert_snapshot!(ctx("init -h", &[]), @r"
    exit code 0
    === output
    Create a small project to begin with

    Usage: ctx init [OPTIONS] [FOLDER]

    Arguments:
      [FOLDER]  The folder to write to [default: .]

    Options:
          --lang <LANG>  The language in which the command speaks to people; also `CTX_LANG` [possible
                         values: en, zh]
          --long         Have the agent remember conversations that outgrow the window: compression and
                         recall are on
          --force        Replace files that exist
          --json         Print the written files as JSON
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
    Show which entries a conversation activates: by which key, in which message, in which pass

    Usage: ctx worldbook scan [OPTIONS] <BOOK>...

    Arguments:
      <BOOK>...  Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI)

    Options:
          --lang <LANG>         The language in which the command speaks to people; also `CTX_LANG`
                                [possible values: en, zh]
          --session <FILE>      The conversation (AIO Hub session, OpenAI messages, SillyTavern chat
                                JSONL); that of `ctx.toml` if absent
          --input <TEXT>        What the user is about to send
          --agent <FILE>        The agent, for which entries may be filtered, and whose rules and
                                settings hold; that of `ctx.toml` if absent
          --profile <FILE>      The user profile, in which entries may look for keys
          --settings <FILE>     Settings of worldbooks (SillyTavern's settings, or an object as an
                                agent's `worldbookSettings`)
          --model <NAME>        The model, whose window entries may have a part of
          --context-tokens <N>  How many tokens the context may have in place of the model's window; 0
                                means the window
          --no-config           Ignore `ctx.toml`, which in this folder or one above gives defaults
          --state <FILE>        The timed effects of earlier scans, as `--write` or SillyTavern
                                (`timedWorldInfo`) wrote them; by default those that the conversation
                                keeps
          --write               Write the timed effects back: to the file of `--state`, else beside the
                                newest message of the conversation
          --all                 List the entries that are not active, too
          --kind <KIND>         What is to be generated [default: normal] [possible values: normal,
                                continue, impersonate, quiet]
          --seed <N>            The seed of random draws [default: 0]
          --at <RFC 3339>       The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
          --json                Print the entries, the timed effects and the findings as JSON
      -h, --help                Print help (see more with '--help')

    Examples:
      ctx worldbook scan sky.json --session chat.json
      ctx worldbook scan sky.json town.json --session chat.json --all
      ctx worldbook scan sky.json --input "Look at the moon" --context-tokens 8000
      ctx worldbook scan sky.json --session chat.json --state timed.json --write

    Exit codes: 0 done, 2 usage, 3 a file cannot be read or written.
    "#);
}

#[test]
fn help_of_worldbook_check() {
    assert_snapshot!(ctx("worldbook check -h", &[]), @r"
    exit code 0
    === output
    Find what is wrong with worldbooks, whatever the conversation

    Usage: ctx worldbook check [OPTIONS] <BOOK>...

    Arguments:
      <BOOK>...  Worldbooks (SillyTavern, AIO Hub, character cards, NovelAI, Agnai, RisuAI)

    Options:
          --lang <LANG>         The language in which the command speaks to people; also `CTX_LANG`
                                [possible values: en, zh]
          --settings <FILE>     Settings of worldbooks (SillyTavern's settings, or an object as an
                                agent's `worldbookSettings`)
          --model <NAME>        The model, whose window entries may have a part of
          --context-tokens <N>  How many tokens the context may have in place of the model's window; 0
                                means the window
          --no-config           Ignore `ctx.toml`, which in this folder or one above gives defaults
          --deny-warnings       Fail on warnings too
          --json                Print the findings as JSON
      -h, --help                Print help (see more with '--help')

    Examples:
      ctx worldbook check sky.json
      ctx worldbook check sky.json town.json --context-tokens 8000 --deny-warnings

    Exit codes: 0 nothing is wrong (warnings pass unless denied), 1 findings, 3 a file cannot be read.
    ");
}
