//! Names of people and places in Chinese, which has no capitals: by surnames, titles, endings and neighbours.

use std::ops::Range;

use crate::quality::lex::{Form, Kind, Lexed};

/// Characters that surnames of one character are.
const SURNAMES: &str = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛范彭郎鲁韦马苗方俞任袁柳鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于傅齐康伍余顾孟黄穆萧尹姚邵汪祁毛狄戴宋庞熊纪舒屈项祝董梁杜阮蓝闵季贾江童颜郭梅盛林钟徐邱骆高夏蔡田樊胡凌霍虞万柯管卢莫房裘缪解应宗丁宣邓洪包左石崔吉龚程嵇邢裴陆荣翁荀甄曲封储靳焦牧车侯全班仰仲伊宫宁仇甘武符刘景詹龙叶幸司黎乔苍双闻党翟谭贡劳姬申冉雍桑桂牛寿边燕冀尚农温庄晏柴瞿阎连习艾容向古易廖庾终衡步耿满匡国文寇广东欧利师巩聂关荆肖佟";

/// Surnames of two characters.
const LONG_SURNAMES: [&str; 14] = [
    "欧阳", "司马", "上官", "诸葛", "东方", "皇甫", "尉迟", "公孙", "慕容", "令狐", "夏侯", "司徒", "端木",
    "南宫",
];

/// Surnames that most people have; others need more around them to be one.
const USUAL: &str = "李王张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛阎余潘杜戴钟汪田任姜范方姚谭廖邹熊陆郝孔崔康邱秦江顾侯邵孟龙段钱汤尹黎易贺赖龚马";

/// Characters that given names often have.
const GIVEN: &str = "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉萍红玲芬燕彬鹏飞辉波斌凯浩宇婷雪琳慧莹颖倩欣怡佳悦琪瑶蕾薇洁琴兰梅莉晶晨阳旭东峰森博文轩翔宁健威帅毅恒坚志思子雨涵梓睿琦曦诗梦美春秋冬国建民庆福德永胜立新云龙虎凤香珍珠翠莲菊荣昌盛达义信仁礼智宏伦佑腾圆若依嘉家俊哲瀚逸然奕辰昊泽皓天佩珊岚露露菲曼妮艺可馨源远航程海鑫磊宝成乐彤桐舒语钰锦绣蓉芸芝茹茜蓓薪炎焕煜灿烨铭锋钧钢铁柱根生财富贵祥瑞吉康泰安全顺利炅纶铮卓越岩岳峻崇山川江河湖波澜洁清泉淑贤惠兴邦振世继承绍祖光耀照朗晖旺帆";

/// Characters that given names have not.
const NOT_GIVEN: &str = "的了是在不有我你他她它们这那个么吗呢吧啊和与及或就都也很还要会能上下来去到对从把被给让向跟为之其此但而因所果没无非别又再只更最每各某几一二三四五六七八九十百千万年月日时分秒点号元块钱件次说做看想问走吃喝买卖用找先后前里外间过得着";

