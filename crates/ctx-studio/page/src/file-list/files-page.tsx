// The files of the folder by kind, each with a menu.
import { useState } from "preact/hooks";
import type { FileKind, ProjectFile } from "../api";
import { CallError } from "../transport";
import { toast } from "../announce";
import { defaults, projectInfo } from "../project";
import { address, go } from "../route";
import { inputs } from "../turn";
import { t } from "../language";
import { Button } from "../ui/button";
import { Field } from "../ui/field";
import { Icon } from "../ui/icon";
import { Menu, type MenuItem } from "../ui/menu";
import { askName, exportFile, FORMATS, nameOf, NEW_KINDS, pageFor, question, type Format, type NewKind } from "./actions";

const GROUPS: { kind: FileKind; icon: string }[] = [
  { kind: "agent", icon: "user" },
  { kind: "preset", icon: "list-ordered" },
  { kind: "profile", icon: "user" },
  { kind: "worldbook", icon: "book-open" },
  { kind: "conversation", icon: "message-square" },
  { kind: "settings", icon: "settings-2" },
  { kind: "config", icon: "settings-2" },
  { kind: "other", icon: "file-text" },
];

const MANY = 12;

export function FilesPage() {
  const [search, setSearch] = useState("");
  const files = (projectInfo.value?.files ?? []).filter(({ isStored }) => !isStored);
  const isFixed = projectInfo.value?.isReadOnly === true;
  const wanted = search.trim().toLowerCase();
  const found = files.filter(({ path }) => path.toLowerCase().includes(wanted));
  return (
    <section class="files-page" aria-labelledby="files-title">
      <div class="files-bar">
        <h1 id="files-title">{t().pageNames.files}</h1>
        <span class="gap" />
        {files.length > MANY && (
          <Field
            label={t().fileList.search}
            isLabelHidden
            placeholder={t().fileList.search}
            value={search}
            onInput={setSearch}
            testId="search-files"
          />
        )}
        <Button icon="file-input" isDisabled={isFixed} onClick={() => go("import")}>
          {t().pageNames.import}
        </Button>
        <Menu
          label={t().fileList.create}
          icon="plus"
          class="button main"
          isDisabled={isFixed}
          items={() => NEW_KINDS.map((kind) => ({ label: t().fileList.kinds[kind], run: () => create(kind) }))}
          testId="new-file"
        >
          {t().fileList.create}
        </Menu>
      </div>
      {isFixed && <p class="bar-note">{t().readOnlyFolder}</p>}
      {found.length === 0 && <p class="empty soft">{t().fileList.noMatch}</p>}
      {GROUPS.map(({ kind, icon }) => {
        const own = found.filter((one) => one.kind === kind);
        return (
          own.length > 0 && (
            <section key={kind} aria-labelledby={`files-${kind}`}>
              <h2 id={`files-${kind}`}>
                {t().fileList.groups[kind]} <span class="badge">{own.length}</span>
              </h2>
              <ul class="file-list">
                {own.map((one) => (
                  <FileRow key={one.id} file={one} icon={icon} isFixed={isFixed} />
                ))}
              </ul>
            </section>
          )
        );
      })}
    </section>
  );
}

function create(kind: NewKind): void {
  askName({ kind, then: ({ id }) => go(kind === "agent" ? "agent" : pageFor(kind), id) });
}

function FileRow({ file, icon, isFixed }: { file: ProjectFile; icon: string; isFixed: boolean }) {
  const { id, path, kind } = file;
  const name = nameOf(path);
  const { agent, conversation, profile, worldbooks } = defaults();
  const isDefault = [agent, conversation, profile, ...worldbooks].includes(id);
  const now = inputs.value;
  const isInTurn = [now.conversation, now.profile, ...now.worldbooks].includes(id);
  return (
    <li data-path={path}>
      <Icon name={icon} />
      <span class="name">
        <a href={address(pageFor(kind), id)}>{name}</a>
        {path !== name && <small class="soft">{path.slice(0, -name.length)}</small>}
      </span>
      <span class="facts">
        {file.isDirty && (
          <span class="dot on" role="img" aria-label={t().notSaved} title={t().notSaved} />
        )}
        {isDefault && <span class="badge">{t().fileList.isDefault}</span>}
        {isInTurn && !isDefault && <span class="badge">{t().fileList.inTurn}</span>}
        {file.isReadOnly && !isFixed && <span class="badge">{t().readOnly}</span>}
        <small class="soft size">{t().fileList.size(file.bytes)}</small>
      </span>
      <Menu label={t().moreFor(name)} icon="ellipsis" items={() => commands(file, isFixed)} testId="file-menu" />
    </li>
  );
}

function commands(file: ProjectFile, isFixed: boolean): MenuItem[] {
  const texts = t().fileList;
  const ask = (kind: "rename" | "duplicate" | "delete") => () => (question.value = { kind, file });
  const isChangeable = !isFixed && file.kind !== "config";
  const exports = (FORMATS[file.kind] ?? []).map((format: Format, at) => ({
    label: texts.exports[format],
    icon: "upload",
    isFirstOfPart: at === 0,
    run: () => void exportFile(file, format).catch(told),
  }));
  return [
    { label: texts.open, icon: "eye", run: () => go(pageFor(file.kind), file.id) },
    { label: texts.renameCommand, icon: "pencil", isDisabled: !isChangeable, run: ask("rename") },
    { label: texts.duplicateCommand, icon: "copy", isDisabled: !isChangeable, run: ask("duplicate") },
    ...exports,
    {
      label: texts.deleteCommand,
      icon: "trash-2",
      isFirstOfPart: true,
      isDangerous: true,
      isDisabled: !isChangeable,
      run: ask("delete"),
    },
  ];
}

function told(error: unknown): void {
  if (!(error instanceof CallError)) throw error;
  toast(error.message || t().offline, "error", error.failure.help);
}
