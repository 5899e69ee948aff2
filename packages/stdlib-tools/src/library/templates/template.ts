// The template builtins. A native frame finds and reads the template and what it includes, one file an
// effect, and renders anew after each (template-render.ts).

import { HarnDict, HarnList, Keyed, builtin, family, frame, readTextArg } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { parse as parseToml } from 'smol-toml'
import { findRefusal, readTextField } from '../files/ask.js'
import { isAbsolutePath, normalizePath, getParentPath, makeRelativePath } from '../files/lexical-path.js'
import { MissingFile, RenderError, renderTemplate } from './render.js'
import type { Loaded, Loader, Origin, Rendering, Span } from './render.js'

/** Numbers handed out so far: templates rendered with provenance, and marks. */
const promptState = family('prompts', () => ({ rendered: 0, marked: 0 }))

type Output = 'text' | 'provenance'

/** `null` while unknown; `manifest` is null when the project has none. */
interface Project {
  readonly manifest: string | null
  readonly aliases: ReadonlyMap<string, string>
}

interface RenderState {
  [key: string]: unknown
  /** Path as the script wrote it, or null when `text` was given. */
  readonly request: string | null
  readonly text: string | null
  readonly bindings: Map<string, Value>
  readonly output: Output
  readonly sourceDirectory: string
  /** Files by absolute path. */
  readonly files: Map<string, Loaded>
  project: Project | null
  /** What the pending effect is about. */
  waiting: '' | 'find' | 'manifest' | 'file'
  waitingPath: string
}

class MissingProject extends Error {}

/** `@/…` and `@alias/…` go by the project's manifest; a lone `@name` is a file name. */
function isProjectPath(request: string): boolean {
  return request.startsWith('@') && request.includes('/')
}

/** Absolute path of a template as it was written, or the reason why there is none. */
function locate(state: RenderState, directory: string, request: string): string | { readonly error: string } {
  if (!isProjectPath(request)) return isAbsolutePath(request) ? request : `${directory}/${request}`
  const { project } = state
  if (project === null) throw new MissingProject()
  if (project.manifest === null)
    return {
      error: `package-root prompt path '${request}' has no project root: no harn.toml found above ${state.sourceDirectory}`,
    }
  const slash = request.indexOf('/')
  const alias = request.slice(1, slash)
  const rest = request.slice(slash + 1)
  if (rest === '' || rest.split('/').includes('..') || rest.startsWith('/'))
    return { error: `invalid ${alias === '' ? 'project-root ' : ''}asset path '${request}'` }
  const root = getParentPath(project.manifest)
  if (alias === '') return normalizePath(`${root}/${rest}`)
  const target = project.aliases.get(alias)
  if (target === undefined) return { error: `asset alias '${alias}' is not defined in [asset_roots] of ${project.manifest}` }
  return normalizePath(`${isAbsolutePath(target) ? target : `${root}/${target}`}/${rest}`)
}

function makeLoader(state: RenderState, rootDirectory: string): Loader {
  return {
    load(from: Origin, request: string) {
      const path = locate(state, from.directory, request)
      if (typeof path !== 'string') return path
      const relative = makeRelativePath(path, rootDirectory)
      if (!isProjectPath(request) && (relative === null || relative === '..' || relative.startsWith('../'))) {
        return { error: `include path ${normalizePath(path)} escapes template root ${rootDirectory}` }
      }
      const loaded = state.files.get(path)
      if (loaded === undefined) throw new MissingFile(path)
      return loaded
    },
  }
}

/** Renders with what is loaded. Throws MissingFile, MissingProject or RenderError. */
function attempt(ctx: Context, state: RenderState): Result {
  let text = state.text
  let origin: Origin = { path: null, directory: state.sourceDirectory }
  if (state.request !== null) {
    const path = locate(state, state.sourceDirectory, state.request)
    if (typeof path !== 'string') return ctx.throw(path.error)
    const loaded = state.files.get(path)
    if (loaded === undefined) throw new MissingFile(path)
    if ('problem' in loaded) return ctx.throw(`Failed to read template ${loaded.path}: ${loaded.problem}`)
    text = loaded.text
    origin = { path, directory: getParentPath(path) }
  }
  ctx.charge(text!.length >> 4, text!.length)
  const rendering = renderTemplate(
    text!,
    origin,
    state.bindings,
    makeLoader(state, normalizePath(origin.directory)),
    state.output === 'provenance',
  )
  ctx.charge(rendering.text.length >> 4, rendering.text.length)
  return state.output === 'text' ? rendering.text : makeProvenance(ctx, rendering, origin.path)
}

function makeProvenance(ctx: Context, rendering: Rendering, path: string | null): Value {
  const prompts = ctx.state(promptState)
  prompts.rendered++
  return HarnDict.of({
    text: rendering.text,
    template_uri: path,
    prompt_id: `prompt-${prompts.rendered}`,
    spans: new HarnList(rendering.spans.map(encodeSpan)),
  })
}

