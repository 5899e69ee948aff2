// Path builtins: the lexical ones (path-lexical.ts), and the two that judge a path against a workspace root.

import { builtinTaking, HarnDict, HarnList, builtin, display, frame, readTextArgument } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Effect, Result, Value } from '@bridle/vm/families'
import {
  getBaseName,
  getExtension,
  isAbsolutePath,
  joinPaths,
  normalizePath,
  getParentPath,
  parsePath,
  splitPath,
  makeRelativePath,
  showPath,
  getStem,
  toPosix,
  withBaseName,
} from './lexical-path.js'

// ------------------------------------------------------------------------------------------------- workspace paths

type Kind = 'workspace_relative' | 'host_absolute' | 'invalid'

interface WorkspaceState {
  [key: string]: unknown
  readonly input: string
  /** The input without white space around it. */
  readonly path: string
  /** nil until known; may have been given by the script. */
  root: string | null
  readonly onlyPath: boolean
  stage: 'start' | 'root' | 'resolve' | 'exists' | 'tail' | 'tail_parent'
}

function exists(path: string): Effect {
  return { kind: 'fs.query', args: { op: 'exists', path } }
}

function answer(
  state: WorkspaceState,
  kind: Kind,
  workspacePath: string | null,
  hostPath: string | null,
  reason: string | null,
  drift = false,
): Value {
  if (state.onlyPath) return workspacePath
  return HarnDict.of({
    input: state.input,
    kind,
    normalized: drift ? workspacePath : normalizePath(state.path),
    workspace_path: workspacePath,
    host_path: hostPath,
    recovered_root_drift: drift,
    reason,
  })
}

/** The part of an absolute path below the root; null outside of it. */
function cutRoot(path: string, root: string): string | null {
  const relative = makeRelativePath(path, root)
  return relative === null || relative === '..' || relative.startsWith('../') ? null : relative
}

/** The path read as if its first slash had been left out: models write `/src/x` and mean `src/x`. */
function makeTailUnder(state: WorkspaceState): string {
  return showPath({ drive: '', absolute: false, segments: parsePath(state.path).segments })
}

function joinRoot(state: WorkspaceState, relative: string): string {
  return normalizePath(`${state.root}/${relative}`)
}

/** Everything that needs the root but not yet the file system; asks whether an absolute path elsewhere exists. */
function judge(ctx: Context, state: WorkspaceState): Result {
  if (!isAbsolutePath(state.path)) {
    const path = normalizePath(state.path)
    if (path === '..' || path.startsWith('../'))
      return answer(state, 'invalid', null, joinRoot(state, path), 'workspace-relative path escapes the workspace root')
    return answer(state, 'workspace_relative', path, joinRoot(state, path), null)
  }
  const path = normalizePath(state.path)
  const relative = cutRoot(path, state.root!)
  if (relative !== null) return answer(state, 'host_absolute', relative, path, null)
  // A path with a drive cannot be one whose root was forgotten.
  if (parsePath(path).drive !== '') return answer(state, 'host_absolute', null, path, null)
  state.stage = 'exists'
  return ctx.request(exists(path))
}

const workspaceFrame = frame<WorkspaceState>({
  kind: 'path.workspace',
  step: (ctx, state) => {
    switch (state.stage) {
      case 'start':
        if (state.path === '') return answer(state, 'invalid', null, null, 'path is empty')
        if (state.path.includes('\0')) return answer(state, 'invalid', null, null, 'path contains NUL bytes')
        if (state.root === null) {
          state.stage = 'root'
          return ctx.request({ kind: 'process.info', args: { op: 'cwd' } })
        }
        if (isAbsolutePath(state.root)) return judge(ctx, state)
        state.stage = 'resolve'
        return ctx.request({ kind: 'fs.query', args: { op: 'resolve', path: state.root } })
      case 'root':
      case 'resolve':
        state.root = normalizePath(display(ctx.result))
        return judge(ctx, state)
      case 'exists':
        if (ctx.result === true) return answer(state, 'host_absolute', null, normalizePath(state.path), null)
        state.stage = 'tail'
        return ctx.request(exists(joinRoot(state, makeTailUnder(state))))
      case 'tail':
      case 'tail_parent': {
        const tail = makeTailUnder(state)
        if (ctx.result === true) return answer(state, 'workspace_relative', tail, joinRoot(state, tail), null, true)
        if (state.stage === 'tail_parent') return answer(state, 'host_absolute', null, normalizePath(state.path), null)
        state.stage = 'tail_parent'
        return ctx.request(exists(joinRoot(state, getParentPath(tail))))
      }
    }
  },
})

