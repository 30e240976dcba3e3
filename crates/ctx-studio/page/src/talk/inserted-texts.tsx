// Texts that append-only requests inserted between two messages: chips that open.
import type { InsertedText } from "../api";
import { kindClass, kindName } from "../inspector/kinds";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";

export function InsertedTexts({ texts }: { texts: readonly InsertedText[] }) {
  const { sentHere, insertedOne } = t().talk;
  return (
    <li class="inserted" data-test="inserted">
      <span class="soft">{sentHere}</span>
      <div class="chips">
        {texts.map((text, at) => (
          <details key={at}>
            <summary class="chip">
              <Icon name="chevron-right" />
              <span class={`swatch ${kindClass(text.source)}`} />
              {insertedOne(kindName(text.source), text.name, figure(text.tokens))}
            </summary>
            <div class="text">{text.text}</div>
            {text.isCut && <p class="soft">{t().cut}</p>}
          </details>
        ))}
      </div>
    </li>
  );
}
