//! Texts of prompts and summaries in each language.

use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;
use crate::mask::plan::SummaryTask;

/// Texts in one language; names in braces are placeholders.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) prompt: &'static str,
    /// The beginning of a prompt, by [`SummaryTask`].
    tasks: [&'static str; 4],
    conversation: &'static str,
    summaries: &'static str,
    /// Content that a summary must keep, by [`ConversationKind`].
    focus: [&'static str; 4],
    pub(super) earlier_summary_block: &'static str,
    /// Follows the prompt of a second attempt.
    pub(super) retry: &'static str,
    /// Headings of a summary, as in the prompt.
    pub(super) headings: [&'static str; 6],
    pub(super) user: &'static str,
    pub(super) assistant: &'static str,
    pub(super) system: &'static str,
    pub(super) earlier_summary: &'static str,
    pub(super) named_role: &'static str,
    pub(super) message: &'static str,
    pub(super) call: &'static str,
    pub(super) result: &'static str,
    pub(super) image: &'static str,
    pub(super) file: &'static str,
    pub(super) short_call: &'static str,
    pub(super) short_result: &'static str,
    pub(super) colon: &'static str,
    pub(super) comma: &'static str,
    pub(super) appendix_heading: &'static str,
    pub(super) reasoning_warning: &'static str,
}

impl Texts {
    pub(super) const fn task(&self, task: SummaryTask) -> &'static str {
        self.tasks[task as usize]
    }

    /// Returns what a prompt of this task summarizes.
    pub(super) const fn block(&self, task: SummaryTask) -> &'static str {
        match task {
            SummaryTask::Parts => self.summaries,
            SummaryTask::First | SummaryTask::Append | SummaryTask::Merge => self.conversation,
        }
    }

    pub(super) const fn focus(&self, kind: ConversationKind) -> &'static str {
        self.focus[kind as usize]
    }
}

impl Language {
    pub(super) const fn texts(self) -> &'static Texts {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
    }
}

const ENGLISH: Texts = Texts {
    prompt: include_str!("prompt/en.txt"),
    tasks: [
        "Your summary replaces the part of it at the end of this message. The model that continues the conversation \
         knows that part only from your summary. Focus on the user's requests and their results.",
        "An earlier summary covers its start and stays. Your text replaces the part at the end of this message and \
         follows the earlier summary. Summarize only this part. Use the earlier summary as background. Do not repeat \
         it, but mention changes since then.",
        "Below are a summary of its start and the part that follows. Your new summary replaces both. The model that \
         continues the conversation knows only your summary. Keep everything in the earlier summary that still \
         matters, update it, and omit finished matters. If something changed, write only the current state.",
        "It was summarized in parts, which are listed in order at the end of this message. Merge them into one \
         summary. The model that continues the conversation knows only your summary. If two parts differ, the later \
         part is correct.",
    ],
    conversation: "conversation",
    summaries: "summaries",
    focus: [
        "This is a chat. Keep who the people are and how they are related, their likes and dislikes, promises and \
         appointments with their dates, and people's worries and joys.",
        "This is a task solved with tools. Keep the task in the user's own words, each action that changed something \
         with its exact arguments and its result, each failure with its cause, and every id, path, and number that a \
         later step may need. Omit output that is no longer needed.",
        "This is a role-play. Write in the third person. Keep the time and place of the scene, who is present and in \
         which mood, each character's knowledge, wishes, belongings, and promises, the relationships between the \
         characters, the rules of the world, and all open plot threads. Name the tone of the narration.",
        "This is a technical conversation. Keep the goal, the environment with its versions, the exact names of \
         files, functions, commands, and settings, error messages, all attempts with their results, decisions with \
         their reasons, and rejected options.",
    ],
    earlier_summary_block: "=== earlier summary ===\n{previous_summary}\n",
    retry: "Your last reply could not be used: {fault}. Reply with the summary only, as plain text.",
    headings: [
        "1. Overview",
        "2. Present focus",
        "3. Ideas and terms",
        "4. Facts to keep",
        "5. Done and under way",
        "6. Open points and next steps",
    ],
    user: "user",
    assistant: "assistant",
    system: "system",
    earlier_summary: "earlier summary",
    named_role: "{role} ({name})",
    message: "[{number}] {head}:\n{body}",
    call: "calls {tool} with {arguments}",
    result: "result of {tool}",
    image: "[picture or file]",
    file: "[file: {name}]",
    short_call: "called {tool}",
    short_result: "result",
    colon: ": ",
    comma: ", ",
    appendix_heading: "Also said, word for word:",
    reasoning_warning: "hidden messages contain a provider's reasoning, which cannot be sent back",
};

