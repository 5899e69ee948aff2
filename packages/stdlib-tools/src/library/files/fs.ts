// File builtins. Each issues one fs effect (records.ts); messages carry the absolute path that the
// provider resolved and the operating system's text.

import {
  Control,
  HarnBytes,
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  builtinTaking,
  describeOptions,
  display,
  err,
  isInt,
  isTruthy,
  splitLines,
  ok,
  sortTexts,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Effect, Result, Value } from '@bridle/vm/families'
import { makeAsker, readAnswerField, findRefusal, readTextField } from './ask.js'
import type { Finisher } from './ask.js'
import { compileGlob } from './glob.js'
import { normalizePath } from './lexical-path.js'
import type { EffectArgs } from '@bridle/vm/families'

/** A finisher for answers without content: nil, or `<prefix> <path>: <reason>`. */
function makeDoneFinisher(prefix: string): Finisher {
  return (ctx, answer) => {
    const refused = findRefusal(answer)
    return refused === null ? null : ctx.throw(`${prefix} ${refused.path}: ${refused.detail}`)
  }
}

/** A finisher that reads the answer when there was no refusal. */
function makeContentFinisher(prefix: string, read: (answer: Value, ctx: Context, input: readonly Value[]) => Result): Finisher {
  return (ctx, answer, input) => {
    const refused = findRefusal(answer)
    return refused === null ? read(answer, ctx, input) : ctx.throw(`${prefix} ${refused.path}: ${refused.detail}`)
  }
}

function toMilliseconds(value: Value): number {
  return value instanceof HarnFloat ? value.v : Number(value)
}

function listEntries(answer: Value): readonly Value[] {
  const entries = readAnswerField(answer, 'entries')
  return entries instanceof HarnList ? entries.view() : []
}

const UNITS_A_GLOB_CHARACTER = 40

const finishers: Readonly<Record<string, Finisher>> = {
  read: makeContentFinisher('Failed to read file', (answer) => readAnswerField(answer, 'data')),
  read_result: (_ctx, answer) => {
    const refused = findRefusal(answer)
    return refused === null ? ok(readAnswerField(answer, 'data')) : err(`Failed to read file ${refused.path}: ${refused.detail}`)
  },
  read_lines: makeContentFinisher('read_lines:', (answer) => new HarnList(splitLines(readTextField(answer, 'data')))),
  write: makeDoneFinisher('Failed to write file'),
  append: makeDoneFinisher('Failed to open file'),
  mkdir: makeDoneFinisher('Failed to create directory'),
  delete: (ctx, answer) => {
    const refused = findRefusal(answer)
    if (refused === null) return null
    return ctx.throw(
      `Failed to delete ${refused.readField('isDir') === true ? 'directory' : 'file'} ${refused.path}: ${refused.detail}`,
    )
  },
  copy: (ctx, answer) => {
    const refused = findRefusal(answer)
    return refused === null
      ? null
      : ctx.throw(`Failed to copy ${refused.path} to ${display(refused.readField('to') ?? '')}: ${refused.detail}`)
  },
  move: (ctx, answer) => {
    const refused = findRefusal(answer)
    return refused === null ? null : ctx.throw(`move_file: copy failed: ${refused.detail}`)
  },
  exists: (_ctx, answer) => answer,
  list: makeContentFinisher('Failed to list directory', (answer, ctx) => {
    const names = readAnswerField(answer, 'names')
    if (!(names instanceof HarnList)) return new HarnList([])
    ctx.charge(names.length)
    return new HarnList(sortTexts(names.view().map((name) => display(name))))
  }),
  stat: makeContentFinisher('Failed to stat', (answer) =>
    HarnDict.of({
      size: readAnswerField(answer, 'size'),
      is_file: readAnswerField(answer, 'isFile'),
      is_dir: readAnswerField(answer, 'isDir'),
      readonly: readAnswerField(answer, 'readonly'),
      modified: new HarnFloat(toMilliseconds(readAnswerField(answer, 'modifiedMs')) / 1000),
    }),
  ),
  walk: (ctx, answer) => {
    const entries = listEntries(answer)
    ctx.charge(entries.length, entries.length * 80)
    return new HarnList(
      entries.map((entry) =>
        HarnDict.of({
          path: readAnswerField(entry, 'path'),
          is_dir: readAnswerField(entry, 'isDir'),
          is_file: readAnswerField(entry, 'isFile'),
          depth: readAnswerField(entry, 'depth'),
        }),
      ),
    )
  },
  glob: (ctx, answer, [pattern]) => {
    const text = display(pattern!)
    // Compiling looks at each character many times; a match, at each character of a path with all that the pattern could be at.
    ctx.charge(UNITS_A_GLOB_CHARACTER * text.length, 64 * text.length)
    const matches = compileGlob(text)
    if (typeof matches === 'string') return ctx.throw(`glob: error parsing glob '${text}': ${matches}`)
    const root = normalizePath(readTextField(answer, 'path')).replace(/\/$/, '')
    const entries = listEntries(answer)
    const characters = entries.reduce<number>((sum, entry) => sum + readTextField(entry, 'path').length, entries.length)
    ctx.charge(characters * (1 + (text.length >> 4)))
    const found: string[] = []
    for (const entry of entries) {
      const path = readTextField(entry, 'path')
      if (readAnswerField(entry, 'depth') !== 0 && matches(path.slice(root.length + 1))) found.push(path)
    }
    return new HarnList(sortTexts(found))
  },
}

