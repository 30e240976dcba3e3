pub(crate) struct Writer {
    state: u64,
    english: Vec<&'static str>,
    chinese: Vec<&'static str>,
}

const ENGLISH: &str = "\
    the a garden bridge slowly under river because lantern we could not remember which letter \
    arrived before winter and nobody answered its question about old maps copper wire that someone \
    left behind in workshop although every clock there showed different time she measured \
    temperature of water twice then wrote down result with unusual patience while neighbours \
    discussed whether harvest would begin early this year database returns rows without index so \
    query takes longer than expected please check configuration again function parses header but \
    ignores checksum when buffer is empty they were unconvinced by explanation however simple it \
    sounded at first glance perhaps you might prefer another approach involving fewer moving parts \
    tomorrow morning train leaves from platform seven carrying instruments for observatory on \
    northern hillside where wind rarely stops stars appear closer";

const CHINESE: &str = "\
    我们 昨天 在 河边 发现 一座 旧 钟楼 它的 指针 早已 停止 但是 钥匙 仍然 挂在 门上 没有人 知道 \
    为什么 信件 会 寄到 这里 请 检查 一下 数据库 索引 是否 已经 建立 否则 查询 需要 很长 时间 她 \
    慢慢地 打开 窗户 看见 远处 山坡 灯光 闪烁 仿佛 有人 正在 等待 回答 关于 收获 季节 邻居 意见 并不 \
    一致 因此 会议 推迟 到 下周 如果 你 愿意 可以 先 阅读 附件 中的 说明 再 决定 采用 哪一种 方案 \
    火车 从 七号 站台 出发 载着 观测 仪器 前往 北方 风 很少 停下来 星星 显得 更近 函数 解析 报头 却 \
    忽略 校验和 当 缓冲区 为空 的 时候 结果 令人 意外 温度 测量 两次 以后 才 写进 笔记本";

impl Writer {
    pub(crate) fn new(seed: u64) -> Self {
        let words = |list: &'static str| list.split_whitespace().collect();
        Self { state: seed, english: words(ENGLISH), chinese: words(CHINESE) }
    }

    /// Writes a text of 50% to 150% of `bytes`.
    pub(crate) fn text(&mut self, bytes: usize, is_chinese: bool) -> String {
        let target = bytes / 2 + self.below(bytes);
        let mut text = String::with_capacity(target + 100);
        while text.len() < target {
            if is_chinese {
                self.chinese_sentence(&mut text);
            } else {
                self.english_sentence(&mut text);
            }
            if self.below(5) == 0 {
                text.push_str("\n\n");
            }
        }
        text.truncate(text.trim_end().len());
        text
    }

    pub(crate) fn id(&mut self) -> String {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let letters = (0..24).filter_map(|_| LETTERS.get(self.below(LETTERS.len())).copied());
        format!("call_{}", letters.map(char::from).collect::<String>())
    }

    fn english_sentence(&mut self, text: &mut String) {
        let begin = text.len();
        let words = 6 + self.below(12);
        for word in 0..words {
            text.push_str(match word {
                0 => "",
                _ if self.below(9) == 0 => ", ",
                _ => " ",
            });
            match self.below(25) {
                0 => text.push_str(&self.below(10_000).to_string()),
                _ => text.push_str(self.word(false)),
            }
        }
        if let Some(first) = text.get_mut(begin..=begin) {
            first.make_ascii_uppercase();
        }
        text.push_str(if self.below(6) == 0 { "? " } else { ". " });
    }

    fn chinese_sentence(&mut self, text: &mut String) {
        for _ in 0..5 + self.below(12) {
            match self.below(30) {
                0 => text.push_str(&self.below(10_000).to_string()),
                1..4 => text.push('，'),
                _ => {}
            }
            text.push_str(self.word(true));
        }
        text.push_str(if self.below(6) == 0 { "？" } else { "。" });
    }

    fn word(&mut self, is_chinese: bool) -> &'static str {
        let index = self.below(if is_chinese { self.chinese.len() } else { self.english.len() });
        let words = if is_chinese { &self.chinese } else { &self.english };
        words.get(index).copied().unwrap_or_default()
    }

    /// A linear congruential generator (Knuth's constants for MMIX); the upper bits are more random.
    fn below(&mut self, limit: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap_or_default() % limit.max(1)
    }
}
