import { HarnBytes, HarnDict, display } from '@bridle/vm/families'
import type { EffectOutcome, Plain, Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'
import { fsFamily } from './fs.js'
import { compileGlob } from './glob.js'
import { pathFamily } from './path.js'
import { processFamily } from '../processes/process.js'

function makeWorld(answers: (kind: string, args: Readonly<Record<string, Plain>>) => Plain) {
  const machine = makeFakeMachine(fsFamily, pathFamily, processFamily)
  machine.perform = (effect): EffectOutcome => ({ ok: true, value: answers(effect.kind, effect.args) })
  const call = (name: string, ...args: Value[]): string => display(callBuiltin(machine, name, ...args))
  return { machine, call, fault: (name: string, ...args: Value[]) => faultText(() => call(name, ...args)) }
}

const missing = { refused: true, code: 'ENOENT', detail: 'No such file or directory (os error 2)', path: '/w/x' }

test('failures carry the absolute path and the system text', () => {
  const { call, fault } = makeWorld(() => missing)
  expect(fault('read_file', 'x')).toBe('Failed to read file /w/x: No such file or directory (os error 2)')
  expect(call('read_file_result', 'x')).toBe('Result.Err(Failed to read file /w/x: No such file or directory (os error 2))')
  expect(fault('read_lines', 'x')).toBe('read_lines: /w/x: No such file or directory (os error 2)')
  expect(fault('append_file', 'x', 'a')).toBe('Failed to open file /w/x: No such file or directory (os error 2)')
  expect(fault('list_dir')).toBe('Failed to list directory /w/x: No such file or directory (os error 2)')
  expect(fault('stat', 'x')).toBe('Failed to stat /w/x: No such file or directory (os error 2)')
  expect(fault('move_file', 'x')).toBe('move_file: src and dst are required')
  expect(fault('write_file_bytes', 'x', 'text')).toBe('write_file_bytes expects bytes content, got string')
  expect(fault('exec', 'x')).toBe('exec failed: No such file or directory (os error 2)')
  expect(fault('walk_dir')).toBe('walk_dir: root path is required')
})

test('answers become values', () => {
  const { call, machine } = makeWorld((kind, args) => {
    if (kind === 'fs.read') return { path: '/w/x', data: 'a\r\nb\n\n' }
    if (args['op'] === 'list') return { path: '/w', names: ['b', 'a'] }
    if (args['op'] === 'stat') return { path: '/w', size: 3, isFile: true, isDir: false, readonly: false, modifiedMs: 1500 }
    if (args['op'] === 'walk') {
      return {
        path: '/w',
        entries: [
          { path: '/w', isDir: true, isFile: false, depth: 0 },
          { path: '/w/b.ts', isDir: false, isFile: true, depth: 1 },
          { path: '/w/a/c.ts', isDir: false, isFile: true, depth: 2 },
        ],
      }
    }
    if (kind === 'process.exec') return { stdout: 'hi\n', stderr: '', status: 0, timedOut: false }
    return { path: '/w/x' }
  })
  expect(call('read_lines', 'x')).toBe('[a, b, ]')
  expect(call('list_dir')).toBe('[a, b]')
  expect(call('stat', 'x')).toBe('{is_dir: false, is_file: true, modified: 1.5, readonly: false, size: 3}')
  expect(call('glob', '*.ts', 'src')).toBe('[/w/a/c.ts, /w/b.ts]')
  expect(call('walk_dir', 'x', HarnDict.of({ max_depth: 1 }))).toContain('{depth: 0, is_dir: true, is_file: false, path: /w}')
  expect(call('write_file', 'x', 12)).toBe('nil')
  expect(call('exec', 'echo', 'hi')).toBe('{status: 0, stderr: , stdout: hi\n, success: true}')
  expect(machine.effects.at(-2)).toEqual({ kind: 'fs.write', args: { op: 'write', path: 'x', data: '12' } })
  callBuiltin(machine, 'write_file_bytes', 'x', new HarnBytes(new Uint8Array([1])))
  expect(machine.effects.at(-1)!.args['data']).toEqual(new Uint8Array([1]))
})

test('globs', () => {
  const matches = (pattern: string, path: string): boolean => (compileGlob(pattern) as (path: string) => boolean)(path)
  expect(matches('*.ts', 'a/b.ts')).toBe(true)
  expect(matches('**/b.ts', 'b.ts')).toBe(true)
  expect(matches('a/**/b.ts', 'a/b.ts')).toBe(true)
  expect(matches('a/**/b.ts', 'a/x/y/b.ts')).toBe(true)
  expect(matches('a/**', 'a/x/y')).toBe(true)
  expect(matches('{a,b}?.[!x]', 'b1.y')).toBe(true)
  expect(matches('{a,b}?.[!x]', 'b1.x')).toBe(false)
  expect(matches('\\*', 'x')).toBe(false)
  expect(compileGlob('[a')).toContain('unclosed character class')
})

test('lexical paths', () => {
  const { call } = makeWorld(() => null)
  const cases: readonly (readonly [string, string, string])[] = [
    ['path_normalize', '/a/./b//../c/', '/a/c'],
    ['path_normalize', '', ''],
    ['path_normalize', 'a/..', '.'],
    ['path_normalize', '/../a', '/a'],
    ['path_normalize', '../../a', '../../a'],
    ['path_normalize', 'C:\\a\\..\\b', 'C:/b'],
    ['path_parent', 'a', ''],
    ['path_parent', '/a', '/'],
    ['path_parent', '/', '/'],
    ['path_parent', 'a/b/c', 'a/b'],
    ['path_basename', '/a/b.txt', 'b.txt'],
    ['path_stem', 'x.tar.gz', 'x.tar'],
    ['path_stem', '.env', '.env'],
    ['path_extension', '.env', ''],
    ['path_extension', 'a/b.md', '.md'],
    ['path_segments', '/a//b/', '[a, b]'],
    ['path_is_absolute', 'C:/x', 'true'],
    ['path_is_relative', 'C:x', 'true'],
    ['path_to_posix', 'a\\b', 'a/b'],
    ['path_parts', '/a/b.txt', '{dir: /a, ext: .txt, file: b.txt, segments: [a, b.txt], stem: b}'],
  ]
  for (const [name, input, expected] of cases) expect([name, input, call(name, input)]).toEqual([name, input, expected])
  expect(call('path_with_extension', 'a/b.txt', 'md')).toBe('a/b.md')
  expect(call('path_with_extension', 'a/b.txt', '')).toBe('a/b')
  expect(call('path_with_stem', '/a/b.txt', 'c')).toBe('/a/c.txt')
  expect(call('path_relative_to', '/a/b/c', '/a/x')).toBe('../b/c')
  expect(call('path_relative_to', '/a', '/a')).toBe('.')
  expect(call('path_relative_to', '/a', 'a')).toBe('nil')
  expect(call('path_join', 'a', '', 'b')).toBe('a/b')
  expect(call('path_join', 'a', '/b')).toBe('/b')
  expect(call('path_join', 'a', '')).toBe('a/')
  expect(call('path_join')).toBe('')
})

test('workspace paths', () => {
  const { call } = makeWorld((kind, args) =>
    kind === 'process.info' ? '/home/me' : args['path'] === '/home/me/src' || args['path'] === '/etc',
  )
  expect(call('path_workspace_info', 'src/../a.ts')).toBe(
    '{host_path: /home/me/a.ts, input: src/../a.ts, kind: workspace_relative, normalized: a.ts, reason: nil, recovered_root_drift: false, workspace_path: a.ts}',
  )
  expect(call('path_workspace_info', '')).toContain('reason: path is empty')
  expect(call('path_workspace_info', '../x')).toContain('reason: workspace-relative path escapes the workspace root')
  expect(call('path_workspace_normalize', '/home/me')).toBe('.')
  expect(call('path_workspace_normalize', '/etc')).toBe('nil')
  expect(call('path_workspace_info', '/src/new.ts')).toContain(
    'kind: workspace_relative, normalized: src/new.ts, reason: nil, recovered_root_drift: true, workspace_path: src/new.ts',
  )
  expect(call('path_workspace_info', '/other/deep/x')).toContain('kind: host_absolute')
})

test('project paths', () => {
  const { call } = makeWorld((kind, args) =>
    kind === 'fs.query' ? '/w' : args['op'] === 'cwd' ? '/w/sub' : args['name'] === 'HARN_RUN_DIR' ? 'runs' : null,
  )
  expect(call('project_root')).toBe('/w')
  expect(call('runtime_paths')).toBe(
    '{asset_root: /src, execution_root: /w/sub, run_root: /w/runs, state_root: /w/.harn, worktree_root: /w/.harn/worktrees}',
  )
  expect(call('env_or', 'NOPE', 5)).toBe('5')
})