/// Words that begin with a surname's character and are none.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "周末", "周围", "周年", "周期", "周边", "周到", "高兴", "高度", "高级", "高速", "高中", "高铁", "高效", "王国", "王子", "黄金", "黄色", "黄油",
    "方便", "方法", "方式", "方案", "方面", "方向", "方形", "任何", "任务", "任意", "何时", "何处", "何种", "何况", "金额", "金属", "金色", "金融",
    "程序", "程度", "白天", "白色", "马上", "马路", "马桶", "水果", "江湖", "江南", "许多", "许可", "于是", "常常", "常见", "常用", "常规", "成功", "连续",
    "连接", "连忙", "万一", "万分", "陈述", "陈列", "陈旧", "林业", "石头", "石油", "安排", "安全", "安装", "安静", "安心", "平台", "平时", "平均", "左右", "边缘",
    "温度", "温室", "温暖", "温柔", "花园", "花费", "单位", "单独", "单元", "云端", "雷达", "路线", "路由", "钟头", "钟表", "印刷", "包括", "包装", "包含",
    "包裹", "华丽", "项目", "后来", "后面", "关于", "关系", "关键", "关闭", "关心", "解决", "解释", "应该", "应用", "应当", "强调", "计算", "计划", "沙发",
    "游戏", "游客", "全部", "全面", "全球", "全家", "文件", "文档", "文章", "文本", "文化", "文字", "房间", "房车", "房子", "房东", "容易", "容量", "管理", "能够",
    "简单", "经常", "古老", "余额", "余下", "纪念", "纪录", "舒服", "商店", "商品", "商量", "支付", "支持", "相关", "相同", "通过", "常识", "张开", "张贴",
    "明天", "时间", "时候", "乐队", "乐意", "乐器", "康复", "宁静", "宁愿", "盛大", "向上", "向来", "易懂", "双方", "双人", "国家", "国际", "东西", "东部", "广场", "广告", "广泛",
    "利用", "利润", "师傅", "师父", "党员", "农民", "农业", "满意", "满足", "终于", "终点", "步骤", "步行", "武器", "武术", "车站", "车票", "车辆", "车间", "全班", "班级", "班车",
    "武功", "封面", "封闭", "储存", "焦虑", "牧师", "曲子", "曲线", "申请", "桂花", "牛奶", "牛肉", "边界", "尚未", "柴油", "习惯", "龙虾", "叶子", "幸福", "幸运", "司机", "司令",
    "闻到", "劳动", "甘愿", "宫殿", "伊始", "仰望", "甄选", "荣幸", "荣誉", "程式", "左边", "洪水", "宣布", "宣传", "应聘", "管道", "莫名", "霍乱", "胡说", "胡子", "田野", "夏天", "夏季",
    "徐徐", "林子", "梅花", "郭外", "童年", "童话", "贾商", "季节", "季度", "蓝色", "蓝牙", "杜绝", "梁柱", "祝福", "祝贺", "项链", "屈服", "熊猫", "庞大", "宋代", "戴上", "毛病", "毛衣", "毛巾", "汪洋",
    "尹始", "萧条", "穆斯", "黄昏", "孟夏", "顾客", "顾虑", "顾问", "余地", "伍佰", "齐全", "齐心", "傅会", "乐观", "常年", "安慰", "郝然", "毕业", "毕竟", "罗列", "殷勤", "汤圆", "贺卡", "雷雨", "薛定",
    "史料", "鲍鱼", "柳树", "袁大", "任职", "方块", "苗条", "马虎", "鲁莽", "郎君", "彭湃", "范围", "范例", "葛根", "潘多", "苏打", "苏醒", "章节", "窦性", "柏油", "喻体", "谢谢", "谢绝", "姜汤", "陶瓷", "陶艺", "陶醉", "魏晋",
    "金钱", "华人", "严重", "严格", "严肃", "严禁", "曹操", "孔雀", "张力", "施工", "施行", "吕宋", "许愿", "尤其", "秦代", "朱红", "杨树", "韩国", "韩语", "韩式", "沈淀", "蒋介", "卫生", "卫星", "褚石", "冯虚", "吴语", "李子", "孙子", "孙女", "钱包", "赵体",
    "国内", "国外", "国庆", "文具", "文明", "关注", "关联", "关门", "易于", "古代", "容器", "温泉", "连衣", "连同", "尚可", "寿司", "寿命", "桑拿", "申报", "劳累", "龙头", "景色", "景点", "刘海", "符合", "符号", "武汉", "甘肃", "宁波", "宁夏", "仲裁", "侯机", "车厢", "车库", "车型", "全程", "全职", "全新", "荣获", "陆续", "陆地", "程控", "崔嵬", "石材",
];

/// Titles that follow names.
const TITLES: [&str; 18] = [
    "先生", "女士", "小姐", "太太", "老师", "医生", "经理", "教授", "主任", "博士", "同学", "师傅", "律师",
    "护士", "阿姨", "叔叔", "总监", "队长",
];

