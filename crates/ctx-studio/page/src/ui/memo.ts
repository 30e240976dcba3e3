// Skips drawing what did not change, as `preact/compat` would, without the rest of it.
import { Component, createElement, type ComponentType } from "preact";

export function memo<Props extends object>(
  drawn: ComponentType<Props>,
  isSame: (before: Props, after: Props) => boolean,
): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return !isSame(this.props as Props, next);
    }
    override render() {
      return createElement(drawn, this.props as Props);
    }
  } as unknown as ComponentType<Props>;
}
