// 管道页面的中文文本。
import type { Texts } from "../language";

export const pipeline: Texts["pipeline"] = {
  views: { processors: "处理器", compression: "压缩" },
  keyByKey: "这些设置用于随对话保存的摘要。每一项单独生效：智能体未设置的取自“所有智能体”，否则为内置值。",
  inherit: "继承",
  inherited: (from) => `继承：${from}`,
  next: (path) => `在 ${path} 中自动压缩时：`,
  title: "处理器，按运行顺序",
  layerLabel: "修改作用于",
  layers: { agent: "此智能体", model: "模型", user: "所有智能体" } as Texts["pipeline"]["layers"],
  noFile: {
    agent: "没有智能体",
    model: "未选择设置文件",
    user: "此文件夹没有 ctx.toml",
  } as Texts["pipeline"]["noFile"],
  origins: {
    "built-in": "内置",
    user: "所有智能体",
    model: "模型",
    agent: "智能体",
    "command-line": "本次预览",
  } as Texts["pipeline"]["origins"],
  modelFile: "模型的设置",
  core: "核心",
  priority: "优先级",
  noFields: "没有设置项。",
  resetAll: (count) => (count === 0 ? "全部重置" : `全部重置（${count}）`),
  resetOne: (name) => `重置 ${name}`,
  wasReset: (count) => `已重置 ${count} 个处理器`,
  copied: (name, count) => `${name}：已复制下层的 ${count} 个值，因为由一层整体决定`,
  overruled: (by, others) => `由“${by}”整体决定。为“${others}”设置的内容在此无效。`,
  decidesInstead: (by, own) => `由“${by}”整体决定。在其重置之前，为“${own}”所做的修改在此无效。`,
  movedTo: (name, priority) => `${name} 的优先级现为 ${priority}。`,
  crowded: "此处没有空余的数字",
  crowdedHelp: "优先级是整数。为腾出位置，以下处理器也会移动：",
  moveToo: "一并移动",
};
