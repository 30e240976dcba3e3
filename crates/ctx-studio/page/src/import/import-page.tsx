// The contents of imported files, the folder to write them to, and changed fields.
import { useState } from "preact/hooks";
import type { ContentKind, ImportedFile } from "../api";
import { projectInfo } from "../project";
import { go } from "../route";
import { figure, t } from "../language";
import { FindingList } from "../inspector/finding-list";
import { Button } from "../ui/button";
import { Field } from "../ui/field";
import { Icon } from "../ui/icon";
import { Changes } from "./changes";
import { ImportButton } from "./import-button";
import { importWithAgent } from "./previewed";
import { chooseFolder, discard, failed, folder, report, sending, target, write } from "./state";

const ICONS: Record<ContentKind, string> = {
  character: "user",
  prompts: "list-ordered",
  greetings: "message-square",
  entries: "book-open",
  scripts: "code",
  messages: "message-square",
  profile: "user",
  template: "file-text",
  files: "file-text",
};

export function ImportPage() {
  const shown = report.value;
  const progress = sending.value;
  return (
    <section class="import-page" aria-labelledby="import-title" aria-busy={progress !== undefined}>
      <h1 id="import-title" tabIndex={-1}>
        {t().pageNames.import}
      </h1>
      {!shown && (
        <div class="drop-target">
          <Icon name="upload" />
          <p>{t().importHelp}</p>
          <p class="soft">{t().importKinds}</p>
          <ImportButton kind="main" isDisabled={projectInfo.value?.isReadOnly} />
        </div>
      )}
      {progress && <p role="status">{t().reading(progress.done, progress.all)}</p>}
      {failed.value.length > 0 && (
        <ul class="findings">
          {failed.value.map(({ name, message, help }, index) => (
            <li key={index} class="error">
              <Icon name="circle-alert" />
              <div>
                <p>
                  <b>{name}</b> {message}
                </p>
                {help && <p class="soft">{help}</p>}
              </div>
            </li>
          ))}
        </ul>
      )}
      {shown && (
        <>
          <ul class="import-files" aria-label={t().files} data-test="import-files">
            {shown.files.map((file, index) => (
              <FileLine key={`${file.name}${index}`} file={file} />
            ))}
          </ul>
          <Target count={shown.writes.length} />
          <FindingList findings={shown.files.flatMap(({ findings }) => findings)} />
          <Changes shown={shown} />
        </>
      )}
    </section>
  );
}

/** The contents of a file, in the terms of its application. */
function FileLine({ file }: { file: ImportedFile }) {
  const [first] = file.contents;
  const texts = file.contents.map((content) => t().imports.contents[content.kind](content));
  return (
    <li class={first ? "" : "unknown"}>
      <Icon name={first ? ICONS[first.kind] : "circle-alert"} />
      <div>
        <b>{file.name}</b> <span class="soft">{file.format}</span>
        <p>{texts.length > 0 ? texts.join(" · ") : <span class="soft">{t().imports.notRecognized}</span>}</p>
      </div>
    </li>
  );
}

/** The folder that the files go to, and what happens there. */
function Target({ count }: { count: number }) {
  const [isOverwriting, setOverwriting] = useState(false);
  const known = target.value;
  const existing = known?.writes.filter(({ exists }) => exists).length ?? 0;
  const problem = known?.problem;
  const help = folder.value.trim() === "" ? t().imports.inProject : t().imports.folderHelp;
  const note = known === undefined ? t().imports.checking : existing > 0 ? t().imports.folderExists(existing) : help;
  return (
    <section class="writes" aria-label={t().writes}>
      <Field
        label={t().folder}
        value={folder.value}
        onInput={chooseFolder}
        size="wide"
        isInvalid={problem !== undefined}
        help={problem ?? note}
        testId="import-folder"
      />
      {existing > 0 && (
        <label class="check">
          <input type="checkbox" checked={isOverwriting} onChange={() => setOverwriting(!isOverwriting)} />
          <span>{t().replace(existing)}</span>
        </label>
      )}
      <p class="actions">
        <Button
          kind="main"
          icon="save"
          isDisabled={count === 0 || sending.value !== undefined || !known || problem !== undefined || (existing > 0 && !isOverwriting)}
          onClick={() => void write(isOverwriting)}
          testId="import-write"
        >
          {t().writeFiles(count)}
        </Button>
        {importWithAgent.value && (
          <Button icon="eye" onClick={() => go("preview")} testId="import-preview">
            {t().imports.preview}
          </Button>
        )}
        <ImportButton label={t().imports.addFiles} />
        <Button kind="quiet" onClick={() => void discard()}>
          {t().discardImport}
        </Button>
      </p>
      {known && known.writes.length > 0 && (
        <details>
          <summary>{t().imports.toWrite(known.writes.length)}</summary>
          <ul>
            {known.writes.map(({ path, bytes, exists }) => (
              <li key={path}>
                <Icon name={exists ? "triangle-alert" : "file-text"} />
                <code>{path}</code> <span class="soft">{t().bytesOf(figure(bytes))}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
