//! What authors of presets and scripts write.

use crate::check_all;

#[test]
fn thinking_blocks_are_cut() {
    check_all(&[
        (
            r"<think>[\s\S]*?<\/think>",
            "g",
            "a<think>x\ny</think>b<think></think>c",
            "",
            "1 <think>x\ny</think>; 20 <think></think>",
            "abc",
        ),
        (
            r"<think>[\s\S]*?<\/think>\s*",
            "gi",
            "<THINK>\n思考\n</Think>\n\nHello",
            "",
            "0 <THINK>\n思考\n</Think>\n\n",
            "Hello",
        ),
        (
            r"<think(ing)?>[\s\S]*?<\/think(ing)?>",
            "g",
            "<thinking>x</thinking>y",
            "$1|$2",
            "0 <thinking>x</thinking> [ing] [ing]",
            "ing|ingy",
        ),
        (r"^[\s\S]*<\/think>", "", "plan</think>answer", "", "0 plan</think>", "answer"),
        (r"<think>[\s\S]*?(?:<\/think>|$)", "g", "a<think>unclosed", "", "1 <think>unclosed", "a"),
    ]);
}

#[test]
fn emphasis_and_quotes_are_marked() {
    check_all(&[
        (
            r"\*([^*]+)\*",
            "g",
            "*waves* hi *smiles*",
            "_$1_",
            "0 *waves* [waves]; 11 *smiles* [smiles]",
            "_waves_ hi _smiles_",
        ),
        (
            r"\*\*(.+?)\*\*",
            "g",
            "**a** b **c*d**",
            "<b>$1</b>",
            "0 **a** [a]; 8 **c*d** [c*d]",
            "<b>a</b> b <b>c*d</b>",
        ),
        (
            r#""([^"]*)""#,
            "g",
            r#"She said "hi" and ""."#,
            "“$1”",
            r#"9 "hi" [hi]; 18 "" []"#,
            "She said “hi” and “”.",
        ),
        (
            "“(.*?)”",
            "g",
            "他说：“你好，世界。”然后“走”了",
            "「$1」",
            "9 “你好，世界。” [你好，世界。]; 39 “走” [走]",
            "他说：「你好，世界。」然后「走」了",
        ),
        (
            "「([^」]+)」",
            "g",
            "「你好」她说「再见」",
            r#""$1""#,
            "0 「你好」 [你好]; 18 「再见」 [再见]",
            r#""你好"她说"再见""#,
        ),
        (
            "[（(]([^）)]*)[）)]",
            "g",
            "你好（笑）hello(laugh)",
            "",
            "6 （笑） [笑]; 20 (laugh) [laugh]",
            "你好hello",
        ),
        (
            r"([。！？…])\s*",
            "g",
            "好。 走！吧？",
            "$1\n",
            "3 。  [。]; 10 ！ [！]; 16 ？ [？]",
            "好。\n走！\n吧？\n",
        ),
    ]);
}

#[test]
fn chinese_text_is_matched() {
    check_all(&[
        (
            r"[\u4e00-\u9fa5]{2,4}",
            "g",
            "我爱北京天安门abc中",
            "<$&>",
            "0 我爱北京; 12 天安门",
            "<我爱北京><天安门>abc中",
        ),
        (r"[\u4e00-\u9fa5]+", "", "abc中文def", "$&$&", "3 中文", "abc中文中文def"),
        (r"，\s*，", "g", "a，，b， ，c", "，", "1 ，，; 8 ， ，", "a，b，c"),
        (
            "[，。！？；：、]",
            "g",
            "一，二。三！四？",
            "$&\n",
            "3 ，; 9 。; 15 ！; 21 ？",
            "一，\n二。\n三！\n四？\n",
        ),
        (
            r"(?<name>[\u4e00-\u9fff]+)：(?<line>.*)",
            "gm",
            "小明：你好\n小红：再见",
            "$<line> - $<name>",
            "0 小明：你好 [小明] [你好]; 16 小红：再见 [小红] [再见]",
            "你好 - 小明\n再见 - 小红",
        ),
        (
            r"第([一二三四五六七八九十百\d]+)章",
            "g",
            "第一章 第12章",
            "Chapter $1",
            "0 第一章 [一]; 10 第12章 [12]",
            "Chapter 一 Chapter 12",
        ),
        (r"[^\x00-\x7F]+", "g", "abc中文é!", "#", "3 中文é", "abc#!"),
    ]);
}

