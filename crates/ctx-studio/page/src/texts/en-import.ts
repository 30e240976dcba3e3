// The texts of the page Import and of previews in English.
import type { ContentKind } from "../api";

const s = (count: number) => (count === 1 ? "" : "s");
const enabled = (count: number, disabled: number) => (disabled === 0 ? "" : `, ${count - disabled} enabled`);

type Content = (content: { count: number; disabled: number; name?: string }) => string;

export const imports = {
  contents: {
    character: ({ name }) => (name === undefined ? "Character" : `Character ${name}`),
    prompts: ({ count, disabled }) => `${count} prompt${s(count)}${enabled(count, disabled)}`,
    greetings: ({ count }) => `${count} greeting${s(count)}`,
    entries: ({ count, disabled }) =>
      `${count} worldbook ${count === 1 ? "entry" : "entries"}${enabled(count, disabled)}`,
    scripts: ({ count, disabled }) => `${count} regex script${s(count)}${enabled(count, disabled)}`,
    messages: ({ count, name }) => `${count} message${s(count)}${name === undefined ? "" : ` in ${name}`}`,
    profile: ({ name }) => (name === undefined ? "User profile" : `User profile ${name}`),
    template: () => "Text template",
    files: ({ count }) => `${count} file${s(count)}`,
  } as Record<ContentKind, Content>,
  notRecognized: "Not recognized",
  preview: "Preview",
  isPreview: "Preview of the import. No file is written yet.",
  back: "Back to import",
  addFiles: "Add files…",
  checking: "Checking…",
  folderHelp: "A folder in this project",
  inProject: "The files go directly into this project.",
  folderExists: (count: number) => `${count} file${s(count)} of this import already exist${count === 1 ? "s" : ""} there`,
  toWrite: (count: number) => (count === 1 ? "Show the file" : `Show the ${count} files`),
  changed: "What changed",
  nothingChanged: "Everything was imported with the same meaning.",
  changes: {
    approximated: "Works slightly differently",
    kept: "Kept in the file, without effect",
    unsupported: "Left out",
  } as Record<string, string>,
  unused: "Not used here",
  fields: (count: number) => `${count} field${s(count)}`,
  empty: (count: number) => `${count} empty field${s(count)}`,
  allFields: (count: number) => `All fields (${count})`,
};

export const inspector = {
  showDisabled: (count: number) => `Show disabled (${count})`,
  messageText: "Text of the message",
  removedBecause: (reason: string) => `B does not send it: ${reason}`,
  fromTo: (from: string, to: string) => `Message ${from} in A, ${to} in B`,
};
