//! `--lang` and `CTX_LANG`: what people read is in their language, what programs read is not.

use insta::assert_snapshot;

use crate::Folder;

const BROKEN: &str = "\
presetMessages:
  - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' }
  - { type: chat_history }
";

fn folder() -> Folder {
    let chat =
        "[{\"role\": \"user\", \"content\": \"你好，世界\"}, {\"role\": \"assistant\", \"content\": \"Hi\"}]";
    Folder::with(&[("a.yaml", BROKEN), ("chat.json", chat)])
}

#[test]
fn the_help_of_the_command_is_chinese() {
    let help = folder().ctx("--lang zh --help");
    for line in [
        "用法：ctx [OPTIONS] <COMMAND>",
        "查看：",
        "  assemble     显示模型收到的消息",
        "          输出语言，也可用 `CTX_LANG` 设置 [默认：en]",
        "          可选值：",
        "          - en：英文",
        "          显示帮助（`-h` 更简短）",
        "从示例项目开始：",
    ] {
        assert!(help.contains(&format!("\n{line}\n")), "no `{line}` in\n{help}");
    }
}

#[test]
fn the_table_of_a_context_is_chinese_and_its_columns_stand() {
    let arguments = "assemble a.yaml --session chat.json --lang zh --at 2026-01-31T12:00:00Z";
    assert_snapshot!(folder().ctx(arguments), @"
    exit code 1
    === output
     #   消息角色    Token   来源                            文本
    ───────────────────────────────────────────────────────────────────────
     0   user           11   merged:preset:lost+history:n1
                         3     preset:lost                   Hello {{usr}}
                         3     history:n1                    你好，世界
     1   assistant       4   history:n2                      Hi

    2 条消息，约 15 Token

    移动、合并或丢弃：
      移动 preset:lost：预设没有锚点 `chat_histroy`；保持列表中的位置
      合并 preset:lost：与相邻的同角色消息合并
      合并 history:n1：与相邻的同角色消息合并
    === errors
    错误[CTX0200]：未知的锚点 `chat_histroy`；条目保持列表中的位置
     --> a.yaml:2:31
      |
    2 |   - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' }
      |                               ^^^^^^^^^^^^
      |
      = 修复建议：是不是想写 `chat_history`？

    警告[CTX0300]：未知的宏 `usr`
     --> a.yaml:2:61
      |
    2 |   - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' }
      |                                                             ^^^^^^^
      |
      = 修复建议：是不是想写 `user`？
    ");
}

#[test]
fn errors_are_chinese() {
    assert_snapshot!(folder().ctx("check none.yaml --lang zh --jsno"), @"
    exit code 2
    === errors
    错误：未知的参数 '--jsno'

      提示：有相近的参数 '--json'

    用法：ctx check --lang <LANG> --json <PATHS>...

    详情请用 '--help'。
    ");
}

#[test]
fn the_variable_asks_for_a_language_and_the_locale_does_not() {
    let with = |name: &str, value: &str, arguments: &str| {
        let output = folder().command(arguments).env(name, value).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (_, chinese) = with("CTX_LANG", "zh", "check a.yaml");
    assert!(chinese.contains("检查了 1 个文件"), "{chinese}");
    let (_, english) = with("LANG", "zh_CN.UTF-8", "check a.yaml");
    assert!(english.contains("1 file checked"), "{english}");
    let (code, refused) = with("CTX_LANG", "zh", "check a.yaml --lang fr");
    assert_eq!(code, Some(2), "{refused}");
    let (code, first) = with("CTX_LANG", "zh", "");
    assert!(code == Some(2) && first.starts_with("ctx 显示 LLM 实际收到的每条消息"), "{first}");
    let (code, help) = with("CTX_LANG", "zh", "compress");
    assert!(code == Some(2) && help.contains("用法：") && !help.contains("Usage:"), "{help}");
}

#[test]
fn range_errors_are_chinese() {
    let answer = folder().ctx("serve --port 99999 --lang zh");
    assert!(answer.contains("'99999' 无效：应为 0 到 65535 的整数"), "{answer}");
}

/// What a person writes is Chinese in these files, so that all English in what is printed is the command's.
const AGENT: &str = "\
name: 小红
presetMessages:
  - { id: who, role: system, content: '你是{{char}}，现在 {{time}}。' }
  - { type: chat_history }
  - { id: tail, role: system, content: 简短回答。, depth: 1 }
  - { id: near, role: system, content: 春天。, anchorTarget: chat_history, anchorPoint: before }
  - { id: off, role: system, content: 关着。, isEnabled: false }
";

const CHAT: &str = r#"[
  { "role": "user", "content": "你好，龙在哪里？" },
  { "role": "assistant", "content": "在山上。" },
  { "role": "user", "content": "多高？" }
]"#;

const BOOK: &str = r#"{ "entries": {
  "0": { "uid": 0, "key": ["山"], "comment": "龙", "content": "龙会飞。", "order": 1, "position": 0 },
  "1": { "uid": 1, "key": ["虎"], "comment": "虎", "content": "虎会跑。", "order": 2, "position": 4, "depth": 2 },
  "2": { "uid": 2, "key": [], "constant": true, "content": "山很高。", "order": 3, "position": 1, "sticky": 3 },
  "3": { "uid": 3, "key": ["高"], "keysecondary": ["云"], "selective": true, "content": "云。", "order": 4 }
} }"#;

