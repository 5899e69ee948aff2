// THE table of preflight findings: literal references of a script to things that do not exist. Messages are the
// language's wording.

import { quoteExecutors } from '@bridle/compiler/grants'
import { report } from '@bridle/parser'
import type { CatalogRow, Diagnostic, RowArgs, Span } from '@bridle/parser'

function defineRow<A>(
  definition: Omit<CatalogRow<A>, 'severity' | 'message'> & { readonly text: (args: A) => string },
): CatalogRow<A> {
  const { text, ...rest } = definition
  return { severity: 'error', ...rest, message: (args) => `preflight: ${text(args)}` }
}

type None = Record<string, never>

const TEMPLATE_HINT =
  'template paths are relative to the script; `[check].bundle_root` or --bundle-root names a second folder, `@/…` begins at the project'
const CAPABILITY_HINT =
  'declare additional host capabilities in [check].host_capabilities, [check].host_capabilities_path, --host-capabilities, or suppress via [check].preflight_allow'
const TOOL_MENTION_HINT =
  'define the tool with tool_define(...), remove the reference, or mark an example with `harn-tool-surface: ignore-line`'

export const PREFLIGHT_CATALOG = {
  H001: defineRow<{ path: string }>({
    title: 'import that cannot be found',
    text: (a) => `unresolved import '${a.path}'`,
    hint: () => 'verify the import path and packaged module layout',
    doc: 'No file, package or library module answers to the path of an import.',
  }),
  H002: defineRow<{ builtin: string; path: string; candidates: readonly string[]; elsewhere: string }>({
    title: 'missing template',
    text: (a) => `${a.builtin} target '${a.path}' does not exist at ${a.candidates.join(' or ')}`,
    hint: (a) => `${a.elsewhere}${TEMPLATE_HINT}`,
    doc: 'A template that is named by a literal does not exist.',
  }),
  H003: defineRow<{ path: string; error: string }>({
    title: 'template that cannot be read',
    text: (a) => `template '${a.path}' ${a.error}`,
    hint: () => 'the directives are `{{ name }}`, `{{ if }}`, `{{ for }}`, `{{ include }}` and their ends',
    doc: 'A template that is named by a literal exists, and is not well formed or cannot be read.',
  }),
  H004: defineRow<{ problem: string }>({
    title: 'asset path without a meaning',
    text: (a) => a.problem,
    hint: () => '`@/…` begins at the folder of harn.toml, `@name/…` at what its [asset_roots] says',
    doc: 'A path that begins with `@` names no folder of the project.',
  }),
  H005: defineRow<{ what: string; folder: string; path: string }>({
    title: 'missing folder',
    text: (a) => `${a.what} '${a.folder}' does not exist at ${a.path}`,
    hint: () => 'the folder is relative to the script; create it before, or correct the path',
    doc: 'A program or worker is to run in a folder that does not exist.',
  }),
  H006: defineRow<None>({
    title: 'host_invoke',
    text: () => 'host_invoke(...) was removed; use host_call("capability.operation", args)',
    hint: () => 'write host_call("capability.operation", args)',
    doc: 'A builtin that no longer exists.',
  }),
  H007: defineRow<{ capability: string; operation: string; suggestion: string | null }>({
    title: 'unknown operation of the host',
    text: (a) => `unknown host capability/operation '${a.capability}.${a.operation}'`,
    hint: (a) => (a.suggestion === null ? CAPABILITY_HINT : `did you mean '${a.suggestion}'?`),
    doc: 'The host offers no operation of that name, as far as is known: hosts can offer more than the usual ones.',
  }),
  H008: defineRow<None>({
    title: 'host_call without a literal name',
    text: () => 'host_call(...) requires a literal "capability.operation" name for static validation',
    hint: () => 'write the name as a string such as "project.scan"',
    doc: 'What the script asks of the host can be known before it runs only when the name is a literal.',
  }),
  H009: defineRow<{ path: string; candidates: readonly string[] }>({
    title: 'missing template of a host call',
    text: (a) => `host template render target '${a.path}' does not exist at ${a.candidates.join(' or ')}`,
    hint: () => TEMPLATE_HINT,
    doc: 'The host is asked to render a template that does not exist.',
  }),
  H010: defineRow<{ name: string; executor: string }>({
    title: 'unknown executor',
    text: (a) => `tool '${a.name}' declares unknown executor "${a.executor}"`,
    hint: () => `expected one of: ${quoteExecutors()}`,
    doc: 'A tool is to be carried out in a way that nobody knows.',
  }),
  H011: defineRow<{ name: string }>({
    title: 'host bridge without a capability',
    text: (a) => `tool '${a.name}' declares executor: "host_bridge" but no \`host_capability\` binding`,
    hint: () => 'set `host_capability` to the operation that carries the tool out, such as "interaction.ask"',
    doc: 'A tool of the host does not say which operation of the host carries it out.',
  }),
  H012: defineRow<{ name: string; capability: string }>({
    title: 'capability without an operation',
    text: (a) => `tool '${a.name}' has invalid host_capability "${a.capability}" (expected "capability.operation")`,
    hint: () => 'write it as "capability.operation"',
    doc: 'A capability of the host is written as its name, a dot and an operation.',
  }),
  H013: defineRow<{ name: string; capability: string; operation: string }>({
    title: 'tool bound to an unknown operation',
    text: (a) => `tool '${a.name}' binds host_capability '${a.capability}.${a.operation}' which is not declared by the host`,
    hint: () => CAPABILITY_HINT,
    doc: 'The host offers no operation of that name, as far as is known.',
  }),
  H014: defineRow<{ name: string; first: string; second: string; wildcard: boolean }>({
    title: 'name from two imports',
    text: (a) => `import collision — '${a.name}' is exported by both '${a.first}' and '${a.second}'`,
    hint: (a) =>
      a.wildcard
        ? `use selective imports to disambiguate: import { ${a.name} } from "..."`
        : 'rename one of the imported modules or avoid importing conflicting names',
    doc: 'Two imports bring the same name, which fails when the script is run.',
  }),
  H015: defineRow<{ name: string; sources: readonly string[] }>({
    title: 'name exported twice',
    text: (a) =>
      `re-export conflict — '${a.name}' is re-exported (or locally defined) by multiple sources: ${a.sources.join(', ')}`,
    hint: () => 'export the name from one place only',
    doc: 'A name is exported by two `pub import`s, or by one and the module itself.',
  }),
  H016: defineRow<{ path: string; tool: string }>({
    title: 'prompt that mentions an unknown tool',
    text: (a) =>
      `TOOL_SURFACE_UNKNOWN_PROMPT_TOOL: prompt asset '${a.path}' references tool '${a.tool}' which is not declared in this module's literal tool surface`,
    hint: () => TOOL_MENTION_HINT,
    doc: 'A prompt speaks of a tool that the module, which defines tools, does not define.',
  }),
  H017: defineRow<{ path: string; tool: string }>({
    title: 'prompt that mentions a deferred tool',
    text: (a) =>
      `TOOL_SURFACE_DEFERRED_TOOL_PROMPT_REFERENCE: prompt asset '${a.path}' references deferred tool '${a.tool}' but no literal tool_search option is active`,
    hint: () => 'switch `tool_search` on, or define the tool without `defer_loading`',
    doc: 'A prompt speaks of a tool whose schema the model sees only when it searches for tools, and it cannot.',
  }),
  // Refusals of manifests have their own wording.
  H018: {
    ...defineRow<{ problem: string }>({
      title: 'trigger that cannot be used',
      text: (a) => a.problem,
      doc: 'A table of the manifest declares a trigger, a provider or the orchestrator in a way that cannot be carried out.',
    }),
    message: (a: { problem: string }) => a.problem,
  },
  H019: {
    ...defineRow<{ problem: string }>({
      title: 'trigger that is written in an old way',
      text: (a) => a.problem,
      doc: 'A table of the manifest declares a trigger by a key that has a successor.',
    }),
    severity: 'warning' as const,
    message: (a: { problem: string }) => a.problem,
  },
}

export type PreflightCode = keyof typeof PREFLIGHT_CATALOG
export type PreflightArgs<C extends PreflightCode> = RowArgs<(typeof PREFLIGHT_CATALOG)[C]>

export function makePreflightDiagnostic<C extends PreflightCode>(
  code: C,
  span: Span,
  args: PreflightArgs<C>,
  severity: 'error' | 'warning',
  fix: Diagnostic['fix'] = null,
): Diagnostic {
  return report(PREFLIGHT_CATALOG, code, span, args, fix === null ? { severity } : { severity, fix })
}
