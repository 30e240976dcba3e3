// What would become of files from elsewhere, before anything is written.
import { useState } from "preact/hooks";
import type { ImportView } from "../api";
import { projectInfo } from "../project";
import { figure, t } from "../language";
import { toggled } from "../inspector/state";
import { FindingList } from "../inspector/finding-list";
import { Button } from "../ui/button";
import { Field } from "../ui/field";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { ImportButton } from "./import-button";
import { discard, failed, folder, report, sending, write } from "./state";

const STATUSES = ["mapped", "approximated", "kept", "unsupported"] as const;

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
      {shown && <Report shown={shown} />}
    </section>
  );
}

function Report({ shown }: { shown: ImportView }) {
  const [isOverwriting, setOverwriting] = useState(false);
  const existing = shown.writes.filter(({ exists }) => exists).length;
  return (
    <>
      <table class="list files">
        <caption class="hidden">{t().files}</caption>
        <thead>
          <tr>
            <th scope="col">{t().file}</th>
            <th scope="col">{t().format}</th>
            {STATUSES.map((status) => (
              <th key={status} scope="col" class="number">
                {t().statuses[status]}
              </th>
            ))}
            <th scope="col" class="number">
              {t().findings}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.files.map((file, index) => (
            <tr key={`${file.name}${index}`}>
              <th scope="row">{file.name}</th>
              <td>{file.format}</td>
              {STATUSES.map((status) => (
                <td key={status} class="number">
                  {shown.fields
                    .filter((field) => field.file === file.name && field.status === status)
                    .reduce((sum, field) => sum + field.count, 0)}
                </td>
              ))}
              <td class="number">{file.findings.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <section class="writes" aria-labelledby="writes-title">
        <h2 id="writes-title">{t().writes}</h2>
        <Field
          label={t().folder}
          value={folder.value}
          onInput={(next) => (folder.value = next)}
          size="wide"
          testId="import-folder"
        />
        <ul>
          {shown.writes.map(({ path, bytes, exists }) => (
            <li key={path}>
              <Icon name="file-text" />
              <code>{path}</code> <span class="soft">{t().bytesOf(figure(bytes))}</span>
              {exists && (
                <span class="badge warning">
                  <Icon name="triangle-alert" />
                  {t().exists}
                </span>
              )}
            </li>
          ))}
        </ul>
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
            isDisabled={shown.writes.length === 0 || (existing > 0 && !isOverwriting)}
            onClick={() => void write(isOverwriting)}
            testId="import-write"
          >
            {t().writeFiles(shown.writes.length)}
          </Button>
          <ImportButton />
          <Button kind="quiet" onClick={() => void discard()}>
            {t().discardImport}
          </Button>
        </p>
      </section>
      <FindingList findings={shown.files.flatMap(({ findings }) => findings)} />
      <Fields shown={shown} />
      {shown.lines.length > 0 && (
        <details>
          <summary>{t().asPrinted}</summary>
          <pre tabIndex={0}>{shown.lines.join("\n")}</pre>
        </details>
      )}
    </>
  );
}

/** One row for each field that was read, with filters. */
function Fields({ shown }: { shown: ImportView }) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState("");
  const hasFiles = shown.files.length > 1;
  const wanted = text.trim().toLocaleLowerCase();
  const fields = shown.fields.filter(
    (field) =>
      !hidden.has(field.status) &&
      (wanted === "" ||
        `${field.file} ${field.pointer} ${field.destination ?? ""} ${field.note ?? ""}`
          .toLocaleLowerCase()
          .includes(wanted)),
  );
  return (
    <section aria-labelledby="fields-title">
      <h2 id="fields-title">{t().fields}</h2>
      <div class="filters" role="group" aria-label={t().filter}>
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            class={`filter ${status}`}
            aria-pressed={!hidden.has(status)}
            onClick={() => setHidden(toggled(hidden, status))}
            title={t().statusHelp[status]}
            data-test={`filter-${status}`}
          >
            <Icon name={hidden.has(status) ? "minus" : "check"} />
            {t().statuses[status]} <b>{figure(shown.counts[status])}</b>
          </button>
        ))}
        <Field label={t().search} isLabelHidden placeholder={t().search} value={text} onInput={setText} />
      </div>
      <Paged count={fields.length} label={t().fields}>
        {(from, to) => (
          <div class="wide" tabIndex={0} role="group" aria-labelledby="fields-title">
            <table class="list by-field">
              <thead>
                <tr>
                  <th scope="col">{t().status}</th>
                  {hasFiles && <th scope="col">{t().file}</th>}
                  <th scope="col">{t().field}</th>
                  <th scope="col">{t().destination}</th>
                  <th scope="col">{t().note}</th>
                </tr>
              </thead>
              <tbody>
                {fields.slice(from, to).map((field, index) => (
                  <tr key={from + index}>
                    <td>
                      <span class={`status ${field.status}`}>
                        {STATUSES.find((known) => known === field.status)
                          ? t().statuses[field.status as (typeof STATUSES)[number]]
                          : field.status}
                      </span>
                    </td>
                    {hasFiles && <td class="name">{field.file}</td>}
                    <td class="name">
                      <code>{field.pointer}</code>
                      {field.count > 1 && ` ×${figure(field.count)}`}
                    </td>
                    <td class="name">
                      <code>{field.destination ?? ""}</code>
                    </td>
                    <td>{field.note ?? ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
      {shown.moreFields ? <p class="soft">{t().andMore(shown.moreFields)}</p> : null}
    </section>
  );
}
