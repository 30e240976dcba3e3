// 编辑冲突的中文文本。
import type { Texts } from "../language";

const lost = (comments: number) => (comments === 0 ? "" : `（会删除 ${comments} 条注释）`);

export const conflicts: Texts["conflicts"] = {
  title: "编辑冲突",
  ofWindow: (place) => `另一个窗口也修改了${place}。`,
  ofProgram: (place) => `其他程序也修改了${place}。`,
  ofGone: (path) => `其他程序删除了 ${path}。`,
  ofMissing: (path) => `${path} 已不存在。请复制你的文本，或放弃修改。`,
  ofRefusal: (place) => `服务器拒绝了你的修改：${place}。`,
  isGone: "条目已不存在。请复制你的文本，或放弃修改。",
  entry: (name, field) => (field === undefined ? `“${name}”` : `“${name}”的${field}`),
  fields: {
    content: "文本",
    comment: "名称",
    name: "名称",
    role: "消息角色",
    id: "id",
    key: "关键词",
    keys: "关键词",
    keysecondary: "次要关键词",
    groupId: "分组",
    isEnabled: "启用状态",
    enabled: "启用状态",
    disable: "禁用状态",
    order: "顺序",
  },
  mine: "我的",
  theirs: "对方的",
  file: "对方的（文件中）",
  removed: "（已删除）",
  missing: "（无）",
  keepMine: "保留我的",
  takeTheirs: "采用对方的",
  discard: "放弃",
  rewriteList: (comments) => `重写列表${lost(comments)}`,
  rewritePart: (comments) => `重写条目${lost(comments)}`,
  rewriteFile: (comments) => `重写文件${lost(comments)}`,
};
