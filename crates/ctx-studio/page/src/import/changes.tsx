// The fields that mean something else after an import, by the reason; and all fields on request.
import { useState } from "preact/hooks";
import type { ImportView } from "../api";
import { figure, t } from "../language";
import { toggled } from "../inspector/state";
import { Field } from "../ui/field";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { changesOf, type Reason } from "./reasons";

const STATUSES = ["mapped", "approximated", "kept", "unsupported"] as const;
/** More paths of one reason are in the table of all fields. */
const MOST = 100;

export function Changes({ shown }: { shown: ImportView }) {
  const [isOpen, setOpen] = useState(false);
  const { reasons, empty } = changesOf(shown.fields);
  const all = STATUSES.reduce((sum, status) => sum + shown.counts[status], 0);
  return (
    <section class="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">{t().imports.changed}</h2>
      {reasons.size === 0 && <p class="soft">{t().imports.nothingChanged}</p>}
      {STATUSES.filter((status) => reasons.has(status)).map((status) => (
        <section key={status} aria-label={t().imports.changes[status]} data-test={`changed-${status}`}>
          <h3>
            <span class={`status ${status}`}>{t().imports.changes[status]}</span>
          </h3>
          {reasons.get(status)?.map((reason, index) => (
            <ReasonLine key={index} reason={reason} />
          ))}
        </section>
      ))}
      {empty > 0 && <p class="soft">{t().imports.empty(empty)}</p>}
      <details onToggle={(event) => setOpen(event.currentTarget.open)} data-test="all-fields">
        <summary>{t().imports.allFields(all)}</summary>
        {isOpen && <Fields shown={shown} />}
      </details>
    </section>
  );
}

function ReasonLine({ reason: { note, fields } }: { reason: Reason }) {
  const count = fields.reduce((sum, field) => sum + field.count, 0);
  return (
    <details class="reason">
      <summary>
        {note ?? t().imports.unused} <span class="soft">{t().imports.fields(count)}</span>
      </summary>
      <ul>
        {fields.slice(0, MOST).map((field, index) => (
          <li key={index}>
            <code>{field.pointer || "/"}</code>
            {field.count > 1 && ` ×${figure(field.count)}`}
            {field.destination !== undefined && (
              <>
                {" "}
                <Icon name="arrow-right" /> <code>{field.destination || "/"}</code>
              </>
            )}
          </li>
        ))}
        {fields.length > MOST && <li class="soft">{t().andMore(fields.length - MOST)}</li>}
      </ul>
    </details>
  );
}

/** One row for each field, with filters. */
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
    <>
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
          <div class="wide" tabIndex={0} role="group" aria-label={t().fields}>
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
                        {t().statuses[field.status as (typeof STATUSES)[number]] ?? field.status}
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
    </>
  );
}
