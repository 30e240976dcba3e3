// The texts of conflicting edits in English.
const s = (count: number) => (count === 1 ? "" : "s");
const lost = (comments: number) => (comments === 0 ? "" : ` (deletes ${comments} comment${s(comments)})`);

export const conflicts = {
  title: "Conflict",
  ofWindow: (place: string) => `Another window also changed ${place}.`,
  ofProgram: (place: string) => `Another program also changed ${place}.`,
  ofGone: (path: string) => `Another program deleted ${path}.`,
  ofRefusal: (place: string) => `The server rejected your change: ${place}.`,
  isGone: "The entry is gone. Copy your text, or discard it.",
  entry: (name: string, field?: string) => (field === undefined ? `“${name}”` : `“${name}” (${field})`),
  fields: {
    content: "text",
    comment: "name",
    name: "name",
    role: "role",
    id: "id",
    key: "keys",
    keys: "keys",
    keysecondary: "secondary keys",
    groupId: "group",
    isEnabled: "enabled",
    enabled: "enabled",
    disable: "disabled",
    order: "order",
  } as Record<string, string>,
  mine: "Mine",
  theirs: "Theirs",
  file: "Theirs (file)",
  removed: "(removed)",
  missing: "(none)",
  keepMine: "Keep mine",
  takeTheirs: "Take theirs",
  discard: "Discard",
  rewriteList: (comments: number) => `Rewrite list${lost(comments)}`,
  rewritePart: (comments: number) => `Rewrite entry${lost(comments)}`,
  rewriteFile: (comments: number) => `Rewrite file${lost(comments)}`,
};
