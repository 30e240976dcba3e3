// Draws macros a little stronger than the text around them. What a macro means is told by the engine, not here.
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

const token = Decoration.mark({ class: "macro-token" });

export const macroTokens = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = find(view);
    }
    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = find(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function find(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (const match of view.state.sliceDoc(from, to).matchAll(/\{\{[^{}\n]*\}\}/g)) {
      builder.add(from + match.index, from + match.index + match[0].length, token);
    }
  }
  return builder.finish();
}
