//! Whole conversations with summaries as models write them: what each lost and made up, all of it and nothing else.

use ctx_compress::quality::{Fact, QualityReport};
use ctx_types::{Message, Role, Source, ToolCall};

/// Reads lines `u: …`, `a: …`, `s: …`, `c: name {arguments}` and `t: …`.
fn conversation(text: &str) -> Vec<Message> {
    let message = |(at, line): (usize, &str)| {
        let (who, said) = line.trim().split_once(": ").unwrap();
        let role = match who {
            "u" => Role::User,
            "t" => Role::Tool,
            "s" => Role::System,
            _ => Role::Assistant,
        };
        let call = said.split_once(' ').filter(|_| who == "c");
        let said = if who == "c" { "" } else { said };
        Message::new(role, said.replace("\\n", "\n"), Source::history(format!("m{at}"), role)).with(
            |message| {
                message.tool_calls = call
                    .map(|(name, arguments)| ToolCall {
                        id: format!("c{at}").into(),
                        name: name.into(),
                        arguments: arguments.into(),
                    })
                    .into_iter()
                    .collect();
            },
        )
    };
    text.trim().lines().enumerate().map(message).collect()
}

#[track_caller]
fn check(original: &str, summary: &str, lost: &str, invented: &str) {
    let report = QualityReport::of_summary(&conversation(original), summary);
    let shown = |facts: &[Fact]| {
        let lines: Vec<String> = facts.iter().map(|fact| format!("{} {}", fact.kind, fact.text)).collect();
        lines.join("\n")
    };
    let expected = |text: &str| text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(shown(&report.lost), expected(lost), "lost");
    assert_eq!(shown(&report.invented), expected(invented), "invented");
}

#[test]
fn a_trip_is_planned() {
    check(
        "
        u: Hi! I'm planning a trip to Portugal with my wife Helena and our two kids, from June 12 to June 24. Budget is around 4,500 euros all in.
        a: Lovely! Are you thinking of Lisbon, Porto, or the Algarve? And do you prefer hotels or apartments?
        u: Mostly Porto, maybe four nights in Lisbon. Apartments please. Helena is allergic to feathers, so no down pillows anywhere!
        a: Noted. For Porto I'd suggest Casa do Almada near São Bento, it's about €118 a night and has a kitchen.
        u: Sounds good. We must be back at the airport by 4:30 pm on the 24th, the flight is TP1045.
        a: Got it. Shall I look into train tickets between Porto and Lisbon? The Alfa Pendular takes 2 hours 50 minutes.
        u: Yes. But we don't want to travel on a Sunday. Also my mother-in-law Rosalind Achterberg might join us in Lisbon, can you check if a bigger flat costs more than 200 a night?
        a: A three-bedroom in Alfama is 235 euros per night. Note that pets aren't allowed there.
        u: ok. what about a cooking class? My colleague recommended “Cooking Lisbon”.
        ",
        "
        ## Overview
        The user plans a family trip to Portugal (Porto and Lisbon) from June 12 to 24 with his wife Helena and two children. Total budget: €4,500.

        ## Preferences and constraints
        - Apartments rather than hotels.
        - No down pillows (Helena has a feather allergy).
        - They need to be at the airport by 16:30 on June 24 for flight TP1045.

        ## Findings
        - Porto: Casa do Almada near São Bento, 118 euros per night.
        - Lisbon: a three-bedroom flat in Alfama for 285 euros per night; pets aren't allowed.
        - Train between Porto and Lisbon: Alfa Pendular.

        ## Next steps
        - Book the train tickets for Saturday.
        - Check the cooking class that his colleague Miguel recommended.
        ",
        "
        name Algarve
        number four nights
        number 2 hours
        number 50 minutes
        date Sunday
        name Rosalind Achterberg
        number 200
        number 235 euros
        quote “Cooking Lisbon”
        ",
        "
        number 285 euros
        date Saturday
        name Miguel
        ",
    );
}

