// Reading URLs, for everything that judges where a request goes. `URL.canParse` is not used anywhere (tidy refuses it): once V8 has
// optimised its caller, Node 20 answers false for hosts with Latin-1 letters, and a judgement would change while a program runs.

/** The URL as the URL standard reads it; null when it is none, which every judge takes as a refusal. */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
