//! Word lists.

pub(super) const FIRST_NAMES: &[&str] = &[
    "Marta", "Idris", "Yuki", "Pavel", "Noor", "Greta", "Tomas", "Leila", "Oskar", "Priya", "Dario", "Hanne",
];
pub(super) const LAST_NAMES: &[&str] = &[
    "Okafor",
    "Lindqvist",
    "Moreau",
    "Tanaka",
    "Ferreira",
    "Novak",
    "Haddad",
    "Bergstrom",
    "Castellano",
    "Whitlock",
];
pub(super) const SURNAMES: &[&str] = &["陈", "林", "周", "郑", "吴", "许", "何", "罗"];
pub(super) const GIVEN_NAMES: &[&str] = &["雨桐", "浩然", "思远", "佳宁", "子涵", "明哲", "晓岚", "文博"];
pub(super) const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const FOLDERS: &[&str] = &["src", "crates/core", "services", "lib", "deploy"];
pub(super) const MODULES: &[&str] = &["billing", "session", "router", "ledger", "notify", "search", "upload"];
pub(super) const FILES: &[&str] =
    &["retry", "limits", "schema", "handoff", "window", "cursor", "quota", "merge"];
pub(super) const ADJECTIVES: &[&str] =
    &["Silent", "Crooked", "Amber", "Hollow", "Distant", "Burning", "Northern", "Last", "Paper", "Borrowed"];
pub(super) const NOUNS: &[&str] = &[
    "Harbour", "Orchard", "Compass", "Winter", "Letter", "Bridge", "Lantern", "Garden", "Mirror", "Station",
];
pub(super) const ADJECTIVES_CHINESE: &[&str] = &["沉默的", "遥远的", "最后的", "燃烧的", "空心的", "北方的"];
pub(super) const NOUNS_CHINESE: &[&str] = &["港口", "果园", "罗盘", "冬天", "灯笼", "车站"];

/// What people talk about.
pub(super) const THINGS: &[&str] = &[
    "piano",
    "boat",
    "greenhouse",
    "telescope",
    "bakery",
    "pottery class",
    "violin",
    "caravan",
    "beehive",
    "workshop",
    "kayak",
    "choir",
    "printing press",
    "sauna",
    "vineyard",
    "bookshop",
    "sewing machine",
    "drone",
    "aquarium",
    "loom",
];
pub(super) const THINGS_CHINESE: &[&str] = &[
    "钢琴",
    "小船",
    "温室",
    "望远镜",
    "面包店",
    "陶艺课",
    "小提琴",
    "房车",
    "蜂箱",
    "工作室",
    "皮划艇",
    "合唱团",
    "印刷机",
    "桑拿房",
    "葡萄园",
    "书店",
    "缝纫机",
    "无人机",
    "鱼缸",
    "织布机",
];

/// What people say when they say nothing.
pub(super) const FILLER: &[&str] = &[
    "That sounds wonderful, tell me more when you can.",
    "Honestly I was thinking the same thing the other day.",
    "Ha, you always know how to make me laugh!",
    "It has been one of those weeks where everything takes longer than it should.",
    "I hope so too. We should really talk more often.",
    "Yeah, it was good to get outside for a while and just breathe.",
    "I see what you mean, it is not always easy to choose.",
    "Thanks for listening, it helps a lot to say it out loud.",
    "The weather here keeps changing, one moment sun and the next one rain.",
    "Sure, whatever works best for you is fine with me.",
    "I was just making some tea and looking out of the window.",
    "You are right, we have come a long way since then.",
];
pub(super) const FILLER_CHINESE: &[&str] = &[
    "听起来真不错，有空再跟我细说吧。",
    "其实我前几天也是这么想的。",
    "哈哈，你总是能把我逗笑。",
    "这周什么事情都拖得比预想的久。",
    "希望如此，我们应该多聊聊。",
    "嗯，出去走走透透气还是挺好的。",
    "我明白你的意思，选择确实不容易。",
    "谢谢你听我说这些，说出来舒服多了。",
    "这边的天气变来变去，一会儿出太阳一会儿下雨。",
    "行啊，你觉得怎么方便就怎么来。",
];