#[test]
fn a_flat_is_renovated() {
    check(
        "
        s: 你是装修顾问，必须用中文回答。
        u: 我家在杭州，八十九平方米，预算十五万，打算三月中旬开工。
        a: 好的。您有什么特别的要求吗？
        u: 我妈妈对油漆过敏，所以千万不要用油性漆。还有，厨房一定要留一个洗碗机的位置。
        a: 明白。我推荐李建国师傅的施工队，报价大约128,000元，工期60天。
        u: 李师傅电话多少？我听说张晓梅设计师也不错。
        a: 李师傅的电话是138-5712-0046。张晓梅的设计费是每平方米180元。
        u: 那设计就找张晓梅吧，下周三下午两点见面可以吗？
        a: 可以，地址是文一西路588号。另外瓷砖我建议选马可波罗的，别选抛光砖，太滑了。
        u: 好。验收标准我们还没有商量。
        ",
        "
        **概述**：用户在杭州装修89平方米的房子，预算15万元，三月中旬开工。
        **要求**：母亲对油漆过敏，不能用油性漆；必须用中文回答。
        **进展**：设计师定为张晓梅，设计费180元/平方米，约在周三14:00见面。施工队由李建国负责，报价12.8万元，工期90天。
        **待办**：去建材市场看瓷砖，王磊陪同。
        ",
        "
        number 60天
        identifier 138-5712-0046
        number 588
        ",
        "
        number 90天
        ",
    );
}

#[test]
fn a_program_is_repaired() {
    check(
        r#"
        u: The checkout job dies with OutOfMemory since release 2.14.0. Find out why. Do not change the database schema, and keep the public `CartService` interface as it is.
        c: grep {"pattern":"loadAllItems","path":"services/cart"}
        t: services/cart/src/loader.ts:42:  const items = await loadAllItems(cartId);\nservices/cart/src/batch.ts:17:export const BATCH_SIZE = 5000;
        a: `loadAllItems` in services/cart/src/loader.ts reads every row at once. The batch size is 5000 in services/cart/src/batch.ts.
        u: Right. What about the heap limit of the container?
        c: read_file {"path":"deploy/checkout.yaml"}
        t: resources:\n  limits:\n    memory: 512Mi\nimage: registry.acme.io/checkout:2.14.0
        a: The container has 512Mi. I will stream the rows in pages of 250 and add a test in services/cart/test/loader.test.ts.
        u: Good, but never log customer e-mails. Ticket is SHOP-3391, reviewer is Deepika Raman.
        c: run_tests {"suite":"cart"}
        t: 57 passed, 1 failed: loader.test.ts > pages through 1,200 rows (timeout after 5s)
        a: One test still fails: "pages through 1,200 rows" times out after 5s.
        "#,
        "
        The checkout job runs out of memory since 2.14.0 because `loadAllItems` (services/cart/src/loader.ts) loads every row at once.
        Constraints: the database schema must not be changed; the public CartService interface stays as it is.
        Findings: BATCH_SIZE is 500; the container in deploy/checkout.yaml is limited to 512Mi.
        Done: rows are streamed in pages of 250, with a test in loader.test.ts. 57 tests pass.
        Open: the test “pages through 1,200 rows” times out after 5s. Ticket SHOP-3319.
        ",
        "
        name OutOfMemory
        identifier cartId
        path services/cart/src/batch.ts
        number 5000
        path registry.acme.io/checkout
        identifier SHOP-3391
        name Deepika Raman
        ",
        "
        number 500
        identifier SHOP-3319
        ",
    );
}

#[test]
fn a_tale_is_told() {
    check(
        r#"
        s: You are the game master of a grim fantasy campaign. Never decide what the player's character does.
        u: I push the heavy door open and call out: "Is anybody in there?"
        a: *The hinges scream.* A hooded woman lifts her lantern. "Turn back, Corvin of Ashmere. The Warden wants eleven crowns for the bridge, and he takes no promises."
        u: I show her the iron key. "Your brother Ysolt sent me. He said you would know the word."
        a: She goes pale. "Ysolt is dead. He was buried on the ninth of Frostmonth." She counts seven scars on the key. "Fine. Meet me at the Drowned Mill before midnight, and do not bring the dwarf."
        u: I nod and ask for her name.
        a: "Maelis," she says, and blows the lantern out.
        "#,
        "
        Corvin of Ashmere entered through the heavy door and met Maelis, a hooded woman and sister of Ysolt. She claims that Ysolt is dead.
        The Warden demands eleven crowns for the bridge and takes no promises.
        She wants to meet Corvin at the Drowned Mill before midnight; he must bring the dwarf.
        Corvin owns a silver dagger from Harrowgate.
        ",
        r#"
        quote "Is anybody in there?"
        quote "Turn back, Corvin of Ashmere. The Warden wants eleven crowns for the bridge, and he takes no promises."
        quote "Your brother Ysolt sent me. He said you would know the word."
        quote "Ysolt is dead. He was buried on the ninth of Frostmonth."
        name Frostmonth
        quote "Fine. Meet me at the Drowned Mill before midnight, and do not bring the dwarf."
        "#,
        "
        name Harrowgate
        ",
    );
}
