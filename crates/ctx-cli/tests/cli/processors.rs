//! `ctx processors list`: running order, settings, and who set them.

use insta::assert_snapshot;
use serde_json::Value;

use crate::assemble::json;
use crate::ctx;

const AGENT: &str = "\
presetMessages: [{ type: chat_history }]
parameters:
  processors:
    - { id: merge-consecutive-roles, priority: 450 }
    - { id: merge-system-to-head, config: { separator: '|', scop: all } }
";

const MODEL: &str = r#"{ "processors": [
  { "id": "merge-system-to-head", "config": { "scope": "all" } },
  { "id": "convert-system-to-user", "enabled": true, "config": { "prefx": "x" } }
] }"#;

#[track_caller]
fn list(arguments: &str) -> String {
    ctx(&format!("processors list {arguments}"), &[("a.yaml", AGENT), ("m.json", MODEL)])
}

/// Returns the values of a processor that somebody set, with who it was.
fn set(answer: &str, id: &str) -> Vec<String> {
    let list = json(answer);
    let processor = list.as_array().unwrap().iter().find(|processor| processor["id"] == id).unwrap();
    let config = processor["config"].as_array().unwrap().iter();
    let config = config.map(|value| (value["key"].as_str().unwrap(), value));
    let own = [("enabled", &processor["enabled"]), ("priority", &processor["priority"])];
    let all = own.into_iter().chain(config).filter(|(_, value)| value["origin"] != "built-in");
    all.map(|(key, value): (&str, &Value)| {
        format!("{key} {} {}", value["value"], value["origin"].as_str().unwrap())
    })
    .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "each setting has a line")]