/// What places and institutions end in.
const ENDINGS: [&str; 31] = [
    "自治区",
    "火车站",
    "公司",
    "大学",
    "医院",
    "酒店",
    "银行",
    "机场",
    "车站",
    "中学",
    "小学",
    "餐厅",
    "广场",
    "大厦",
    "学院",
    "集团",
    "公园",
    "大街",
    "宾馆",
    "饭店",
    "超市",
    "商场",
    "省",
    "市",
    "县",
    "镇",
    "路",
    "街",
    "岛",
    "湖",
    "山",
];

/// Places that everybody knows.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "北京", "上海", "广州", "深圳", "杭州", "成都", "重庆", "天津", "南京", "武汉", "西安", "苏州", "长沙", "青岛", "大连", "厦门", "宁波", "昆明", "沈阳", "哈尔滨", "济南", "郑州", "福州", "合肥", "南昌",
    "贵阳", "南宁", "海口", "三亚", "桂林", "丽江", "拉萨", "兰州", "西宁", "银川", "乌鲁木齐", "太原", "石家庄", "长春", "无锡", "珠海", "香港", "澳门", "台北", "高雄", "中国", "美国", "日本", "韩国",
    "英国", "法国", "德国", "意大利", "西班牙", "俄罗斯", "加拿大", "澳大利亚", "新西兰", "新加坡", "泰国", "越南", "印度", "巴西", "埃及", "瑞士", "瑞典", "挪威", "荷兰", "希腊", "土耳其", "东京", "大阪",
    "京都", "首尔", "巴黎", "伦敦", "纽约", "柏林", "罗马", "莫斯科", "悉尼", "曼谷", "旧金山", "洛杉矶", "芝加哥", "波士顿", "西雅图", "里斯本", "马德里", "巴塞罗那", "维也纳", "苏黎世", "欧洲", "亚洲", "非洲", "美洲",
];

/// What may stand directly before a name.
const BEFORE: &str = "是叫为给和与跟找问由让请对向同及名者替帮见约像派陪送把被比人系到，";

/// What may stand directly behind a name.
const AFTER: &str = "陪的说在是也和与会要将已来去负告问想喜建提同总把被就都有给跟明今昨住做写打发到不没从先女老经医教主博律护及商谈聊沟联确签认推参加拿买带开回请帮让下上正才需应必得表称觉希见了吧吗呢啊";

/// Returns the surname of somebody who is called by surname and title: `王` of `王老师`.
pub(super) fn surname_of_title(words: &str) -> Option<&str> {
    let bare = TITLES.iter().find_map(|title| words.strip_suffix(title))?;
    let is_surname = LONG_SURNAMES.contains(&bare) || (bare.chars().count() == 1 && SURNAMES.contains(bare));
    is_surname.then_some(bare)
}

/// Finds the name that begins at a Chinese character, by its tokens.
pub(super) fn name(lexed: &Lexed<'_>, at: usize) -> Option<Range<usize>> {
    lexed.han(at)?;
    let length = foreign(lexed, at)
        .or_else(|| place(lexed, at))
        .or_else(|| known_place(lexed, at))
        .or_else(|| person(lexed, at))?;
    Some(at..at + length)
}

fn known_place(lexed: &Lexed<'_>, at: usize) -> Option<usize> {
    PLACES.iter().find(|place| lexed.has_han(at, place)).map(|place| place.chars().count())
}

/// Counts Chinese characters from a token on, up to a number.
fn run_length(lexed: &Lexed<'_>, at: usize, most: usize) -> usize {
    (at..at + most).take_while(|at| lexed.han(*at).is_some()).count()
}

/// `约翰·史密斯`.
fn foreign(lexed: &Lexed<'_>, at: usize) -> Option<usize> {
    const LONGEST: usize = 6;
    if at.checked_sub(1).is_some_and(|before| lexed.han(before).is_some_and(|c| !BEFORE.contains(c))) {
        return None;
    }
    let first = run_length(lexed, at, LONGEST);
    let is_joined = matches!(lexed.mark(at + first), Some('·' | '•' | '・')) && first >= 1;
    let second = run_length(lexed, at + first + 1, 4);
    (is_joined && second >= 1).then_some(first + 1 + second)
}