function resolveWorkspacePath(ctx: Context, input: string, root: Value, onlyPath: boolean): Result {
  const state: WorkspaceState = {
    input,
    path: input.trim(),
    root: root === null ? null : normalizePath(display(root)),
    onlyPath,
    stage: 'start',
  }
  return ctx.frame('path.workspace', state)
}

// --------------------------------------------------------------------------------------------------------------- family

/** A builtin of one path that is a function of its text. */
function defineLexical(signature: string, doc: string, run: (path: string) => Value): BuiltinDef {
  return builtin(signature, { doc, borrows: true }, (ctx, path) => run(readTextArgument(ctx, 0, path)))
}

const WORLD = ['process.info', 'fs.query']

export const pathFamily: BuiltinFamily = {
  name: 'path',
  frames: [workspaceFrame],
  builtins: [
    builtin(
      'path_join(...parts: string) -> string',
      { doc: 'Joins parts with `/`; an absolute part starts over.', borrows: true },
      (_ctx, ...parts) => joinPaths(parts.map((part) => display(part))),
    ),
    defineLexical('path_normalize(path: string) -> string', 'Resolves `.`, `..` and doubled slashes by text.', normalizePath),
    defineLexical('path_parent(path: string) -> string', 'All but the last segment.', getParentPath),
    defineLexical('path_basename(path: string) -> string', 'The last segment.', getBaseName),
    defineLexical('path_stem(path: string) -> string', 'The last segment without its extension.', getStem),
    defineLexical('path_extension(path: string) -> string', 'The extension with its dot, or an empty string.', getExtension),
    builtin(
      'path_with_extension(path: string, ext: string) -> string',
      { doc: 'The path with another extension; an empty one removes it.', borrows: true },
      (ctx, path, ext) => {
        const text = readTextArgument(ctx, 0, path)
        const extension = readTextArgument(ctx, 1, ext)
        return withBaseName(text, getStem(text) + (extension === '' || extension.startsWith('.') ? extension : `.${extension}`))
      },
    ),
    builtin(
      'path_with_stem(path: string, stem: string) -> string',
      { doc: 'The path with another stem; the extension stays.', borrows: true },
      (ctx, path, stem) => {
        const text = readTextArgument(ctx, 0, path)
        return withBaseName(text, readTextArgument(ctx, 1, stem) + getExtension(text))
      },
    ),
    defineLexical(
      'path_is_absolute(path: string) -> bool',
      'Whether the path begins with `/` or a drive and `/`.',
      isAbsolutePath,
    ),
    defineLexical('path_is_relative(path: string) -> bool', 'Whether the path is not absolute.', (path) => !isAbsolutePath(path)),
    defineLexical('path_to_posix(path: string) -> string', 'Backslashes become slashes.', toPosix),
    defineLexical(
      'path_to_native(path: string) -> string',
      'Backslashes become slashes, as the hosts we run on use them.',
      toPosix,
    ),
    builtin(
      'path_relative_to(path: string, base: string) -> string | nil as ?',
      { doc: 'The way from `base` to `path`; nil when there is none.', borrows: true },
      (ctx, path, base) => makeRelativePath(readTextArgument(ctx, 0, path), readTextArgument(ctx, 1, base)),
    ),
    defineLexical(
      'path_segments(path: string) -> list',
      'The segments as written, without empty ones.',
      (path) => new HarnList([...splitPath(path).segments]),
    ),
    defineLexical('path_parts(path: string) -> dict', 'Directory, file, stem, extension and segments.', (path) =>
      HarnDict.of({
        dir: getParentPath(path),
        file: getBaseName(path),
        stem: getStem(path),
        ext: getExtension(path),
        segments: new HarnList([...splitPath(path).segments]),
      }),
    ),
    builtinTaking(
      'path_workspace_info(path: string, workspace_root?: string) -> dict',
      { doc: 'How a path relates to a workspace root.', effects: WORLD },
      { text: { path: null } },
      (ctx, path, root) => resolveWorkspacePath(ctx, path, root, false),
    ),
    builtinTaking(
      'path_workspace_normalize(path: string, workspace_root?: string) -> string | nil',
      { doc: 'The path relative to the workspace root, or nil.', effects: WORLD },
      { text: { path: null } },
      (ctx, path, root) => resolveWorkspacePath(ctx, path, root, true),
    ),
  ],
}
