// One entry of a book: its text, its keys, its place, and the rest.
import { useMemo } from "preact/hooks";
import type { ConfigField, Finding } from "../api";
import type { OpenFile } from "../files";
import { roleName, t } from "../language";
import { TextEditor } from "../editor/text-editor";
import { FindingList } from "../inspector/finding-list";
import { ConfigInput } from "../ui/config-field";
import { Field } from "../ui/field";
import { AT_DEPTH, ROLES, flag, keysAt, numberAt, OUTLET, positionOf, setOne, textAt, titleOf, type BookEntry } from "./entries";

const NONE: never[] = [];

export function EntryEditor({ file, entry, findings }: { file: OpenFile; entry: BookEntry; findings: Finding[] }) {
  const isFixed = file.isReadOnly.value;
  const { fields } = t().books;
  const set = (name: string, value: unknown) => {
    const edits = setOne(entry, name, value);
    if (edits.length > 0) file.edit(...edits);
  };
  const drawn = (all: ConfigField[]) =>
    all.map((field) => (
      <ConfigInput
        key={field.key}
        field={field}
        value={valueOf(entry, field)}
        isDisabled={isFixed}
        onChange={(next) => set(field.key, next)}
      />
    ));
  const { place, more } = useMemo(() => described(entry), [entry, fields]);
  return (
    <div class="entry-body">
      <div class="fields">
        <Field
          label={t().name}
          value={textAt(entry, "comment")}
          isDisabled={isFixed}
          onInput={(next) => set("comment", next)}
          size="wide"
          testId="book-name"
        />
        <Keys label={fields.key} value={keysAt(entry, "key")} isDisabled={isFixed} set={(keys) => set("key", keys)} />
        <Keys
          label={fields.keysecondary}
          value={keysAt(entry, "keysecondary")}
          isDisabled={isFixed}
          set={(keys) => set("keysecondary", keys)}
        />
      </div>
      <TextEditor
        text={textAt(entry, "content")}
        label={t().textOf(titleOf(entry))}
        hint={t().textHint}
        marks={NONE}
        isReadOnly={isFixed}
        testId="book-text"
        onChange={(next) => set("content", next)}
      />
      <FindingList findings={findings} file={file} />
      <div class="fields">{drawn(place)}</div>
      <details class="more">
        <summary>{t().books.more}</summary>
        <div class="fields">{drawn(more)}</div>
      </details>
    </div>
  );
}

/** One key a line: keys may hold commas. */
function Keys({
  label,
  value,
  set,
  isDisabled,
}: {
  label: string;
  value: string[];
  set: (keys: string[]) => void;
  isDisabled: boolean;
}) {
  const text = value.join("\n");
  return (
    <label class="field normal">
      <span class="label">{label}</span>
      <textarea
        rows={2}
        value={text}
        disabled={isDisabled}
        spellcheck={false}
        onChange={(event) => {
          const keys = event.currentTarget.value.split("\n").filter((line) => line.trim() !== "");
          if (keys.join("\n") !== text) set(keys);
        }}
      />
    </label>
  );
}

function valueOf(entry: BookEntry, { key, type, default: built }: ConfigField): unknown {
  if (key === "position") return positionOf(entry);
  if (type === "boolean") return key in entry.value ? flag(entry, key) : built;
  if (type === "text") return textAt(entry, key);
  const number = numberAt(entry, key);
  if (type === "select") return number ?? entry.value[key] ?? built;
  return number ?? built;
}

/** The fields of an entry, as descriptions of which forms are made. */
function described(entry: BookEntry): { place: ConfigField[]; more: ConfigField[] } {
  const { fields, fieldHelp, positions, logics } = t().books;
  const label = (key: keyof typeof fields) => ({
    key,
    label: fields[key],
    description: fieldHelp[key],
    isRequired: false,
  });
  const on = (key: keyof typeof fields, built = false): ConfigField => ({ ...label(key), type: "boolean", default: built });
  const number = (key: keyof typeof fields, built: number | undefined, maximum?: number): ConfigField => ({
    ...label(key),
    type: "number",
    default: built,
    minimum: key === "order" ? undefined : 0,
    maximum,
    isWhole: true,
  });
  const choice = (key: keyof typeof fields, labels: readonly string[]): ConfigField => ({
    ...label(key),
    type: "select",
    default: 0,
    options: labels.map((label, value) => ({ label, value })),
  });
  const text = (key: keyof typeof fields): ConfigField => ({ ...label(key), type: "text", default: "" });
  const position = positionOf(entry);
  const place = [
    on("constant"),
    choice("position", positions),
    ...(position === AT_DEPTH ? [number("depth", 4), choice("role", ROLES.map(roleName))] : []),
    ...(position === OUTLET ? [text("outletName")] : []),
    number("order", 100),
    number("probability", 100, 100),
  ];
  const more = [
    choice("selectiveLogic", logics),
    number("scanDepth", undefined),
    on("caseSensitive"),
    on("matchWholeWords"),
    on("excludeRecursion"),
    on("preventRecursion"),
    on("ignoreBudget"),
    number("sticky", 0),
    number("cooldown", 0),
    number("delay", 0),
    text("group"),
    on("groupOverride"),
    number("groupWeight", 100),
  ];
  return { place, more };
}