#[test]
fn macros_in_patterns_are_plain_text() {
    check_all(&[
        (
            "{{char}}",
            "g",
            "{{char}} and {{user}} and {{char}}",
            "Mia",
            "0 {{char}}; 26 {{char}}",
            "Mia and {{user}} and Mia",
        ),
        (r"{{user}}:\s*", "gi", "{{User}}:  hi", "U> ", "0 {{User}}:  ", "U> hi"),
        (r"\{\{(\w+)\}\}", "g", "{{user}} {{ char}}", "<$1>", "0 {{user}} [user]", "<user> {{ char}}"),
        ("{{(.*?)}}", "g", "{{a}}{{b}}", "$1", "0 {{a}} [a]; 5 {{b}} [b]", "ab"),
        ("{{random:{a},{b}}}", "", "x{{random:{a},{b}}}y", "-", "1 {{random:{a},{b}}}", "x-y"),
        (r"\{\{char\}\}|{{user}}", "g", "{{char}}{{user}}", "x", "0 {{char}}; 8 {{user}}", "xx"),
    ]);
}

#[test]
fn markup_is_stripped() {
    check_all(&[
        (r"<!--[\s\S]*?-->", "g", "a<!-- b\n -->c<!---->", "", "1 <!-- b\n -->; 13 <!---->", "ac"),
        ("<[^>]+>", "g", r#"<p class="x">a</p>"#, "", r#"0 <p class="x">; 14 </p>"#, "a"),
        (r"<\/?(?:b|i|u)>", "gi", "<B>x</b><i>y</I>", "", "0 <B>; 4 </b>; 8 <i>; 12 </I>", "xy"),
        (r"```[\s\S]*?```", "g", "a\n```js\nx\n```\nb", "", "2 ```js\nx\n```", "a\n\nb"),
        ("`([^`]+)`", "g", "run `ls` now", "$1", "4 `ls` [ls]", "run ls now"),
        (
            r"!\[([^\]]*)\]\(([^)]+)\)",
            "g",
            "![alt](http://x/y.png)",
            "$2 $1",
            "0 ![alt](http://x/y.png) [alt] [http://x/y.png]",
            "http://x/y.png alt",
        ),
        (
            r"<(\w+)([^>]*)>",
            "g",
            r#"<a href="x"><br/>"#,
            "[$1$2]",
            r#"0 <a href="x"> [a] [ href="x"]; 12 <br/> [br] [/]"#,
            r#"[a href="x"][br/]"#,
        ),
        (r"\n{3,}", "g", "a\n\n\n\nb\n\nc", "\n\n", "1 \n\n\n\n", "a\n\nb\n\nc"),
        (r"[ \t]+$", "gm", "a  \nb\t\nc", "", "1   ; 5 \t", "a\nb\nc"),
        (r"^\s+|\s+$", "g", " \u{3000}a b\u{FEFF}\n", "", "0  \u{3000}; 7 \u{FEFF}\n", "a b"),
        (r"^(?:Assistant|AI):\s*", "i", "ai: hello", "", "0 ai: ", "hello"),
        (
            r"^([^:\n]{1,20}):\s",
            "gm",
            "Mia: hi\nBob: yo: x",
            "**$1** ",
            "0 Mia:  [Mia]; 8 Bob:  [Bob]",
            "**Mia** hi\n**Bob** yo: x",
        ),
        (
            r"\b(don't|can't)\b",
            "gi",
            "Don't say can't",
            "[$1]",
            "0 Don't [Don't]; 10 can't [can't]",
            "[Don't] say [can't]",
        ),
        (
            r"(\d+)d(\d+)",
            "g",
            "roll 2d6 and 10d20",
            "$2x$1",
            "5 2d6 [2] [6]; 13 10d20 [10] [20]",
            "roll 6x2 and 20x10",
        ),
        (r"\$\{(\w+)\}", "g", "${a}-${b}", "$$$1", "0 ${a} [a]; 5 ${b} [b]", "$a-$b"),
        ("(.)", "gs", "a\nb", "$1.", "0 a [a]; 1 \n [\n]; 2 b [b]", "a.\n.b."),
    ]);
}
