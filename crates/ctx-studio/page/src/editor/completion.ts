// The macros of the dialect, with their help, after `{{`.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";

export interface Macro {
  name: string;
  syntax: string;
  description: string;
  example?: string;
  aliases: string[];
}

/** The macros of the dialect, after `{{`. */
export function complete(macros: () => readonly Macro[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const opened = context.matchBefore(/\{\{[^{}:\s]*$/);
    if (!opened) return null;
    const options = macros().flatMap((macro): Completion[] =>
      [macro.name, ...macro.aliases].map((name) => ({
        label: name,
        detail: macro.syntax,
        info: () => describe(macro),
        apply: (view, _completion, from, to) => insert(view, macro, name, from, to),
      })),
    );
    return { from: opened.from + 2, options, validFor: /^[^{}:\s]*$/ };
  };
}

function describe(macro: Macro): HTMLElement {
  const dom = document.createElement("div");
  const what = document.createElement("p");
  what.textContent = macro.description;
  dom.append(what);
  if (macro.example) {
    const example = document.createElement("code");
    example.textContent = macro.example;
    dom.append(example);
  }
  return dom;
}

/** Writes the macro with its braces; the first argument is selected, if it takes any. */
function insert(view: EditorView, macro: Macro, name: string, from: number, to: number): void {
  const isClosed = view.state.sliceDoc(to, to + 2) === "}}";
  const shape = /^\{\{[^:{}\s]+((?:::?|\s)[^}]*)\}\}$/.exec(macro.syntax)?.[1] ?? "";
  const separator = /^(::?|\s+)/.exec(shape)?.[0] ?? "";
  const argument = shape.slice(separator.length);
  const text = `${name}${separator}${argument}${isClosed ? "" : "}}"}`;
  const start = from + name.length + separator.length;
  const isAsking = argument !== "";
  view.dispatch({
    changes: { from, to, insert: text },
    selection: isAsking ? { anchor: start, head: start + argument.length } : { anchor: from + name.length + 2 },
    userEvent: "input.complete",
  });
}
