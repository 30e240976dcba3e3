// The requests of a log, one line each. An open line shows the request next to the previous request.
import type { LogRequest } from "../api";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";
import { Paged } from "../ui/paged";
import { Pair } from "./pair";
import { close, opened, rows, toggle } from "./state";
import { changeText, dollars, percent, placeText } from "./wording";

const COLUMNS = 7;

export function RequestTable() {
  const texts = t().requests;
  const shown = rows.value;
  return (
    <Paged count={shown.length} label={texts.requests} wanted={shown.findIndex(({ index }) => index === opened.value)}>
      {(from, to) => (
        <table class="list request-table" aria-label={texts.requests} onKeyDown={onKeyDown} data-test="requests">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col" class="time">
                {texts.time}
              </th>
              <th scope="col" class="model">
                {texts.model}
              </th>
              <th scope="col" class="number tokens">
                {texts.inputTokens}
              </th>
              <th scope="col" class="number">
                {texts.reused}
              </th>
              <th scope="col" class="number">
                {texts.cost}
              </th>
              <th scope="col" class="cause">
                {texts.cause}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(from, to).map((request) => (
              <Row key={request.index} request={request} isOpen={opened.value === request.index} />
            ))}
          </tbody>
        </table>
      )}
    </Paged>
  );
}

function Row({ request, isOpen }: { request: LogRequest; isOpen: boolean }) {
  const texts = t().requests;
  const { index, at, model, tokens, reused, cached, cost, break: found } = request;
  const share = percent(cached ?? reused ?? 0, tokens);
  return (
    <>
      <tr class={`${found ? "missed" : ""} ${isOpen ? "open" : ""}`} data-index={index} onClick={(event) => onClick(event, request)}>
        <td>
          <button type="button" class="open-request" aria-expanded={isOpen} aria-label={texts.request(figure(index))}>
            <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
            {figure(index)}
          </button>
        </td>
        <td class="time">{at === undefined ? "" : <Time at={at} />}</td>
        <td class="model">
          <bdi>{model}</bdi>
        </td>
        <td class="number tokens">{figure(tokens)}</td>
        <td class="number reused" title={cached === undefined ? texts.forecast : texts.reported}>
          {cached === undefined ? (reused === undefined ? "?" : `~${figure(reused)}`) : figure(cached)}
          <span class="bar" aria-hidden="true">
            <span style={{ width: share }} />
          </span>
        </td>
        <td class="number">{cost === undefined ? "" : dollars(cost)}</td>
        <td class="cause">
          {found && (
            <>
              <Icon name="triangle-alert" />
              <bdi>{placeText(found.in, found.number, found.subject)}</bdi>
              {texts.colon}
              {changeText(found.change)}
            </>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="detail">
          <td colSpan={COLUMNS}>
            <Pair request={request} />
          </td>
        </tr>
      )}
    </>
  );
}

function Time({ at }: { at: number }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return null;
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString(document.documentElement.lang)}>
      {date.toLocaleTimeString("en-GB")}
    </time>
  );
}

/** The whole line opens, unless its text is being selected. */
function onClick(event: MouseEvent & { currentTarget: HTMLElement }, request: LogRequest): void {
  const isSelecting = !getSelection()?.isCollapsed && !(event.target instanceof Element && event.target.closest("button"));
  if (!isSelecting) void toggle(request);
}

function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>(".open-request")];
  const now = buttons.findIndex((button) => button === document.activeElement);
  if (event.key === "Escape" && opened.value !== undefined) {
    event.currentTarget.querySelector<HTMLElement>("tr.open .open-request")?.focus();
    close();
    return;
  }
  const places: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 };
  const next = buttons[places[event.key] ?? -1];
  if (now < 0 || !next) return;
  event.preventDefault();
  next.focus();
}
