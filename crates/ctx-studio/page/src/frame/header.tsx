// The file that is edited, its steps, and what concerns the whole page.
import type { ProjectFile } from "../api";
import { agents, current, currentId, filesOf, openFile, projectInfo, texts } from "../project";
import { allFindings } from "../preview";
import { address, go, route, type PageName } from "../route";
import { chooseLang, lang, t } from "../language";
import { nextTheme, theme } from "../theme";
import { inspectorTab } from "../inspector/state";
import { IconButton, Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Select } from "../ui/field";
import { saveCurrent } from "./save";

export function Header() {
  const file = current.value;
  const view = file?.server.value;
  const isDirty = file?.isDirty.value === true;
  const option = ({ id, path, isDirty: isOther }: ProjectFile) => ({
    value: id,
    label: (id === currentId.value ? isDirty : isOther) ? `${path} •` : path,
  });
  const isChoice = agents.value.length + texts.value.length > 0;
  const themeIcon = { system: "monitor", light: "sun", dark: "moon" }[theme.value];
  return (
    <header class="top">
      <a class="brand" href={address("preset")} title={t().home}>
        <Icon name="mark" />
        <b>ctx</b>
      </a>
      {projectInfo.value && (
        <a class="folder" href={address("files")} title={t().frame.openFiles(projectInfo.value.name)}>
          <Icon name="folder" />
          <span>{projectInfo.value.name}</span>
        </a>
      )}
      {isChoice && (
        <span class="file-choice">
          <Select
            label={t().file}
            isLabelHidden
            value={currentId.value ?? ""}
            testId="file"
            options={agents.value.map(option)}
            more={{ label: t().asText, options: texts.value.map(option) }}
            onChange={(id) => openFile(pageOf(id), id)}
          />
          <span
            class={`dot ${isDirty ? "on" : ""}`}
            role="img"
            aria-label={isDirty ? t().notSaved : t().isSaved}
            title={isDirty ? t().notSaved : t().isSaved}
            data-test="dirty"
          />
        </span>
      )}
      {file && route.value.page !== "talk" && (
        <span class="steps-of-file">
          <Button
            icon="save"
            kind={isDirty ? "main" : "plain"}
            isDisabled={!isDirty || file.isReadOnly.value}
            keys="Control+S"
            onClick={() => void saveCurrent()}
            testId="save"
          >
            {t().save}
          </Button>
          <IconButton
            icon="undo-2"
            label={t().undo}
            keys="Ctrl+Z"
            isDisabled={!view?.canUndo && file.pending.value.length === 0}
            onClick={() => void file.undo()}
            testId="undo"
          />
          <IconButton
            icon="redo-2"
            label={t().redo}
            keys="Ctrl+Y"
            isDisabled={!view?.canRedo}
            onClick={() => void file.redo()}
            testId="redo"
          />
          {view?.isReadOnly && <span class="badge">{t().readOnly}</span>}
        </span>
      )}
      <span class="gap" />
      {file && <FindingsButton />}
      <button
        type="button"
        class="icon-button lang"
        title={t().language}
        aria-label={t().language}
        onClick={() => chooseLang(lang.value === "en" ? "zh" : "en")}
        data-test="lang"
      >
        <span aria-hidden="true">{lang.value === "en" ? "EN" : "中"}</span>
      </button>
      <IconButton icon={themeIcon} label={t().theme(t().themes[theme.value])} onClick={nextTheme} testId="theme" />
    </header>
  );
}

/** The page that shows a file: the one that is open, if it can. */
function pageOf(id: string): PageName {
  const { page } = route.value;
  const isBook = filesOf("worldbook").some((one) => one.id === id);
  if (isBook && (page === "preset" || page === "start" || page === "files")) return "books";
  const isElsewhere = (page === "books" && !isBook) || ((page === "pipeline" || page === "agent") && !agents.value.some((one) => one.id === id));
  return page === "start" || page === "files" || isElsewhere ? "preset" : page;
}

/** How many findings there are; it opens their list. */
function FindingsButton() {
  const count = (severity: string) => allFindings.value.filter((one) => one.severity === severity).length;
  const [errors, warnings, notes] = [count("error"), count("warning"), count("info")];
  const counts = [
    ...(errors > 0 ? [t().errors(errors)] : []),
    ...(warnings > 0 ? [t().warnings(warnings)] : []),
    ...(notes > 0 ? [t().infos(notes)] : []),
  ];
  const text = t().listed(counts);
  const kind = errors > 0 ? "error" : warnings > 0 ? "warning" : "fine";
  return (
    <button
      type="button"
      class={`findings-count ${kind}`}
      data-test="findings-count"
      title={text || t().noFindings}
      onClick={() => {
        inspectorTab.value = "findings";
        if (matchMedia("(max-width: 899px)").matches) go("preview");
        requestAnimationFrame(() => document.getElementById("inspector-findings")?.focus());
      }}
    >
      <Icon name={errors > 0 ? "circle-alert" : warnings > 0 ? "triangle-alert" : notes > 0 ? "info" : "check"} />
      <span>{text || t().noFindings}</span>
    </button>
  );
}