const CHINESE: Texts = Texts {
    prompt: include_str!("prompt/zh.txt"),
    tasks: [
        "本条消息末尾的那部分对话将被移出，由你写的摘要代替：之后继续对话的一方，对这部分内容的了解仅限于你写下的文字。\
         请特别留意用户要求了什么，以及为此已经做了什么。",
        "对话的开头已有摘要，那份摘要会继续保留。本条消息末尾是紧随其后的部分，它将被移出，由你写的文字代替，排在已有摘要之后。\
         请只概括这一部分：借助已有摘要来理解它，不要重复已有摘要，但要说明哪些情况发生了变化。",
        "下面是对话开头的摘要，以及紧随其后的部分。两者都将被移出，由你写的新摘要一并代替：之后继续对话的一方，所知仅限于你写下的文字。\
         请把已有摘要中仍然要紧的内容全部带上并更新，已经了结的可以略去；有变化的只写现在有效的。",
        "这段对话是分段概括的，各段摘要按顺序排在本条消息末尾。请把它们合成一份摘要：之后继续对话的一方，所知仅限于你写下的文字。\
         各段说法不一时，以靠后的一段为准。",
    ],
    conversation: "对话",
    summaries: "摘要",
    focus: [
        "这是一段日常交谈。请留住：谈到了哪些人、彼此是什么关系，各自的喜好与忌讳，答应或约好的事及其时间，以及谁在为什么高兴或担心。",
        "这是一项借助工具进行的任务。请留住：用户原话中的任务，每一次带来改变的操作及其准确参数，操作的结果，失败及其原因，\
         以及后续步骤可能用到的每个编号、路径和数值。已经没有用处的工具输出可以略去。",
        "这是一段角色扮演。请用第三人称叙述。请留住：场景的地点与时间，在场的人物及其心境，每个人物知道什么、想要什么、带着什么、许诺过什么，\
         人物之间的关系，世界的规则，以及尚未了结的线索，并点明叙述的语气。",
        "这是一段技术讨论。请留住：要达到的目标，环境及其版本，文件、函数、命令和配置项的名称（一字不差），报错信息，试过的办法及其结果，\
         作出的决定与理由，以及被否决的方案。",
    ],
    earlier_summary_block: "=== 已有摘要 ===\n{previous_summary}\n",
    retry: "上一次的回复无法使用：{fault}。请只用纯文本写出摘要本身。",
    headings: [
        "1. 概览",
        "2. 目前的焦点",
        "3. 概念与术语",
        "4. 需要保留的事实",
        "5. 已完成与进行中",
        "6. 待办与下一步",
    ],
    user: "用户",
    assistant: "助手",
    system: "系统",
    earlier_summary: "先前的摘要",
    named_role: "{role}（{name}）",
    message: "【{number}】{head}：\n{body}",
    call: "调用工具 {tool}，参数 {arguments}",
    result: "工具 {tool} 的结果",
    image: "[图片或文件]",
    file: "[附件：{name}]",
    short_call: "调用 {tool}",
    short_result: "结果",
    colon: "：",
    comma: "、",
    appendix_heading: "另有原话：",
    reasoning_warning: "被隐藏的消息带有推理状态，之后无法再原样回传",
};
