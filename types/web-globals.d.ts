// The few platform globals that parser, compiler and vm may use: present in Node and in browsers, deterministic, without I/O.
// These packages are compiled with no other ambient types, so that `process`, `Buffer`, `console`, `fetch` or a timer is a
// type error there. (`Date` and `Math.random` belong to the language itself; scripts/tidy.ts refuses those in the vm.)

declare class TextEncoder {
  encode(text?: string): Uint8Array
  encodeInto(text: string, target: Uint8Array): { read: number; written: number }
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string
}

declare class URL {
  constructor(url: string, base?: string | URL)
  hash: string
  host: string
  hostname: string
  href: string
  readonly origin: string
  password: string
  pathname: string
  port: string
  protocol: string
  search: string
  username: string
  toString(): string
}

declare class URLSearchParams {
  constructor(init?: string | Iterable<readonly [string, string]>)
  append(name: string, value: string): void
  get(name: string): string | null
  getAll(name: string): string[]
  entries(): IterableIterator<[string, string]>
  toString(): string
}

declare function atob(text: string): string
declare function btoa(text: string): string