/// A surname with a given name or a title.
fn person(lexed: &Lexed<'_>, at: usize) -> Option<usize> {
    let is_long = LONG_SURNAMES.iter().any(|surname| lexed.has_han(at, surname));
    let surname = if is_long { 2 } else { 1 };
    if !is_long && !lexed.han(at).is_some_and(|c| SURNAMES.contains(c)) {
        return nickname(lexed, at);
    }
    let usual = |at: usize| lexed.han(at).is_some_and(|c| GIVEN.contains(c));
    let is_usual = is_long || lexed.han(at).is_some_and(|c| USUAL.contains(c));
    // `李子` is a plum, and `李子涵` somebody.
    let is_somebody = is_usual && usual(at + surname) && usual(at + surname + 1);
    let is_word = !is_somebody && WORDS.iter().any(|word| lexed.has_han(at, word));
    if is_whole_value(lexed, at) {
        let length = run_length(lexed, at, 8);
        return (!is_word && length > surname && length <= surname + 2).then_some(length);
    }
    let title =
        (surname..=surname + 2).find(|length| TITLES.iter().any(|title| lexed.has_han(at + length, title)));
    let is_given = |at: usize| lexed.han(at).is_some_and(|c| !NOT_GIVEN.contains(c));
    if let Some(length) = title.filter(|length| (surname..*length).all(|skip| is_given(at + skip))) {
        // A title is part of what somebody is called only if no given name is told.
        return (!is_word || length == surname).then_some(if length == surname {
            length + 2
        } else {
            length
        });
    }
    let of = |length: usize| {
        let given = at + surname..at + length;
        let is_name = !is_word && given.clone().all(is_given) && begins(lexed, at);
        let is_likely = is_usual && given.clone().all(usual);
        let is_certain = is_likely && length > surname + 1;
        let is_enough = is_likely || length > surname + 1;
        is_name && is_enough && ends(lexed, at, at + length, is_certain)
    };
    // `王磊陪同`: the shorter name is likelier than one with a rare character.
    let is_rare = !usual(at + surname + 1) && of(surname + 1);
    let lengths = if is_rare { [surname + 1, surname + 2] } else { [surname + 2, surname + 1] };
    lengths.into_iter().find(|length| of(*length))
}

/// `小张`, `老王`, `阿明`.
fn nickname(lexed: &Lexed<'_>, at: usize) -> Option<usize> {
    let is_familiar = lexed.han(at).is_some_and(|c| matches!(c, '小' | '老' | '阿'));
    let next = lexed.han(at + 1)?;
    let is_surname =
        SURNAMES.contains(next) && !"时常方费国文师广东金黄白温石边水高车平安任何".contains(next);
    let is_word = ["小王子", "老王国", "小马路", "小孙子"].iter().any(|word| lexed.has_han(at, word));
    let is_bounded = begins(lexed, at) && ends(lexed, at, at + 2, false);
    (is_familiar && is_surname && !is_word && is_bounded).then_some(2)
}

/// Returns whether what stands before lets a name begin.
fn begins(lexed: &Lexed<'_>, start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|before| lexed.han(before));
    before.is_none_or(|c| BEFORE.contains(c))
}

/// Returns whether what stands behind lets a name end; behind a certain one anything may.
fn ends(lexed: &Lexed<'_>, start: usize, end: usize, is_certain: bool) -> bool {
    let before = start.checked_sub(1).and_then(|before| lexed.han(before));
    let behind = lexed.han(end);
    let is_ended = behind.is_none_or(|c| AFTER.contains(c)) || is_certain;
    // Where nothing is before and nothing behind, too many words look like names.
    let is_told = before.is_some()
        || behind.is_some()
        || is_certain
        || lexed.form.is_data()
        || is_labelled(lexed, start);
    is_ended && is_told
}

