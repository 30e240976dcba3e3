declare module "node:fs/promises" {
  export function readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
  export function mkdir(path: string, options: { recursive: true }): Promise<unknown>;
  export function writeFile(path: string, text: string): Promise<void>;
}
