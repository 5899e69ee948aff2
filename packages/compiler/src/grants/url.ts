// Parses URLs, for all code that judges the target of a request. `URL.canParse` is not used anywhere (tidy refuses it): once V8 has
// optimised its caller, Node 20 answers false for hosts with Latin-1 letters, so a judgement would change while a program runs.

/** The URL as the URL standard parses it; null for an invalid one, which every judge refuses. */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