/// Returns whether a colon or a list mark stands before.
fn is_labelled(lexed: &Lexed<'_>, start: usize) -> bool {
    start.checked_sub(1).is_some_and(|before| matches!(lexed.mark(before), Some(':' | '：' | '、' | '@')))
}

/// Returns whether a word is a whole value of JSON.
fn is_whole_value(lexed: &Lexed<'_>, at: usize) -> bool {
    let is_quote = |at: usize| lexed.mark(at) == Some('"');
    let end = at + run_length(lexed, at, 8);
    let is_key = matches!(lexed.mark(end + 1), Some(':'));
    lexed.form == Form::Json && at.checked_sub(1).is_some_and(is_quote) && is_quote(end) && !is_key
}

/// A place or an institution, from the last word that joins to the ending.
fn place(lexed: &Lexed<'_>, at: usize) -> Option<usize> {
    const LONGEST: usize = 10;
    const JOINS: &str = "在去到从往是的和与及了来自于向把给住进出过回离见于由，。";
    const NO_NAMES: [&str; 18] = [
        "超市", "城市", "夜市", "股市", "道路", "马路", "走路", "一路", "网路", "线路", "电路", "公路",
        "铁路", "逛街", "上街", "上山", "爬山", "都市",
    ];
    let before = at.checked_sub(1).and_then(|before| lexed.han(before));
    if before.is_some_and(|c| !JOINS.contains(c)) || lexed.han(at).is_some_and(|c| NOT_GIVEN.contains(c)) {
        return None;
    }
    let run = (at..at + LONGEST)
        .take_while(|at| lexed.han(*at).is_some_and(|c| !JOINS.contains(c) && !"就都也".contains(c)))
        .count();
    let length = (2..=run).find_map(|end| {
        let ending = ENDINGS.iter().find(|ending| {
            let size = ending.chars().count();
            end >= size + 2 && lexed.has_han(at + end - size, ending)
        })?;
        let is_plain =
            ending.chars().count() == 1 && NO_NAMES.iter().any(|word| lexed.has_han(at + end - 2, word));
        let goes_on =
            *ending == "市" && lexed.han(at + end).is_some_and(|c| "场区民政中长价集面".contains(c));
        (!is_plain && !goes_on).then_some(end)
    })?;
    let is_short = length <= 4 || lexed.kind(at + length) != Some(Kind::Han);
    is_short.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, form: Form, expected: &str) {
        let lexed = Lexed::of(text, form);
        let (mut at, mut shown) = (0, Vec::new());
        while at < lexed.tokens.len() {
            match name(&lexed, at) {
                Some(found) => {
                    shown.push((found.start..found.end).map(|at| lexed.str(at)).collect::<String>());
                    at = found.end;
                }
                None => at += 1,
            }
        }
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn people_are_told_by_surnames_and_neighbours() {
        check("收件人是周子涵。", Form::Prose, "周子涵");
        check("我问了一下，找李明哲和王老师聊聊", Form::Prose, "李明哲 王老师");
        check("欧阳雨桐说她明天来", Form::Prose, "欧阳雨桐");
        check("约翰·史密斯来了", Form::Prose, "约翰·史密斯来");
        check("联系人：陈思远", Form::Prose, "陈思远");
        check("{\"recipient\":\"何佳宁\",\"note\":\"方便\"}", Form::Json, "何佳宁");
    }

    #[test]
    fn words_that_look_like_names_are_none() {
        check("周末高兴吗，方便的时候安排一下，许多人都是何时来的", Form::Prose, "");
        check("温室的定金，陶艺课居然要钱，房车和印刷机", Form::Prose, "");
    }

    #[test]
    fn places_are_known_or_end_as_places_do() {
        check("我在北京大学读书，去了杭州市", Form::Prose, "北京大学 杭州市");
        check("他住在文三路，去人民医院", Form::Prose, "文三路 人民医院");
        check("去超市买东西，逛街走路", Form::Prose, "");
    }
}