function encodeSpan(span: Span): HarnDict {
  const fields: Record<string, Value> = {
    template_line: span.line,
    template_col: span.column,
    output_start: span.start,
    output_end: span.end,
    kind: span.kind,
  }
  if (span.bound !== null) fields['bound_value'] = span.bound
  return HarnDict.of(fields)
}

/** `[asset_roots]` of a manifest; entries that are not text are left out, and so is everything of an unreadable one. */
function readAssetRoots(manifest: string): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>()
  try {
    const roots: unknown = parseToml(manifest)['asset_roots']
    if (typeof roots === 'object' && roots !== null) {
      for (const [alias, path] of Object.entries(roots)) if (typeof path === 'string') aliases.set(alias, path)
    }
  } catch {
    // A broken manifest is reported by the command line; here it defines nothing.
  }
  return aliases
}

/** Takes the pending answer in. */
function receive(ctx: Context, state: RenderState): void {
  const { waiting, waitingPath } = state
  state.waiting = ''
  const refused = findRefusal(ctx.result)
  if (waiting === 'find') {
    if (typeof ctx.result === 'string') state.waitingPath = `${ctx.result.replace(/\/$/, '')}/harn.toml`
    else state.project = { manifest: null, aliases: new Map() }
  } else if (waiting === 'manifest') {
    state.project = {
      manifest: waitingPath,
      aliases: refused === null ? readAssetRoots(readTextField(ctx.result, 'data')) : new Map(),
    }
  } else if (waiting === 'file') {
    state.files.set(
      waitingPath,
      refused === null
        ? { path: normalizePath(waitingPath), text: readTextField(ctx.result, 'data') }
        : { path: waitingPath, problem: refused.detail },
    )
  }
}

const renderFrame = frame<RenderState>({
  kind: 'template.render',
  step: (ctx, state) => {
    const finding = state.waiting === 'find'
    if (state.waiting !== '') receive(ctx, state)
    if (finding && state.project === null) {
      state.waiting = 'manifest'
      return ctx.request({ kind: 'fs.read', args: { path: state.waitingPath, encoding: 'utf8' } })
    }
    try {
      return attempt(ctx, state)
    } catch (error) {
      if (error instanceof RenderError) return ctx.throw(error.message)
      if (error instanceof MissingProject) {
        state.waiting = 'find'
        return ctx.request({ kind: 'fs.query', args: { op: 'find_up', path: state.sourceDirectory, name: 'harn.toml' } })
      }
      if (!(error instanceof MissingFile)) throw error
      state.waiting = 'file'
      state.waitingPath = error.request
      return ctx.request({ kind: 'fs.read', args: { path: error.request, encoding: 'utf8' } })
    }
  },
})

function readBindings(value: Value): Map<string, Value> {
  return new Map(value instanceof Keyed ? value.entries() : [])
}

function start(ctx: Context, request: string | null, text: string | null, bindings: Value, output: Output): Result {
  const state: RenderState = {
    request,
    text,
    bindings: readBindings(bindings),
    output,
    sourceDirectory: ctx.source.directory,
    files: new Map(),
    project: null,
    waiting: '',
    waitingPath: '',
  }
  return ctx.frame('template.render', state)
}

const READS = ['fs.read', 'fs.query']

export const templateFamily: BuiltinFamily = {
  name: 'template',
  frames: [renderFrame],
  builtins: [
    ...['render', 'render_prompt'].map((name) =>
      builtin(
        `${name}(path: string, bindings?: dict) -> string`,
        { doc: 'The rendered text of a template file; the path is relative to the source file.', effects: READS },
        (ctx, path, bindings) => start(ctx, readTextArg(ctx, 0, path), null, bindings ?? null, 'text'),
      ),
    ),
    builtin(
      'render_string(template: string, bindings?: dict) -> string',
      { doc: 'The rendered text of a template given as text.', effects: READS },
      (ctx, text, bindings) => start(ctx, null, readTextArg(ctx, 0, text), bindings ?? null, 'text'),
    ),
    builtin(
      'render_with_provenance(path: string, bindings?: dict) -> dict',
      { doc: 'The rendered text and which directive made which part of it.', effects: READS },
      (ctx, path, bindings) => start(ctx, readTextArg(ctx, 0, path), null, bindings ?? null, 'provenance'),
    ),
    builtin(
      'prompt_mark_rendered(prompt_id: string) -> int',
      { doc: 'Counts one use of a rendered prompt and gives its number.', effects: [] },
      (ctx, id) => {
        if (typeof id !== 'string') return ctx.type('prompt_mark_rendered: prompt_id must be a string')
        return ++ctx.state(promptState).marked
      },
    ),
  ],
}