const CARD: &str = r#"{ "spec": "chara_card_v2", "spec_version": "2.0",
  "data": { "name": "小红", "description": "园丁", "first_mes": "你好", "nosuch": 1 } }"#;

/// A conversation that is long enough for summaries.
fn long() -> String {
    let round = |at| {
        let (asked, told) =
            (format!("第{at}问：龙在哪里？").repeat(3), format!("第{at}答：在山上。").repeat(9));
        [
            serde_json::json!({ "role": "user", "content": asked }),
            serde_json::json!({ "role": "assistant", "content": told }),
        ]
    };
    (0..30).flat_map(round).collect::<serde_json::Value>().to_string()
}

fn project() -> Folder {
    let long = long();
    let case = "{ session: ../chat.json, agent: ../agent.yaml }";
    Folder::with(&[
        ("agent.yaml", AGENT),
        ("chat.json", CHAT),
        ("book.json", BOOK),
        ("card.json", CARD),
        ("new/case.yaml", case),
        ("old/case.yaml", case),
        ("old/expected.txt", "--- 0 system · preset:gone · skeleton · 4 tokens\n旧。\n"),
        ("hi.txt", "你好"),
        ("long.json", &long),
    ])
}

/// Front doors, by command line.
const DOORS: [&str; 42] = [
    "init demo",
    "test new old",
    "test new --update",
    "explain agent.yaml --session chat.json --worldbook book.json",
    "explain agent.yaml --session chat.json --worldbook book.json --model gpt-4 --timings",
    "explain agent.yaml --session chat.json --worldbook book.json 0",
    "explain agent.yaml --session chat.json --message worldbook:book.2",
    "explain agent.yaml --session chat.json --message preset:off",
    "explain agent.yaml --session chat.json --context-tokens 60 --message history:n1",
    "worldbook scan book.json --session chat.json",
    "worldbook scan book.json --session chat.json --all",
    "session show chat.json",
    "session tree chat.json",
    "session list --store store.db",
    "import card.json --out out",
    "anchors list agent.yaml",
    "processors list",
    "schema",
    "schema agent --out schemas",
    "count hi.txt",
    "diff agent.yaml agent.yaml --session chat.json",
    "migrate agent.yaml",
    "check agent.yaml",
    "compress plan --session chat.json --budget 8000",
    "compress plan --session long.json --budget 800",
    "compress plan --session long.json chat.json --budget 800",
    "compress plan --session long.json --budget 10",
    "compress plan --session long.json --mask",
    "compress plan --session long.json --mask --auto",
    "compress plan --session long.json --mask --roll-up",
    "compress plan --session chat.json --mask",
    "compress run --session long.json --mask",
    "compress run --session long.json --mask --out short.json",
    "compress disable compression --session short.json --write",
    "compress disable compression --session short.json",
    "compress enable compression --session short.json --write",
    "compress regenerate compression --session short.json",
    "compress report --session short.json --budget 500",
    "compress report --session chat.json",
    "compress delete compression --session short.json",
    "compress budget --session long.json --model gpt-4",
    "compress budget --session long.json --model gpt-5 --what-if gpt-4,claude-sonnet-4,nosuch",
];

