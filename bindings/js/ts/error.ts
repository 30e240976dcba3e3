/** Where something stands in a document; lines and columns begin with 1. */
export interface Position {
  file: string;
  line: number;
  column: number;
}

/** What an error of the engine says. */
export interface ErrorDetails {
  code: string;
  message: string;
  pointer?: string;
  position?: Position;
  help?: string;
}

/**
 * Why there is no result.
 *
 * `code` is that of a finding, such as `CTX0600`, or `usage`, `budget`, `infeasible`, `cancelled`, `processor`,
 * `provider`, `absent` (the engine has not what is asked for), `load` (a file of the package cannot be loaded) or `internal` (a fault of the engine, which was started
 * anew).
 */
export class CtxError extends Error {
  override readonly name = "CtxError";
  readonly code: string;
  /** The JSON pointer of what is wrong, in the document or in the options. */
  readonly pointer: string | undefined;
  /** The document, line and column. */
  readonly position: Position | undefined;
  /** The way out. */
  readonly help: string | undefined;

  constructor(said: ErrorDetails, cause?: unknown) {
    super(said.message, cause === undefined ? undefined : { cause });
    this.code = said.code;
    this.pointer = said.pointer;
    this.position = said.position;
    this.help = said.help;
  }
}

/** The error of a call that makes no sense. */
export function usage(cause: unknown): CtxError {
  return new CtxError({ code: "usage", message: cause instanceof Error ? cause.message : String(cause) }, cause);
}
