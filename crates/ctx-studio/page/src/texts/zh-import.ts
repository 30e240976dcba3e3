// 导入页面与预览的中文文本。
import type { Texts } from "../language";

const enabled = (count: number, disabled: number) => (disabled === 0 ? "" : `（启用 ${count - disabled} 个）`);

export const imports: Texts["imports"] = {
  contents: {
    character: ({ name }) => (name === undefined ? "角色" : `角色 ${name}`),
    prompts: ({ count, disabled }) => `${count} 个提示词${enabled(count, disabled)}`,
    greetings: ({ count }) => `${count} 条开场白`,
    entries: ({ count, disabled }) => `${count} 个世界书条目${enabled(count, disabled)}`,
    scripts: ({ count, disabled }) => `${count} 个正则脚本${enabled(count, disabled)}`,
    messages: ({ count, name }) => (name === undefined ? `${count} 条消息` : `${name}：${count} 条消息`),
    profile: ({ name }) => (name === undefined ? "用户档案" : `用户档案 ${name}`),
    template: () => "文本模板",
    files: ({ count }) => `${count} 个文件`,
  },
  notRecognized: "无法识别",
  preview: "预览",
  isPreview: "这是导入结果的预览，尚未写入文件。",
  back: "返回导入",
  addFiles: "添加文件…",
  checking: "正在检查…",
  folderHelp: "本项目内的文件夹",
  inProject: "文件会直接写入本项目的文件夹。",
  folderExists: (count) => `该文件夹中已有 ${count} 个同名文件`,
  toWrite: (count) => `查看这 ${count} 个文件`,
  changed: "有变化的内容",
  nothingChanged: "所有内容导入后含义不变。",
  changes: {
    approximated: "效果略有不同",
    kept: "保留在文件中，不起作用",
    unsupported: "未导入",
  },
  unused: "此处不使用",
  fields: (count) => `${count} 个字段`,
  empty: (count) => `${count} 个空字段`,
  allFields: (count) => `全部字段（${count}）`,
};

export const inspector: Texts["inspector"] = {
  showDisabled: (count) => `显示已禁用（${count}）`,
  messageText: "消息文本",
  removedBecause: (reason) => `B 不发送此消息：${reason}`,
  fromTo: (from, to) => `A 中的消息 ${from}，B 中的消息 ${to}`,
};