const files = makeAsker('fs.ask', finishers)

function read(path: Value, encoding: 'utf8' | 'bytes'): Effect {
  return { kind: 'fs.read', args: { path: display(path), encoding } }
}

function makeQuery(args: EffectArgs['fs.query']): Effect {
  return { kind: 'fs.query', args }
}

function change(args: EffectArgs['fs.write']): Effect {
  return { kind: 'fs.write', args }
}

function walk(ctx: Context, root: Value, options: Value): Effect | Control {
  const fields = options instanceof HarnDict ? options : new HarnDict()
  const maxDepth = fields.get('max_depth') ?? null
  if (maxDepth !== null && !isInt(maxDepth)) return ctx.throw(`walk_dir: max_depth must be an int, got ${typeName(maxDepth)}`)
  return makeQuery({
    op: 'walk',
    path: display(root),
    maxDepth: maxDepth === null || maxDepth < 0 ? null : Number(maxDepth),
    followSymlinks: isTruthy(fields.get('follow_symlinks') ?? false),
  })
}

function defineSimple(
  signature: string,
  doc: string,
  then: string,
  effect: (ctx: Context, a: Value, b: Value) => Effect | Control,
): BuiltinDef {
  const effects = [
    /^(?:read|file_exists|list|stat|walk|glob)/.test(signature)
      ? signature.startsWith('read')
        ? 'fs.read'
        : 'fs.query'
      : 'fs.write',
  ]
  const needed = effects[0] === 'fs.write' && !signature.startsWith('move') ? signature.split(',').length : 0
  return builtin(signature, { doc, effects }, (ctx, a = null, b = null) => {
    // Without all its arguments a builtin that changes files does nothing; else a path that was not passed is empty.
    if (ctx.argc < needed) return null
    const asked = effect(ctx, ctx.argc > 0 ? a : '', ctx.argc > 1 ? b : '')
    return asked instanceof Control ? asked : files.ask(ctx, asked, then)
  })
}

const LINKS = `
  follow_symlinks: bool = false -- Whether links to directories are gone into.
`
const WALK_OPTIONS = `${LINKS}  max_depth: int -- How deep to go; 0 is the directory itself.
`
const GLOB_OPTIONS = `${LINKS}  base: string = "." -- The directory to begin in.
`
const GLOB = { base_or_options: GLOB_OPTIONS, options: GLOB_OPTIONS } as const

const globBuiltin = builtinTaking(
  'glob(pattern: string, base_or_options?: string | dict, options?: dict) -> list',
  { doc: 'Sorted absolute paths below a directory whose relative path matches.', effects: ['fs.query'], shapes: GLOB },
  { text: { pattern: '{f}: {param} is required' } },
  (ctx, pattern, baseOrOptions, options) => {
    const settings = baseOrOptions instanceof HarnDict ? baseOrOptions : options instanceof HarnDict ? options : new HarnDict()
    const base = baseOrOptions === null || baseOrOptions instanceof HarnDict ? (settings.get('base') ?? '.') : baseOrOptions!
    const effect = makeQuery({
      op: 'walk',
      path: display(base),
      maxDepth: null,
      followSymlinks: isTruthy(settings.get('follow_symlinks') ?? false),
    })
    return files.ask(ctx, effect, 'glob', pattern)
  },
)

