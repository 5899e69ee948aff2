// Durable files of one agent session, behind std/agent_state. Each key is a file under
// `<root>/<session>`; beside it, under `.agent_state_meta`, lies who wrote it, so that two writers of one key are noticed.

import {
  HarnDict,
  HarnList,
  ask,
  builtin,
  display,
  failRuntime,
  here,
  scripts,
  sortTexts,
  tryCallBack,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { completeHandoff } from '../transcripts/handoff.js'
import { timeOrderedId, wallMs } from '../../library/time/identity.js'
import { folderNameProblem, folderOfId, isAbsolutePath, normalizePath, parentPath } from '../../library/files/lexical-path.js'
import { refusal, textField } from '../../library/files/ask.js'
import {
  deletePath,
  directoryNames,
  executionRoot,
  fileFacts,
  jsonData,
  makeDirectory,
  prettyJson,
  readJson,
  replaceFile,
} from '../../library/files/state-files.js'

const HANDOFF_KEY = '__handoff.json'
const META = '.agent_state_meta'
const POLICIES: readonly string[] = ['ignore', 'warn', 'error']

function option(options: HarnDict, name: string): string | null {
  const value = options.get(name) ?? null
  return value === null || display(value) === '' ? null : display(value)
}

function dictOf(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

function* absolute(root: string): Script<string> {
  if (isAbsolutePath(root)) return root
  return `${(yield* executionRoot()).replace(/\/$/, '')}/${root}`
}

function* currentSession(): Script<string | null> {
  const current = yield* here((ctx) => ctx.builtinValue('agent_session_current_id'))
  const id = yield* tryCallBack(current)
  return typeof id === 'string' && id !== '' ? id : null
}

/** The id of a session is a folder below the root: one that names another folder reaches what is not of the session. */
function checkSession(session: string): void {
  const problem = folderNameProblem(session)
  if (problem !== null) failRuntime(`agent_state: session_id '${session}' ${problem}`)
}

function* handleFor(root: string, session: string, options: HarnDict): Script<HarnDict> {
  checkSession(session)
  const policy = option(options, 'conflict_policy') ?? option(options, 'two_writer') ?? 'ignore'
  if (!POLICIES.includes(policy)) return failRuntime(`agent_state: unknown conflict policy '${policy}'`)
  const worker = option(options, 'worker_id')
  const stage = option(options, 'stage_id') ?? worker
  return HarnDict.of({
    _type: 'state_handle',
    backend: 'filesystem',
    root: yield* absolute(root),
    session_id: session,
    handoff_key: HANDOFF_KEY,
    conflict_policy: policy,
    writer: HarnDict.of({
      writer_id: option(options, 'writer_id') ?? worker ?? stage ?? session,
      stage_id: stage,
      session_id: session,
      worker_id: worker,
    }),
  })
}

interface Handle {
  readonly root: string
  readonly session: string
  readonly folder: string
  readonly policy: string
  readonly writer: HarnDict
}

function handleOf(value: Value | undefined, name: string): Handle {
  if (!(value instanceof HarnDict) || value.get('_type') !== 'state_handle')
    return failRuntime(`__agent_state_${name}: \`handle\` must be a state_handle dict`)
  const text = (field: string): string => {
    const found = value.get(field) ?? null
    return found === null ? failRuntime(`state_handle is missing \`${field}\``) : display(found)
  }
  const root = text('root')
  const session = text('session_id')
  checkSession(session)
  return {
    root,
    session,
    folder: normalizePath(`${root}/${folderOfId(session)}`),
    policy: text('conflict_policy'),
    writer: dictOf(value.get('writer')),
  }
}

/** A key as a plain relative path. */
function keyOf(value: Value | undefined): string {
  const key = display(value ?? null)
  if (key.trim() === '') return failRuntime('agent_state: key must be a non-empty relative path')
  if (key.includes('\0')) return failRuntime(`agent_state: key '${key}' must not have a NUL character`)
  if (isAbsolutePath(key)) return failRuntime(`agent_state: key '${key}' must be relative`)
  const parts = key.split(/[\\/]/).filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return failRuntime(`agent_state: key '${key}' must not escape the session root`)
  if (parts[0] === META) return failRuntime(`agent_state: key '${key}' uses a reserved internal path`)
  return parts.length === 0 ? failRuntime('agent_state: key must be a non-empty relative path') : parts.join('/')
}

function metaPath(handle: Handle, key: string): string {
  return `${handle.folder}/${META}/${key}.json`
}

function* write(handle: Handle, key: string, content: string): Script<null> {
  const meta = metaPath(handle, key)
  const stored = yield* readJson(meta)
  const before = stored instanceof HarnDict ? (dictOf(stored.get('writer')).get('writer_id') ?? null) : null
  const now = handle.writer.get('writer_id') ?? null
  if (handle.policy !== 'ignore' && before !== null && now !== null && display(before) !== display(now)) {
    const names = `previously written by '${display(before)}' and is now being written by '${display(now)}'`
    const message = `agent_state.write: key '${key}' was ${names}`
    if (handle.policy === 'error') return failRuntime(message)
    yield* ask({ kind: 'terminal.write', args: { text: `[harn] warning: ${message}\n` } })
  }
  yield* replaceFile(`${handle.folder}/${key}`, content, 'agent_state.write')
  const record = HarnDict.of({ writer: handle.writer, updated_at: Math.floor((yield* wallMs()) / 1000) })
  return yield* replaceFile(meta, prettyJson(record), 'agent_state.write')
}

/** Relative keys below a folder, without what belongs to us. */
function* keysBelow(folder: string, prefix: string): Script<string[]> {
  const names = yield* directoryNames(folder)
  if (!Array.isArray(names)) return []
  const keys: string[] = []
  for (const name of names as readonly string[]) {
    if (prefix === '' && name === META) continue
    const facts = yield* fileFacts(`${folder}/${name}`)
    if (facts === null) continue
    if (facts.isDir) keys.push(...(yield* keysBelow(`${folder}/${name}`, `${prefix}${name}/`)))
    else keys.push(prefix + name)
  }
  return keys
}

/** Removes folders that a deleted key left empty, up to the session's own. */
function* prune(handle: Handle, key: string): Script<null> {
  for (let folder = parentPath(key); folder !== ''; folder = parentPath(folder)) {
    const names = yield* directoryNames(`${handle.folder}/${folder}`)
    if (!Array.isArray(names) || names.length > 0) return null
    yield* deletePath(`${handle.folder}/${folder}`)
  }
  return null
}

const machine = scripts('agent_state.script', {
  *init(first, second, third) {
    const named = typeof second === 'string'
    const root = named ? second : first
    const options = named ? third : second
    if (
      typeof root !== 'string' ||
      (options !== null && options !== undefined && !(options instanceof HarnDict)) ||
      (named && typeof first !== 'string')
    ) {
      return failRuntime('__agent_state_init: expected `(root, options?)` or `(session_id, root, options?)`')
    }
    const given = dictOf(options)
    const session =
      (named ? (first as string) : option(given, 'session_id')) ?? (yield* currentSession()) ?? (yield* timeOrderedId())
    const handle = yield* handleFor(root, session, given)
    yield* makeDirectory(normalizePath(`${display(handle.get('root')!)}/${folderOfId(session)}`), 'agent_state.init')
    return handle
  },
  *resume(root, session, options) {
    const handle = yield* handleFor(display(root ?? ''), display(session ?? null), dictOf(options))
    const place = display(handle.get('root')!)
    const facts = yield* fileFacts(normalizePath(`${place}/${folderOfId(display(session ?? null))}`))
    if (facts === null || !facts.isDir)
      return failRuntime(`agent_state.resume: session '${display(session ?? null)}' not found under ${place}`)
    return handle
  },
  *write(handle, key, content) {
    return yield* write(handleOf(handle, 'write'), keyOf(key), display(content ?? null))
  },
  *read(handle, key) {
    const own = handleOf(handle, 'read')
    const path = `${own.folder}/${keyOf(key)}`
    const answer = yield* ask({ kind: 'fs.read', args: { path, encoding: 'utf8' } })
    const refused = refusal(answer)
    if (refused === null) return textField(answer, 'data')
    return refused.code === 'ENOENT' || refused.code === 'ENOTDIR'
      ? null
      : failRuntime(`agent_state.read: failed to read ${path}: ${refused.detail}`)
  },
  *list(handle) {
    return new HarnList(sortTexts(yield* keysBelow(handleOf(handle, 'list').folder, '')))
  },
  *delete(handle, key) {
    const own = handleOf(handle, 'delete')
    const path = keyOf(key)
    const existed = yield* deletePath(`${own.folder}/${path}`)
    yield* deletePath(metaPath(own, path))
    return existed ? yield* prune(own, path) : null
  },
  *handoff(handle, summary) {
    const own = handleOf(handle, 'handoff')
    const data = jsonData(summary ?? null)
    if (!(data instanceof HarnDict)) return failRuntime('__agent_state_handoff: `summary` must be a JSON object')
    const record = HarnDict.of({
      _type: 'agent_state_handoff',
      version: 1,
      session_id: own.session,
      root: own.root,
      key: HANDOFF_KEY,
      summary: data,
      handoff: yield* completeHandoff(data),
      writer: own.writer,
      written_at: Math.floor((yield* wallMs()) / 1000),
    })
    return yield* write(own, HANDOFF_KEY, prettyJson(record))
  },
})

function define(name: string, params: string, returns: string, doc: string): BuiltinDef {
  const effects = ['fs.query', 'fs.read', 'fs.write', 'process.info', 'clock.now', 'random.bytes', 'terminal.write', 'callback']
  return builtin(`__agent_state_${name}(${params}) -> ${returns}`, { doc, effects }, (ctx, ...args) =>
    machine.start(ctx, name, ...args),
  )
}

export const agentStateFamily: BuiltinFamily = {
  name: 'agent_state',
  frames: [machine.frame],
  builtins: [
    define('init', 'root: string, options?: dict, more?: dict', 'dict', 'Opens the state of a session and makes its folder.'),
    define('resume', 'root: string, session_id: string, options?: dict', 'dict', 'Opens the state of a session that exists.'),
    define('write', 'handle: dict, key: string, content: any', 'nil', 'Replaces the content of a key.'),
    define('read', 'handle: dict, key: string', 'string | nil', 'The content of a key, nil when there is none.'),
    define('list', 'handle: dict', 'list', 'All keys, sorted.'),
    define('delete', 'handle: dict, key: string', 'nil', 'Deletes a key.'),
    define('handoff', 'handle: dict, summary: dict', 'nil', 'Writes the handoff record of the session.'),
  ],
}