/// What a person types into a chat that cannot reach its model.
const TALK: &str = "\
/help\n/undo\n/redo\n/edit x\n/edit\n/branch\n/branch 4\n/switch x\n/switch\n/regenerate\n/retry\n/continue\n\
/compress\n/context\n/tools\n/mode\n/mode run\n/mode agnt\n/mode zzzz\n/nosuch\n/undoo\n/quit x\n你好\n/undo\n/redo\n\
/branch 9\n/switch 9\n/undo\n/undo\n/compress\n/quit\n";

/// Command lines that are wrong, or whose files are.
const WRONG: [&str; 32] = [
    "init old/case.yaml",
    "assemble agent.yaml --session chat.json --context-tokens 10",
    "assemble agent.yaml --at x",
    "assemble agent.yaml --tz x",
    "assemble agent.yaml --seed x",
    "assemble agent.yaml --context-tokens x",
    "assemble agent.yaml --reserve -1",
    "assemble agent.yaml --worldbook card.json",
    "assemble agent.yaml --dialect x",
    "assemble agent.yaml --format x",
    "explain agent.yaml nosuch",
    "explain agent.yaml 9",
    "explain history:n1",
    "test nosuch",
    "test hi.txt",
    "test out",
    "compress run --session chat.json",
    "compress run --session chat.json --budget x",
    "compress run --session chat.json --budget 9 --strategy x",
    "compress run --session chat.json --mask --summarizer x",
    "compress delete x --session chat.json",
    "session show",
    "session show agent.yaml",
    "session undo chat.json",
    "session redo chat.json",
    "session delete x --store store.db",
    "export agent.yaml --to st-lorebook --out x.json",
    "schema x",
    "chat agent.yaml --once hi --store store.db",
    "check --explain CTX9999",
    "count -x",
    "chekc",
];

/// What stays English: command lines, the usage of verbs, the parts of a budget that did not fit, lines of snapshots.
fn stays(line: &str) -> bool {
    let starts = ["ctx ", "用法：", "错误: 超出预算", "+ ", "- "];
    starts.iter().any(|start| line.trim().starts_with(start))
}

/// Returns the lines in which three English words follow each other outside of quotes.
fn english(output: &str) -> Vec<&str> {
    let is_word = |word: &str| {
        // Behind a comma stands the next name of a list.
        let word = word.trim_matches(['.', ';', ':', '(', ')']);
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'\'')
    };
    let is_english = |line: &&str| {
        let unquoted: Vec<&str> = line.split('`').step_by(2).collect();
        let is_run = |text: &&str| {
            let words: Vec<&str> = text.split(' ').collect();
            words.windows(3).any(|words| words.iter().all(|word| is_word(word)))
        };
        unquoted.iter().any(is_run)
    };
    output.lines().filter(is_english).filter(|line| !stays(line) && !line.starts_with("exit code ")).collect()
}

#[test]
fn english_lines_are_noticed() {
    assert_eq!(english("no such thing here"), ["no such thing here"]);
    assert_eq!(english("无法读取 `no such thing`：a b"), [""; 0]);
    assert_eq!(english("  ctx explain agent.yaml"), [""; 0]);
}