fn built_in_processors_stand_in_running_order() {
    assert_snapshot!(list(""), @r#"
    exit code 0
    === output
     priority   processor                    state   settings
    ─────────────────────────────────────────────────────────────────────────────────
     100        session-loader (core)        on      htmlToMarkdown = false
                                                     htmlKeptMessages = 6
                                                     reasoning = "all"
                                                     toolsAsUser = false
                                                     pinLeading = true
                                                     continuation = "prefix"
                                                     quietInput = "message"
     200        regex-processor              on      presets = []
                                                     steps = 25000000
                                                     whiteSpace = "leave_out"
     250        transcription-processor      on      strategy = "smart"
                                                     forceAfter = 10
                                                     preferTranscripts = true
                                                     maxSeconds = 60
                                                     documentHeading = ""
                                                     transcriptHeading = ""
                                                     placeholder = ""
     280        worldbook-processor          on      books = []
                                                     depth = 2
                                                     recursive = true
                                                     budgetPercent = 25
                                                     budgetCap = 0
                                                     caseSensitive = false
                                                     matchWholeWords = false
                                                     includeNames = false
                                                     minActivations = 0
                                                     minActivationsDepthMax = 0
                                                     maxRecursionSteps = 0
                                                     useGroupScoring = false
                                                     strategy = "character_first"
                                                     anchorFormat = ""
                                                     gapOrder = "entry"
                                                     systemLane = 0
                                                     userLane = 0
                                                     assistantLane = 0
     290        author-note                  off     interval = 1
                                                     depth = 4
                                                     role = "system"
                                                     persona = "none"
                                                     anchorDepth = -1
                                                     anchorOrder = 100
                                                     belowAnchorLane = 0
                                                     aboveAnchorLane = 0
                                                     systemLane = 0
                                                     userLane = 0
                                                     assistantLane = 0
     295        dialogue-examples            off     header = ""
                                                     userName = "example_user"
                                                     agentName = "example_assistant"
                                                     prefix = false
                                                     omit = false
     300        injection-assembler (core)   on      switchedOffAnchors = "stand_in"
                                                     whiteSpace = "leave_out"
                                                     worldInfoPlace = "entry"
     305        speaker-names                off     mode = "none"
                                                     whiteSpace = "leave_out"
     310        merge-injections             off     separator = "\n"
                                                     deeperFirst = false
                                                     trim = false
     320        generation-prompt            off     impersonate = ""
                                                     continue = ""
                                                     prefill = ""
                                                     impersonatePrefill = ""
                                                     sendIfEmpty = ""
     350        variable-processor           on      snapshots = false
     390        request-compressor           off     tokenBudget = 128000
                                                     triggerThreshold = 0.8
                                                     targetUsage = 0.5
                                                     minRecentMessages = 10
                                                     strategy = "telegraphic"
                                                     compressWindow = 0
                                                     minSaving = 0.05
                                                     tailShare = 0.2
                                                     noteRole = "system"
     395        recall                       off     share = 0.1
                                                     maxTokens = 0
                                                     position = "before_input"
                                                     role = "system"
                                                     branches = false
     400        token-limiter (core)         on      retainedCharacters = 0
                                                     extraTokensPerMessage = 0
                                                     cutTo = 0.65
                                                     truncationMarker = "\n…"
     500        merge-system-to-head         on      separator = "\n\n---\n\n"
                                                     scope = "preset"
     510        squash-system                off     separator = "\n"
                                                     except = []
     600        merge-consecutive-roles      on      separator = "\n\n---\n\n"
     700        convert-system-to-user       off     separator = "\n\n---\n\n"
                                                     scope = "all"
     800        ensure-alternating-roles     off     userPlaceholder = ""
                                                     assistantPlaceholder = ""
                                                     startWithUser = false
     10000      asset-resolver (core)        on      image = "text"
                                                     audio = "text"
                                                     video = "text"
                                                     document = "text"
                                                     maxMegabytes = 32
                                                     maxImageSide = 4096
                                                     maxMegapixels = 64

    values without an origin in brackets are defaults; use `--json` for names, descriptions, and fields
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "each setting has a line")]
fn an_agent_sets_what_it_names() {
    assert_snapshot!(list("a.yaml --model-settings m.json --disable token-limiter"), @r#"
    exit code 0
    === output
     priority       processor                    state                settings
    ──────────────────────────────────────────────────────────────────────────────────────────────────
     100            session-loader (core)        on                   htmlToMarkdown = false
                                                                      htmlKeptMessages = 6
                                                                      reasoning = "all"
                                                                      toolsAsUser = false
                                                                      pinLeading = true
                                                                      continuation = "prefix"
                                                                      quietInput = "message"
     200            regex-processor              on                   presets = []
                                                                      steps = 25000000
                                                                      whiteSpace = "leave_out"
     250            transcription-processor      on                   strategy = "smart"
                                                                      forceAfter = 10
                                                                      preferTranscripts = true
                                                                      maxSeconds = 60
                                                                      documentHeading = ""
                                                                      transcriptHeading = ""
                                                                      placeholder = ""
     280            worldbook-processor          on                   books = []
                                                                      depth = 2
                                                                      recursive = true
                                                                      budgetPercent = 25
                                                                      budgetCap = 0
                                                                      caseSensitive = false
                                                                      matchWholeWords = false
                                                                      includeNames = false
                                                                      minActivations = 0
                                                                      minActivationsDepthMax = 0
                                                                      maxRecursionSteps = 0
                                                                      useGroupScoring = false
                                                                      strategy = "character_first"
                                                                      anchorFormat = ""
                                                                      gapOrder = "entry"
                                                                      systemLane = 0
                                                                      userLane = 0
                                                                      assistantLane = 0
     290            author-note                  off                  interval = 1
                                                                      depth = 4
                                                                      role = "system"
                                                                      persona = "none"
                                                                      anchorDepth = -1
                                                                      anchorOrder = 100
                                                                      belowAnchorLane = 0
                                                                      aboveAnchorLane = 0
                                                                      systemLane = 0
                                                                      userLane = 0
                                                                      assistantLane = 0
     295            dialogue-examples            off                  header = ""
                                                                      userName = "example_user"
                                                                      agentName = "example_assistant"
                                                                      prefix = false
                                                                      omit = false
     300            injection-assembler (core)   on                   switchedOffAnchors = "stand_in"
                                                                      whiteSpace = "leave_out"
                                                                      worldInfoPlace = "entry"
     305            speaker-names                off                  mode = "none"
                                                                      whiteSpace = "leave_out"
     310            merge-injections             off                  separator = "\n"
                                                                      deeperFirst = false
                                                                      trim = false
     320            generation-prompt            off                  impersonate = ""
                                                                      continue = ""
                                                                      prefill = ""
                                                                      impersonatePrefill = ""
                                                                      sendIfEmpty = ""
     350            variable-processor           on                   snapshots = false
     390            request-compressor           off                  tokenBudget = 128000
                                                                      triggerThreshold = 0.8
                                                                      targetUsage = 0.5
                                                                      minRecentMessages = 10
                                                                      strategy = "telegraphic"
                                                                      compressWindow = 0
                                                                      minSaving = 0.05
                                                                      tailShare = 0.2
                                                                      noteRole = "system"
     395            recall                       off                  share = 0.1
                                                                      maxTokens = 0
                                                                      position = "before_input"
                                                                      role = "system"
                                                                      branches = false
     400            token-limiter (core)         off (command-line)   retainedCharacters = 0
                                                                      extraTokensPerMessage = 0
                                                                      cutTo = 0.65
                                                                      truncationMarker = "\n…"
     450 (agent)    merge-consecutive-roles      on                   separator = "\n\n---\n\n"
     default: 600
     500            merge-system-to-head         on                   separator = "|" (agent)
                                                 agent over model     scope = "preset"
                                                                      scop = "all" (agent)
     510            squash-system                off                  separator = "\n"
                                                                      except = []
     700            convert-system-to-user       on (model)           separator = "\n\n---\n\n"
                                                                      scope = "all"
                                                                      prefx = "x" (model)
     800            ensure-alternating-roles     off                  userPlaceholder = ""
                                                                      assistantPlaceholder = ""
                                                                      startWithUser = false
     10000          asset-resolver (core)        on                   image = "text"
                                                                      audio = "text"
                                                                      video = "text"
                                                                      document = "text"
                                                                      maxMegabytes = 32
                                                                      maxImageSide = 4096
                                                                      maxMegapixels = 64

    values without an origin in brackets are defaults; use `--json` for names, descriptions, and fields
    `agent over user`: the agent's settings of a processor replace all of the user's
    === errors
    warning[CTX0451]: processor `merge-system-to-head` has no setting `scop`
     --> a.yaml:5:61
      |
    5 |     - { id: merge-system-to-head, config: { separator: '|', scop: all } }
      |                                                             ^^^^
      |
      = help: did you mean `scope`?

    warning[CTX0451]: processor `convert-system-to-user` has no setting `prefx`
     --> m.json:3:66
      |
    3 |   { "id": "convert-system-to-user", "enabled": true, "config": { "prefx": "x" } }
      |                                                                  ^^^^^^^
      |
      = help: use one of these settings: `scope`, `separator`
    "#);
}

#[test]
fn json_names_the_origin_of_every_value() {
    let answer = list("a.yaml --model-settings m.json --enable merge-injections --json");
    assert_eq!(set(&answer, "merge-injections"), ["enabled true command-line"]);
    assert_eq!(set(&answer, "convert-system-to-user"), ["enabled true model", "prefx \"x\" model"]);
    assert_eq!(set(&answer, "merge-consecutive-roles"), ["priority 450 agent"]);
    assert_eq!(set(&answer, "merge-system-to-head"), ["separator \"|\" agent", "scop \"all\" agent"]);
    let built_in = |id: &str| {
        let list = json(&answer);
        let processor = list.as_array().unwrap().iter().find(|processor| processor["id"] == id).unwrap();
        (processor["defaultEnabled"].clone(), processor["defaultPriority"].clone())
    };
    assert_eq!(built_in("merge-consecutive-roles"), (true.into(), 600.into()));
    assert_eq!(built_in("convert-system-to-user"), (false.into(), 700.into()));
    for processor in json(&answer).as_array().unwrap() {
        assert!(processor["enabled"]["origin"].is_string() && processor["priority"]["origin"].is_string());
        assert!(processor["config"].as_array().unwrap().iter().all(|value| value["origin"].is_string()));
    }
}

#[test]
fn json_has_what_a_settings_page_shows() {
    let list = json(&list("--json"));
    let limiter = list.as_array().unwrap().iter().find(|processor| processor["id"] == "merge-system-to-head");
    assert_snapshot!(format!("{:#}", limiter.unwrap()), @r#"
    {
      "id": "merge-system-to-head",
      "name": "Merge system messages to head",
      "description": "Joins system messages into one and moves it to the front",
      "isCore": false,
      "perMessage": false,
      "decidedBy": null,
      "overrules": [],
      "enabled": {
        "value": true,
        "origin": "built-in"
      },
      "defaultEnabled": true,
      "priority": {
        "value": 500,
        "origin": "built-in"
      },
      "defaultPriority": 500,
      "config": [
        {
          "key": "separator",
          "value": "\n\n---\n\n",
          "origin": "built-in"
        },
        {
          "key": "scope",
          "value": "preset",
          "origin": "built-in"
        }
      ],
      "configFields": [
        {
          "key": "separator",
          "label": "Separator",
          "type": "text",
          "default": "\n\n---\n\n",
          "isRequired": false
        },
        {
          "key": "scope",
          "label": "System messages to merge",
          "description": "Messages not from the preset are moved only with `all`",
          "type": "select",
          "default": "preset",
          "options": [
            {
              "label": "Preset entries and messages anchored to them",
              "value": "preset"
            },
            {
              "label": "Only before the conversation",
              "value": "leading"
            },
            {
              "label": "All system messages",
              "value": "all"
            }
          ],
          "isRequired": false
        }
      ]
    }
    "#);
}
