// Two requests side by side, from shortly before their first difference on.
import type { LogBlock, LogPair, LogRequest } from "../api";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";
import { Scrollable } from "../ui/scrollable";
import { differing, type Run } from "../words";
import { pair, pairFailure, shown } from "./state";
import { changeText, dollars, placeText } from "./wording";

export function Pair({ request }: { request: LogRequest }) {
  const texts = t().requests;
  const found = pair.value;
  if (request.before === undefined) return <p class="soft">{texts.isFirst}</p>;
  if (pairFailure.value !== undefined)
    return (
      <p class="wrong" role="alert">
        {pairFailure.value}
      </p>
    );
  if (!found) return <p role="status">{texts.comparing}</p>;
  const count = Math.max(found.before.length, found.after.length);
  const before = shown.value?.view.requests.find(({ line }) => line === request.before);
  const names = [before, request].map((one) => texts.request(one ? figure(one.index) : "?"));
  const places = Array.from({ length: count }, (_, at) => at);
  return (
    <div class="pair" data-test="pair">
      <Summary found={found} before={before} request={request} />
      <div class="pair-head">
        {names.map((name) => (
          <h3 key={name}>{name}</h3>
        ))}
      </div>
      {places.map((at) => (
        <Blocks key={at} names={names} before={found.before[at]} after={found.after[at]} />
      ))}
    </div>
  );
}

function Summary({ found, before, request }: { found: LogPair; before?: LogRequest; request: LogRequest }) {
  const texts = t().requests;
  // Some causes need the whole log, such as an expired cache.
  const change = request.break ?? found.break;
  return (
    <p class="pair-summary">
      {change ? (
        <>
          <Icon name="triangle-alert" />
          <b>
            <bdi>{placeText(change.in, change.number, change.subject)}</bdi>
            {texts.colon}
            {changeText(change.change)}
          </b>
          {change.in === "model" && <bdi>{`${before?.model ?? ""} → ${request.model}`}</bdi>}
          {change.lost > 0 && <span>{texts.readAgain(figure(change.lost), change.cost === undefined ? undefined : dollars(change.cost))}</span>}
        </>
      ) : (
        <>
          <Icon name="check" />
          <b>{texts.noMiss}</b>
        </>
      )}
      <span class="soft">{texts.shared(figure(found.shared), figure(found.blocks))}</span>
      {found.byte !== undefined && <span class="soft">{texts.byte(figure(found.byte))}</span>}
    </p>
  );
}

/** The blocks at one position. */
function Blocks({ names, before, after }: { names: string[]; before?: LogBlock; after?: LogBlock }) {
  const isShared = before?.isShared === true && after?.isShared === true;
  const [old, now] = isShared ? [undefined, undefined] : differing(before?.text ?? "", after?.text ?? "");
  return (
    <div class={`pair-row ${isShared ? "shared" : ""}`}>
      <Block name={names[0]} block={before} runs={old} kind="del" />
      <Block name={names[1]} block={after} runs={now} kind="ins" />
    </div>
  );
}

function Block({ name, block, runs, kind: Mark }: { name?: string; block?: LogBlock; runs?: Run[]; kind: "del" | "ins" }) {
  const texts = t().requests;
  if (!block) return <div class="block none soft">{t().nothing}</div>;
  const place = placeText(block.in, block.number, block.name);
  return (
    <div class="block">
      <p class="soft">
        <span class="whose">{`${name ?? ""}${texts.colon}`}</span>
        <bdi>{place}</bdi> · {texts.tokens(figure(block.tokens))}
        {block.isShared && ` · ${texts.same}`}
      </p>
      <Scrollable class="text" label={`${name}, ${place}`}>
        {runs ? runs.map((run, at) => (run.isSame ? <span key={at}>{run.text}</span> : <Mark key={at}>{run.text}</Mark>)) : block.text}
      </Scrollable>
    </div>
  );
}
