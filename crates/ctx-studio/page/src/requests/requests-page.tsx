// A log of requests that other programs sent: costs, and causes of cache misses.
import { useEffect } from "preact/hooks";
import type { LogCause, LogView } from "../api";
import { figure, t } from "../language";
import { IconButton } from "../ui/button";
import { Select } from "../ui/field";
import { FileButton } from "../ui/file-button";
import { Icon } from "../ui/icon";
import { RequestTable } from "./request-table";
import { analyzing, cause, close, failure, hasMoreLogs, loadLogs, logs, onlyBreaks, openDropped, openLog, rows, shown } from "./state";
import { causeText, dollars, percent } from "./wording";

/** Maximum number of causes. */
const MOST = 12;

export function RequestsPage() {
  useEffect(() => void loadLogs(), []);
  const log = shown.value;
  const texts = t().requests;
  return (
    <section class="requests-page" aria-labelledby="requests-title" aria-busy={analyzing.value !== undefined}>
      <h1 id="requests-title">{t().pageNames.requests}</h1>
      <Choice />
      {analyzing.value !== undefined && <p role="status">{texts.analyzing(analyzing.value)}</p>}
      {failure.value !== undefined && (
        <p class="wrong" role="alert">
          {failure.value}
        </p>
      )}
      {!log && logs.value?.length === 0 && <Empty />}
      {log && <Log view={log.view} />}
    </section>
  );
}

function Choice() {
  const texts = t().requests;
  const known = logs.value ?? [];
  const log = shown.value;
  const dropped = log && !log.id ? [{ value: "dropped", label: log.name }] : [];
  return (
    <div class="log-choice">
      {known.length + dropped.length > 0 && (
        <Select
          label={texts.log}
          value={log ? (log.id ?? "dropped") : ""}
          options={[
            ...(log ? [] : [{ value: "", label: texts.choose }]),
            ...dropped,
            ...known.map(({ id, path, bytes }) => ({ value: id, label: `${path} (${texts.size(bytes)})` })),
          ]}
          size="wide"
          onChange={(id) => {
            const wanted = known.find((one) => one.id === id);
            if (wanted) void openLog(wanted);
          }}
          testId="log"
        />
      )}
      <IconButton label={texts.reload} icon="refresh-cw" testId="reload-logs" onClick={() => void reload()} />
      <FileButton icon="upload" filesTestId="log-file" onFiles={async ([file]) => file && openDropped(file)}>
        {texts.openFile}
      </FileButton>
      {hasMoreLogs.value && <p class="soft">{texts.moreLogs(known.length)}</p>}
    </div>
  );
}

async function reload(): Promise<void> {
  await loadLogs();
  const again = logs.value?.find(({ id }) => id === shown.value?.id);
  if (again && !analyzing.value) await openLog(again);
}

function Empty() {
  const texts = t().requests;
  return (
    <div class="drop-target" data-test="no-logs">
      <Icon name="activity" />
      <p>{texts.none}</p>
      <p>
        <code>ctx tap -- claude</code> {texts.tap}
      </p>
      <p>
        <code>ctx serve --record DIR</code> {texts.record}
      </p>
    </div>
  );
}

function Log({ view }: { view: LogView }) {
  const texts = t().requests;
  const { total, firstSkipped } = view;
  const figures = [
    { name: texts.requests, value: figure(total.requests) },
    { name: texts.inputTokens, value: figure(total.tokens) },
    { name: texts.reusable, value: percent(total.reused, total.tokens) },
    ...(total.cached === undefined ? [] : [{ name: texts.cached, value: percent(total.cached, total.tokens) }]),
    ...(total.cost === undefined ? [] : [{ name: texts.cost, value: dollars(total.cost) }]),
    ...(total.avoidable === undefined ? [] : [{ name: texts.avoidable, value: dollars(total.avoidable) }]),
  ];
  return (
    <>
      <dl class="figures" data-test="totals">
        {figures.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {firstSkipped && <p class="soft">{texts.skipped(view.skipped, figure(firstSkipped.line), texts.reasons[firstSkipped.reason] ?? firstSkipped.reason)}</p>}
      {total.requests > view.requests.length && <p class="soft">{texts.onlyFirst(figure(view.requests.length))}</p>}
      <Causes causes={view.causes} />
      {view.requests.length > 0 && (
        <section aria-labelledby="requests-list">
          <div class="requests-bar">
            <h2 id="requests-list">
              {texts.requests} <span class="badge">{figure(rows.value.length)}</span>
            </h2>
            {cause.value === undefined && view.causes.length > 0 && (
              <label class="check">
                <input type="checkbox" checked={onlyBreaks.value} data-test="only-misses" onChange={() => (onlyBreaks.value = !onlyBreaks.value)} />
                <span>{texts.onlyMisses}</span>
              </label>
            )}
          </div>
          <RequestTable />
        </section>
      )}
    </>
  );
}

/** Causes, the most expensive first. A selected one filters the table. */
function Causes({ causes }: { causes: LogCause[] }) {
  const texts = t().requests;
  if (causes.length === 0) return <p class="equal">{texts.noMisses}</p>;
  // Sorted by cost. Without prices, the tokens tell.
  const weight = ({ cost, lost }: LogCause) => (causes[0]?.cost === undefined ? lost : (cost ?? 0));
  const most = Math.max(...causes.slice(0, MOST).map(weight));
  return (
    <section aria-labelledby="causes-title">
      <h2 id="causes-title">{texts.causes}</h2>
      <ol class="causes" data-test="causes">
        {causes.slice(0, MOST).map((one, at) => (
          <li key={at}>
            <button
              type="button"
              aria-pressed={cause.value === at}
              onClick={() => {
                close();
                cause.value = cause.value === at ? undefined : at;
              }}
            >
              <span class="cost">{one.cost === undefined ? texts.tokens(figure(one.lost)) : dollars(one.cost)}</span>
              <span class="what">
                <bdi>{causeText(one)}</bdi>
                <small class="soft">{texts.causeFacts(one.count, figure(one.lost))}</small>
              </span>
              <span class="bar" aria-hidden="true">
                <span style={{ width: percent(weight(one), most) }} />
              </span>
            </button>
          </li>
        ))}
      </ol>
      {causes.length > MOST && <p class="soft">{t().andMore(causes.length - MOST)}</p>}
    </section>
  );
}
