// The repeated part of the request, and the reason for a planned break.
import { preview } from "../preview";
import { figure, t } from "../language";
import { Icon } from "../ui/icon";

export function PrefixNote() {
  const prefix = preview.value?.prefix;
  if (!prefix) return null;
  const { messages, tokens, plannedBreak } = prefix;
  return (
    <p class={`bar-note ${plannedBreak ? "warning" : ""}`} role="status" data-test="prefix-note">
      <Icon name={plannedBreak ? "triangle-alert" : "info"} />
      <span>
        {plannedBreak && <b>{t().newPrefix(plannedBreak.reason, figure(plannedBreak.tokens))} </b>}
        {messages > 0 && t().repeats(messages, figure(tokens))}
        {messages === 0 && !plannedBreak && t().repeatsNothing}
      </span>
    </p>
  );
}
