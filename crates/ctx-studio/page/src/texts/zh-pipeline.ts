// 管道页面的中文文本。
import type { Texts } from "../language";

export const pipeline: Texts["pipeline"] = {
  views: { processors: "处理器", compression: "压缩" },
  keyByKey: "随对话保存的摘要的设置。各项单独继承：先用此智能体的设置，再用“所有智能体”的设置，最后用默认值。",
  inherit: "继承",
  inherited: (from) => `继承：${from}`,
  next: (path) => `${path} 的下一次自动压缩：`,
  title: "处理器（按运行顺序）",
  layerLabel: "修改保存到",
  layers: { agent: "此智能体", model: "模型", user: "所有智能体" } as Texts["pipeline"]["layers"],
  noFile: {
    agent: "未打开智能体",
    model: "未选择设置文件",
    user: "此文件夹没有 ctx.toml",
  } as Texts["pipeline"]["noFile"],
  origins: {
    "built-in": "默认",
    user: "所有智能体",
    model: "模型",
    agent: "智能体",
    "command-line": "本次预览",
  } as Texts["pipeline"]["origins"],
  modelFile: "模型设置文件",
  core: "核心",
  priority: "优先级",
  noFields: "没有设置项。",
  resetAll: (count) => (count === 0 ? "全部重置" : `全部重置（${count}）`),
  resetOne: (name) => `重置 ${name}`,
  wasReset: (count) => `已重置 ${count} 个处理器`,
  copied: (name, count) => `${name}：已从下层复制 ${count} 项设置（处理器设置按层整体覆盖）`,
  overruled: (by, others) => `“${by}”的设置优先，“${others}”的设置不生效。`,
  decidesInstead: (by, own) => `“${by}”的设置优先。重置前，对“${own}”的修改不生效。`,
  movedTo: (name, priority) => `${name} 的优先级：${priority}`,
  crowded: "优先级已占满",
  crowdedHelp: "优先级是整数。要插入到这里，以下优先级也要修改：",
  moveToo: "全部修改",
};