export const fsFamily: BuiltinFamily = {
  name: 'fs',
  frames: [files.frame],
  builtins: [
    defineSimple('read_file(path: string) -> string', 'The text of a UTF-8 file.', 'read', (_ctx, path) => read(path, 'utf8')),
    defineSimple(
      'read_file_result(path: string) -> Result as ?',
      '`Ok(text)` of a UTF-8 file, or `Err(message)`.',
      'read_result',
      (_ctx, path) => read(path, 'utf8'),
    ),
    defineSimple('read_file_bytes(path: string) -> bytes', 'The content of a file.', 'read', (_ctx, path) => read(path, 'bytes')),
    defineSimple(
      'read_lines(path: string) -> list',
      'The lines of a UTF-8 file without their ends.',
      'read_lines',
      (_ctx, path) => read(path, 'utf8'),
    ),
    defineSimple('write_file(path: string, content: string) -> nil', 'Replaces or creates a file.', 'write', (_ctx, path, data) =>
      change({ op: 'write', path: display(path), data: display(data) }),
    ),
    defineSimple(
      'write_file_bytes(path: string, content: bytes) -> nil',
      'Replaces or creates a file from bytes.',
      'write',
      (ctx, path, data) =>
        data instanceof HarnBytes
          ? change({ op: 'write', path: display(path), data: data.data })
          : ctx.throw(`write_file_bytes expects bytes content, got ${typeName(data)}`),
    ),
    defineSimple(
      'append_file(path: string, content: string) -> nil',
      'Adds text to a file; creates it.',
      'append',
      (_ctx, path, data) => change({ op: 'append', path: display(path), data: display(data) }),
    ),
    defineSimple('copy_file(src: string, dst: string) -> nil', 'Copies a file.', 'copy', (_ctx, from, to) =>
      change({ op: 'copy', path: display(from), to: display(to) }),
    ),
    defineSimple('move_file(src: string, dst: string) -> nil', 'Moves a file, across devices too.', 'move', (ctx, from, to) =>
      ctx.argc < 2
        ? ctx.throw('move_file: src and dst are required')
        : change({ op: 'move', path: display(from), to: display(to) }),
    ),
    // An empty path would mean the working directory with all its contents, which is never intended.
    defineSimple('delete_file(path: string) -> nil', 'Deletes a file, or a directory with its content.', 'delete', (ctx, path) =>
      path === '' ? ctx.throw('delete_file: path is required') : change({ op: 'delete', path: display(path) }),
    ),
    defineSimple('file_exists(path: string) -> bool', 'Whether there is a file or directory.', 'exists', (_ctx, path) =>
      makeQuery({ op: 'exists', path: display(path) }),
    ),
    defineSimple(
      'mkdir(path: string) -> nil',
      'Creates a directory with its parents; an existing one is fine.',
      'mkdir',
      (_ctx, path) => change({ op: 'mkdir', path: display(path) }),
    ),
    defineSimple('list_dir(path?: string) -> list', 'Sorted names of the entries of a directory.', 'list', (ctx, path) =>
      makeQuery({ op: 'list', path: display(ctx.argc === 0 || path === null ? '.' : path) }),
    ),
    defineSimple('stat(path: string) -> dict', 'Size, kind and time of a file.', 'stat', (_ctx, path) =>
      makeQuery({ op: 'stat', path: display(path) }),
    ),
    describeOptions(
      defineSimple(
        'walk_dir(path: string, options?: dict) -> list',
        'Everything below a directory, itself included.',
        'walk',
        (ctx, path, options) => (display(path) === '' ? ctx.throw('walk_dir: root path is required') : walk(ctx, path, options)),
      ),
      { options: WALK_OPTIONS },
    ),
    globBuiltin,
    builtin('temp_dir() -> string', { doc: 'The temporary directory of the system.', effects: ['process.info'] }, (ctx) =>
      ctx.perform({ kind: 'process.info', args: { op: 'temp' } }),
    ),
  ],
}
