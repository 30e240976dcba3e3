// What a summary stands for, how it was made, and what it kept, lost and made up.
import { useEffect, useState } from "preact/hooks";
import type { FactView, SummaryView } from "../api";
import { call, CallError } from "../transport";
import { t } from "../language";
import { showPlace, talk, talkPath } from "./state";

export function SummaryDetails({ id }: { id: string }) {
  const [shown, show] = useState<SummaryView | undefined>(undefined);
  const [failure, fail] = useState<string | undefined>(undefined);
  const hash = talk.value?.hash;
  useEffect(() => {
    let isGone = false;
    call<SummaryView>("GET", talkPath(`/summaries/${encodeURIComponent(id)}`)).then(
      (view) => !isGone && show(view),
      (error) => !isGone && fail(error instanceof CallError ? error.message || t().offline : String(error)),
    );
    return () => {
      isGone = true;
    };
  }, [id, hash]);
  if (failure) return <p class="wrong">{failure}</p>;
  if (!shown) return <p class="soft">{t().loading}</p>;
  const { report, kept, lost, invented, noFacts, made } = t().talk;
  return (
    <div class="summary-details" data-test="summary-details">
      <p>{shown.told}</p>
      {shown.made.length > 0 && (
        <details>
          <summary>{made}</summary>
          <table class="list">
            <tbody>
              {shown.made.map(({ key, value }) => (
                <tr key={key}>
                  <th scope="row">{key}</th>
                  <td>{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      <h2>{report}</h2>
      {shown.kinds.length === 0 ? (
        <p class="soft">{noFacts}</p>
      ) : (
        <table class="list" data-test="facts">
          <thead>
            <tr>
              <th scope="col">{t().kind}</th>
              {[kept, lost, invented].map((title) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.kinds.map((one) => (
              <tr key={one.kind}>
                <th scope="row">{t().talk.factKinds[one.kind] ?? one.kind}</th>
                <td class="number">{one.kept}</td>
                <td class="number">{one.lost}</td>
                <td class="number">{one.invented}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Facts title={lost} facts={shown.lost} summary={id} testId="lost" />
      <Facts title={invented} facts={shown.invented} testId="invented" />
    </div>
  );
}

/** Facts; a click marks the place in the message that says it. */
function Facts({
  title,
  facts,
  summary,
  testId,
}: {
  title: string;
  facts: FactView[];
  summary?: string;
  testId: string;
}) {
  if (facts.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="facts" data-test={testId}>
        {facts.map((fact, at) => (
          <li key={at}>
            <span class="badge">{t().talk.factKinds[fact.kind] ?? fact.kind}</span>{" "}
            {fact.id === undefined ? (
              fact.text
            ) : (
              <button
                type="button"
                class="link"
                title={t().talk.showPlace}
                onClick={() => fact.id !== undefined && showPlace(fact.id, fact.span, summary)}
              >
                {fact.text}
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