#[test]
fn front_doors_are_chinese() {
    let folder = project();
    let mut lines = Vec::new();
    for arguments in DOORS.iter().chain(&WRONG) {
        let output = folder.ctx(&format!("{arguments} --lang zh"));
        lines.extend(english(&output).iter().map(|line| format!("{arguments}: {line}")));
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn a_chat_is_chinese() {
    let folder = project();
    folder
        .write("ctx.toml", b"store = 's.db'\n[endpoint]\nbase-url = 'http://127.0.0.1:9/v1'\nretries = 0\n");
    folder.ctx("trust .");
    let output = folder.ctx_reading("chat agent.yaml --model gpt-5 --lang zh", TALK);
    // What the system says of a connection is the system's.
    let lines: Vec<&str> = english(&output)
        .into_iter()
        .filter(|line| !line.contains("error sending request") && !line.contains("LLM_ERROR"))
        .collect();
    assert_eq!(lines, [""; 0], "{output}");
    assert!(output.contains("没有第 9 个分支") && output.contains("撤销上一轮或上次修改"), "{output}");
}

#[test]
fn the_page_of_a_context_is_chinese() {
    let folder = project();
    folder.ctx("explain agent.yaml --session chat.json --worldbook book.json --html page.html --lang zh");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<html lang=\"zh-CN\">"), "{page}");
    let (_, body) = page.split_once("</style>").unwrap();
    let texts: Vec<&str> = body.split('<').filter_map(|tag| Some(tag.split_once('>')?.1)).collect();
    assert_eq!(english(&texts.join("\n")), [""; 0]);
    assert!(page.contains("</strong>（") && !page.contains("</strong> ("), "{page}");
}

#[test]
fn what_programs_read_of_the_front_doors_is_the_same() {
    for arguments in [
        "check agent.yaml --json",
        "check --explain 200 --json",
        "assemble agent.yaml --session chat.json --at 2026-01-31T12:00:00Z --json",
        "assemble agent.yaml --session chat.json --at 2026-01-31T12:00:00Z --format text",
        "test new old --json",
        "test . --json",
        "explain agent.yaml --session chat.json --at 2026-01-31T12:00:00Z --json",
        "explain agent.yaml --session chat.json --at 2026-01-31T12:00:00Z --json 0",
        "worldbook scan book.json --session chat.json --json --all",
        "session show chat.json --json",
        "import card.json --out out --json",
        "anchors list agent.yaml --json",
        "processors list --json",
        "macros list --json",
        "schema --json",
        "schema case",
        "count hi.txt --json",
        "migrate agent.yaml --json",
        "compress plan --session long.json --budget 800 --json",
        "compress run --session long.json --budget 800",
        "compress plan --session long.json --mask --json",
        "compress report --session long.json --budget 500 --json",
        "compress budget --session long.json --model gpt-4 --json",
    ] {
        let output = |arguments: &str| {
            let folder = project();
            folder.write("bad/case.yaml", b"session: [");
            let output = folder.command(arguments).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(output(&format!("{arguments} --lang zh")), output(arguments), "{arguments}");
    }
}

#[test]
fn chinese_results_have_full_width_punctuation() {
    let folder = Folder::with(&[
        (
            "card.json",
            r#"{"spec":"chara_card_v2","data":{"name":"Ada","character_book":{"name":"Sky","entries":[{"keys":["a"],"content":"b"}]}}}"#,
        ),
        ("ctx.toml", "a = [1,\nb = }"),
    ]);
    let output = folder.ctx("--lang zh import card.json");
    assert!(output.contains("Sky（1 个条目）"), "{output}");
    assert!(!output.contains(": ") && !output.contains(" ("), "{output}");
    let output = folder.ctx("--lang zh check ctx.toml");
    assert!(output.contains("TOML 无效：原文为“"), "{output}");
    let output = folder.ctx("--lang zh assemble --no-config --input Hi --format openai");
    assert!(output.contains("--> 请求体"), "{output}");
    assert!(folder.ctx("--lang zh check --explain 103").contains("CTX0103：键名拼写错误"));
}

#[test]
fn ids_and_file_names_stay_as_typed_in_chinese() {
    let chat = r#"[{ "role": "user", "content": "error" }]"#;
    let folder = Folder::with(&[("error.json", chat)]);
    let imported = folder.ctx("session import error.json --store s.db --id error --lang zh");
    assert!(imported.contains("已导入：`error`（1 条消息，error.json："), "{imported}");
    let deleted = folder.ctx("session delete error --store s.db --lang zh");
    assert!(deleted.contains("已删除：`error`"), "{deleted}");
}
