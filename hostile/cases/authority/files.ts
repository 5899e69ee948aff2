// Every operation on files with every path trick: nothing outside the root is read, listed, tested or changed.

import { rows } from '../../rows.js'

/** `P` is the path of the attack, a file; `D` its folder. The result is printed and must not contain the secret. */
const OPERATIONS: readonly string[] = [
  'read_file(P)',
  'read_file_bytes(P)',
  'write_file(P, "x")',
  'append_file(P, "x")',
  'delete_file(P)',
  'copy_file(P, "copy.txt")\nprintln(read_file("copy.txt"))',
  'copy_file("own.txt", P)',
  'move_file(P, "moved.txt")\nprintln(read_file("moved.txt"))',
  'move_file("own.txt", P)',
  'list_dir(D)',
  'walk_dir(D)',
  'glob(D + "/*")',
  'mkdir(D + "/made")',
  'stat(P).size',
  'file_exists(P)',
  'render(P, {})',
  'read_lines(P)',
  'http_download("http://example.invalid/", P)',
]

const PATHS: Readonly<Record<string, readonly [file: string, folder: string]>> = {
  dots: ['../outside/secret.txt', '../outside'],
  'dots behind a folder': ['sub/../../outside/secret.txt', 'sub/../../outside'],
  'dots behind no folder': ['none/../../outside/secret.txt', 'none/../../outside'],
  'many slashes': ['..//outside///secret.txt', '..//outside//'],
  'a link to the folder': ['link/secret.txt', 'link'],
  'a link to the file': ['leak', 'link'],
  'a link of links': ['chain/secret.txt', 'chain'],
  'a link behind dots': ['sub/../link/secret.txt', 'sub/../link'],
}

const FILES = {
  'own.txt': 'own',
  'sub/inner.txt': 'inner',
  link: { to: '../outside' },
  leak: { to: '../outside/secret.txt' },
  chain: { to: 'link' },
} as const

export const cases = rows(
  'files-stay-in-root',
  Object.entries(PATHS).flatMap(([trick, [file, folder]]) =>
    OPERATIONS.map((operation) => ({
      name: `${operation.split('\n')[0]!} by ${trick}`,
      source: `let P = ${JSON.stringify(file)}\nlet D = ${JSON.stringify(folder)}\ntry {\n  println(${operation.replace('\n', ')\n  ')}${operation.includes('\n') ? '' : ')'}\n} catch (e) {\n  println("refused")\n}\n`,
      runtime: { grants: ['fs', 'http'], world: 'node' as const },
      allowance: { files: FILES },
      verdict: 'done' as const,
      lacks: ['secret.txt', 'true'],
    })),
  ),
)
