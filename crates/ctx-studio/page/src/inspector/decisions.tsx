// What was decided, by kind; a decision leads to the rows that it is about.
import type { DecisionView } from "../api";
import type { Shown } from "../preview";
import { t } from "../language";
import { kindName } from "./kinds";
import { areDisabledShown, identified, inspectorTab, openRows } from "./state";

export function Decisions({ shown }: { shown: Shown }) {
  if (shown.decisions.length === 0) return <p class="empty soft">{t().noDecisions}</p>;
  const groups = new Map<string, DecisionView[]>();
  for (const decision of shown.decisions) groups.set(decision.kind, [...(groups.get(decision.kind) ?? []), decision]);
  const show = (rows: number[]) => {
    const found = identified(shown.rows).filter(({ row }) => rows.includes(row.row));
    openRows.value = new Set(found.map(({ id }) => id));
    if (found.some(({ row }) => row.isDisabled)) areDisabledShown.value = true;
    inspectorTab.value = "messages";
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".row.open > .line")?.focus());
  };
  return (
    <div class="decisions">
      {[...groups].map(([kind, decisions]) => (
        <section key={kind}>
          <h2>
            {kind} <span class="badge">{decisions.length}</span>
          </h2>
          <ul>
            {decisions.slice(0, 200).map((decision, index) => (
              <li key={index}>
                <b title={decision.code}>{kindName(decision.name)}</b> {decision.message}
                {decision.rows.length > 0 && (
                  <button type="button" class="link" onClick={() => show(decision.rows)}>
                    {t().showRows(decision.rows.length)}
                  </button>
                )}
              </li>
            ))}
            {decisions.length > 200 && <li class="soft">{t().andMore(decisions.length - 200)}</li>}
          </ul>
        </section>
      ))}
    </div>
  );
}
