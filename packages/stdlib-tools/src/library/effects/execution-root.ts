// Where relative paths of a task lie. A worker may have its own directory, a worktree for example: what its tasks ask of files and
// programs is then asked under that directory, and its programs get the worker's variables. Tasks that a worker starts inherit both.

import { HarnDict, display } from '@bridle/vm/families'
import type { Context, Effect, Plain, PlainRecord, Value } from '@bridle/vm/families'

/** Field of a task: a dict `{cwd, env}`; `cwd` is absolute, or nil for the directory of the process. */
const EXECUTION = 'execution.place'

/** Arguments that are paths, by kind of effect. */
const PATHS: { readonly [kind: string]: readonly string[] } = {
  'fs.read': ['path'],
  'fs.query': ['path'],
  'fs.write': ['path', 'to'],
  'http.request': ['saveTo'],
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || path.startsWith('\\') || /^[A-Za-z]:/.test(path)
}

function under(root: string, path: Plain | undefined): Plain {
  if (typeof path !== 'string') return path ?? null
  if (isAbsolute(path)) return path
  return path === '' || path === '.' ? root : `${root.replace(/\/$/, '')}/${path}`
}

function readVariables(place: HarnDict): { readonly [name: string]: string } | null {
  const given = place.get('env') ?? null
  if (!(given instanceof HarnDict) || given.size === 0) return null
  return Object.fromEntries([...given.keys()].map((name) => [String(name), display(given.get(name) ?? null)]))
}

function placeProgram(effect: Effect, root: Value, place: HarnDict): Effect {
  const args = effect.args as PlainRecord
  const variables = readVariables(place)
  const own = args.env as { readonly [name: string]: Plain } | null
  const env = variables === null ? own : { ...variables, ...own }
  const cwd = typeof root !== 'string' ? (args.cwd ?? null) : args.cwd == null ? root : under(root, args.cwd)
  return { ...effect, args: { ...args, cwd, env } } as unknown as Effect
}

/** The effect as the running task means it. */
export function placeEffect(ctx: Context, effect: Effect): Effect {
  const place = ctx.machine.task().fields.get(EXECUTION)
  if (!(place instanceof HarnDict)) return effect
  const root = place.get('cwd') ?? null
  const { kind } = effect
  const args = effect.args as PlainRecord
  if (kind === 'process.exec') return placeProgram(effect, root, place)
  if (typeof root !== 'string') return effect
  if (kind === 'process.info' && args.op === 'cwd')
    return { kind: 'fs.query', args: { op: 'resolve', path: root } } as unknown as Effect
  const paths = PATHS[kind]
  if (paths === undefined) return effect
  const moved = paths.filter((name) => typeof args[name] === 'string').map((name) => [name, under(root, args[name])])
  return { ...effect, args: { ...args, ...Object.fromEntries(moved) } } as unknown as Effect
}
