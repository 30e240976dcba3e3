// 页面的全部中文文本。
import type { Texts } from "../language";

export const zh: Texts = {
  // 框架
  skip: "跳到页面内容", home: "回到预设", file: "文件", save: "保存", undo: "撤销", redo: "重做",
  saved: (path) => `已保存 ${path}`, nothingToSave: "没有需要保存的更改", undone: "已撤销", redone: "已重做",
  notSaved: "尚未保存", isSaved: "已全部保存", readOnly: "只读", language: "中：切换到英文 (English)",
  theme: (name) => `配色：${name}`, themes: { system: "跟随系统", light: "浅色", dark: "深色" },
  errors: (count) => `${count} 个错误`, warnings: (count) => `${count} 个警告`,
  infos: (count) => `${count} 条提示`, noFindings: "没有问题", findings: "问题",
  pages: "页面", pageNames: { preset: "预设", preview: "预览", compare: "对比", import: "导入", start: "开始" },
  preview: "预览", notices: "通知", close: "关闭", reload: "重新加载", tryAgain: "重试", loading: "加载中…",
  outdated: "服务器已更换版本。", unreachable: "服务器没有响应。您输入的内容会保留，并重新发送。",
  offline: "服务器没有响应", failed: "操作失败",
  closed: "需要新的链接：请在运行 `ctx studio` 的终端里按回车。",
  closedHelp: "链接只能使用一次，五分钟内有效。令牌随服务器的运行结束而失效。",
  tooManyFiles: (count) => `文件夹里还有更多文件，这里只列出前 ${count} 个。`,

  // 同时更改
  conflict: "两个版本", conflictOfSave: (path) => `${path} 在读取之后被其他程序更改过。`,
  conflictOfEdit: (place) => `${place} 同时在另一个窗口中被更改。`,
  mine: "我的", theirs: "对方的", theFile: "文件中的", removed: "（已删除）", keepMine: "保留我的", takeTheirs: "采用对方的", takeTheFile: "采用文件中的",

  // 轮次
  turn: "轮次", input: "用户消息", inputHint: "用户接下来要说的话…", conversation: "对话", profile: "用户档案",
  worldbooks: "世界书", none: "无", chosenOf: (count, all) => `${count} / ${all}`, model: "模型", budget: "预算", reserve: "预留",
  seed: "种子", at: "时间", now: "现在", automatic: "自动", tokens: "token", exact: "精确", estimated: "估算", noBudget: "，无预算",
  overBudget: "超出预算", cannotFit: "没有上下文能放进预算", previewFailed: "无法预览",

  // 预设
  viewAs: "显示方式", views: { list: "列表", placed: "按位置", text: "文本" }, entry: "条目", addEntry: "添加条目", addAnchor: "添加锚点", newGroup: "新建分组", add: "添加",
  select: "选择", selection: "所选条目", chosen: (count) => `已选 ${count} 条`, all: "全选", on: "启用", off: "停用", done: "完成", closeAll: "全部收起",
  entriesLabel: "条目", entryNumber: (n) => `条目 ${n}`, entries: (count) => `${count} 条`,
  emptyList: "还没有条目。", noAgents: "此文件夹里没有智能体。请导入一个，或写入示例。", noEntries: "此文件没有条目列表。",
  beginPreset: "新建预设", unreadable: "文件目前无法解析，只能编辑文本。",
  totalOf: (own, all) => `条目合计：${own} / ${all} token`, totalOfEntries: (own) => `条目合计：${own} token`,
  addBelow: "在下方添加", addAnchorBelow: "在下方添加锚点…", duplicate: "复制一份", copySuffix: "（副本）", moveUp: "上移", moveDown: "下移", moveTo: "移动到…", move: "移动",
  moveOne: (name) => `移动 ${name}`, moveMany: (count) => `移动 ${count} 条`, place: "位置", toTheTop: "移到最前", below: (n, name) => `在 ${n} ${name} 之后`,
  delete: "删除", rename: "重命名", more: "ID、分组、模型", moreFor: (name) => `${name} 的更多操作`, drag: "拖动以移动；也可按 Alt+上 / Alt+下",
  switchOne: (name) => `${name}：启用`, switchGroup: (name) => `分组 ${name}：启用`, selectOne: (name) => `选择 ${name}`,
  moved: (what, at, of) => `${what} 已移到第 ${at} 位，共 ${of} 条。`, joined: (group) => `现在属于分组 ${group}。`, atTheEdge: "不能再移动了。",
  added: (name) => `已添加 ${name}`, duplicated: (count) => `已复制 ${count} 条`, deleted: (count) => `已删除 ${count} 条`,
  switchedOn: (count) => `已启用 ${count} 条`, switchedOff: (count) => `已停用 ${count} 条`,
  group: "分组", noGroup: "不分组", inGroup: (name) => `属于分组 ${name}`, groupMade: (name) => `已建立分组 ${name}`, groupHelp: "分组可以一起开关其中的条目。",
  groupOf: (count) => `包含所选的 ${count} 条，并将它们排在一起。`, continued: "（续）", oneOf: (count) => `${count} 选 1`,
  manyOn: "可同时启用多条", oneOn: "一次只启用一条", dissolve: "解散分组", name: "名称", role: "角色", id: "ID",
  tokensOf: (tokens) => `在预览中占 ${tokens} token`, isOff: "已停用，不发送", notSent: "不发送", neverSent: "自身的文本从不发送",
  textOf: (name) => `${name} 的文本`, textHint: "文本；输入 {{ 列出宏", expansion: "展开结果", rendersNothing: "展开后为空", hoverForSource: "指向任意部分以查看来源", openEntry: "打开条目",
  partsHelp: "此内容由多个部分组成，请在文本中编辑。", placeholderHelp: "占位锚点只标记位置，内容由引擎生成。",
  unknownAnchor: (id) => `没有注册锚点 ${id}。`, anchorHelp: "锚点标记一个位置，其他条目可以放在它之前或之后。",
  anchorKinds: { template: "模板", placeholder: "占位" }, isThere: "已存在", ownPlace: "自定义位置", ownPlaceHelp: "条目可以引用它；它本身不发送任何内容。", nameOfPlace: "位置名称",
  placement: "放置", placements: { order: "按顺序", depth: "深度", index: "索引", anchor: "锚点" },
  inOrder: "按顺序", atDepth: (points) => `深度 ${points}`, atIndex: (index) => `索引 ${index}`, beforeAnchor: (name) => `${name} 之前`, afterAnchor: (name) => `${name} 之后`,
  depth: "深度", depthHelp: "从末尾数起的消息数；可写多个：3, 10~5 表示 3、10、15、20…", noPoint: (part) => (part === "" ? "缺少一个数值" : `“${part}” 无效：应为数字，或 数字~步长`),
  index: "索引", indexHelp: "-1：在待回复的消息之前；0：在最早的消息之前", anchor: "锚点", side: "方位", before: "之前", after: "之后", inside: "之中", noneHere: "无",
  order: "次序", orderHelp: "同一位置上的先后，从小到大", modelMatch: "仅用于部分模型", modelMatchOn: "仅用于匹配的模型", patterns: "正则表达式，每行一个", exclude: "改为排除这些模型",
  triggers: "轮次类型", attachments: "附件", messages: (count) => `对话中的 ${count} 条消息`,
  fix: "修复", show: "查看", severities: { error: "错误", warning: "警告", info: "提示" },
  editorPhrases: { "Completions": "补全" },

  // 预览
  tabs: { messages: "消息", stages: "阶段", decisions: "决策", body: "请求体", findings: "问题" },
  kinds: {
    preset: "预设", history: "对话", input: "输入", summary: "摘要", worldbook: "世界书", macro: "宏", variable: "变量",
    rule: "规则", file: "文件", plugin: "插件", formatter: "格式化", separator: "分隔", overhead: "开销",
  },
  colours: "标记的类别", toggleColour: "标记或取消标记此类别", showDropped: (count) => `未发送 ${count} 条`, pinAsA: "固定为 A", nothingSent: "没有发送任何内容。",
  cached: (messages, tokens) => `下一轮开头的 ${messages} 条消息保持不变${tokens === undefined ? "" : `，共 ${tokens} token`}`, nothingCached: "下一轮没有保持不变的消息",
  noText: "没有文本", cut: "其余部分未显示。", sources: (count) => `${count} 个来源`, kind: "类别", bytes: "字节", life: "来历与原因",
  noStages: "没有阶段", counts: (before, after) => (before === after ? `${after} 条消息` : `${before} → ${after} 条消息`), noDecisions: "没有需要决定的事项。", showRows: (count) => (count === 1 ? "查看" : `查看 ${count} 条`),
  andMore: (count) => `另有 ${count} 条`, dialect: "格式", copy: "复制", copied: "已复制", notCopied: "浏览器不允许复制", characters: (count) => `${count} 个字符`,
  first: "最前", earlier: "向前", later: "向后", last: "最后", rowsOf: (from, to, all) => `${from}–${to}，共 ${all}`, goToRow: "跳到", wholeLength: "在整个列表中的位置",

  // 对比
  compareHelp: "A 保持不变。B 是当前的预览：更改任何内容，即可看到差异。", chooseA: "A 的内容", savedFile: "已保存的文件", otherAgent: "另一个智能体", otherModel: "另一个模型", otherBudget: "另一个预算",
  nothingPinned: "还没有固定任何内容。", pinnedAt: (time) => `固定于 ${time}`, pinnedNow: "已固定为 A", unpin: "取消固定", live: "当前预览", areEqual: "A 与 B 逐字节相同。",
  messagesLabel: "消息", billedAgain: "重新计费的 token", firstDifference: "第一处差异", differsAt: (message, at) => `消息 ${message}${at === undefined ? "" : `，第 ${at} 字节`}`, nothing: "无",
  shared: (messages, tokens) => `双方开头的 ${messages} 条消息相同${tokens === undefined ? "" : `，共 ${tokens} token`}`, showSame: "同时显示相同的行",
  changes: { same: "相同", changed: "更改", added: "新增", removed: "移除" },

  // 导入与开始
  importHelp: "把角色卡、预设、世界书或智能体拖到这里，或拖到任意页面。", importKinds: "在您确认之前不会写入任何文件。", chooseFiles: "选择文件…", dropHere: "松开以导入", readOnlyFolder: "此文件夹为只读。",
  reading: (done, all) => `正在读取 ${done} / ${all}…`, read: (count) => `已读取 ${count} 个文件`, files: "文件", format: "格式",
  statuses: { mapped: "对应", approximated: "近似", kept: "保留", unsupported: "不支持" },
  statusHelp: { mapped: "在这里含义相同", approximated: "与原意接近", kept: "保留在文件中，但不起作用", unsupported: "没有对应的功能" },
  status: "状态", field: "字段", fields: "字段", destination: "对应到", note: "说明", filter: "筛选", search: "搜索", writes: "将要写入的文件", folder: "文件夹",
  bytesOf: (count) => `${count} 字节`, exists: "已存在", replace: (count) => `替换已存在的 ${count} 个文件`,
  writeFiles: (count) => `写入 ${count} 个文件`, discardImport: "放弃", asPrinted: "`ctx import` 的输出", written: (count) => `已写入 ${count} 个文件`,
  startTitle: "空文件夹", startHelp: (name) => `${name} 里还没有智能体。可以这样开始：`, sample: "示例", sampleHelp: "一位园丁、一段简短的对话和一份用户档案，并附有说明。", writeSample: "写入示例",
  bring: "您自己的文件", bringHelp: "SillyTavern、AIO Hub 等应用的角色卡、预设和世界书。拖到此页面即可。",
};
