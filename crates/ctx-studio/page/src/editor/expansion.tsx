// What a text becomes: the engine expands it while it is typed.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Expanded } from "../api";
import { call } from "../transport";
import { isWorking } from "../preview";
import { agentId } from "../project";
import { inputs, turn } from "../turn";
import { lang, t } from "../language";
import { Pieces } from "../ui/pieces";

const PAUSE = 120;
const LOOK = 30;

export function useExpansion(text: string): Expanded | undefined {
  const [expanded, setExpanded] = useState<Expanded | undefined>(undefined);
  const asked = useRef(0);
  const { conversation, profile } = inputs.value;
  const agent = agentId.value;
  const settings = turn.value;
  useEffect(() => {
    const mine = ++asked.current;
    const told = (answer: Expanded | undefined) => {
      if (mine === asked.current) setExpanded(answer);
    };
    const ask = () => {
      // The preview comes first: both at once would slow it down.
      if (isWorking.peek()) timer = setTimeout(ask, LOOK);
      else
        call<Expanded>("POST", "expand", { body: { text, agent, conversation, profile, turn: settings } }).then(told, () =>
          told(undefined),
        );
    };
    let timer = setTimeout(ask, expanded ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [text, agent, conversation, profile, settings, lang.value]);
  return expanded;
}

export function Expansion({ expanded }: { expanded: Expanded | undefined }) {
  if (!expanded) return null;
  const isBlank = expanded.text.trim() === "";
  return (
    <div class="expansion" role="group" aria-label={t().expansion}>
      <p class="caption">{t().expansion}</p>
      {isBlank ? (
        <p class="soft">{t().rendersNothing}</p>
      ) : (
        <Pieces
          pieces={expanded.pieces.length > 0 ? expanded.pieces : [{ text: expanded.text, source: "preset", name: "" }]}
        />
      )}
    </div>
  );
}
