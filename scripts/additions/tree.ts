// A copy of the sources in which a test adds something as a newcomer would, and counts the changed files.

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { copySources } from '../copy-checkout.mjs'
import { builtSources, layers, root } from '../workspace.mjs'

export class SourceTree {
  readonly folder: string
  readonly #touched = new Set<string>()
  #bundle: { readonly path: string; readonly folder: string } | null = null

  /** @param wanted which files of the repository are copied */
  constructor(wanted: (path: string) => boolean) {
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), 'an addition '))
    copySources(this.folder, wanted)
    for (const path of builtSources) {
      const copy = join(this.folder, path.slice(root.length))
      if (existsSync(path) && existsSync(dirname(copy))) cpSync(path, copy)
    }
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'), 'dir')
    for (const name of layers) {
      const modules = join(root, 'packages', name, 'node_modules')
      if (!existsSync(join(this.folder, 'packages', name)) || !existsSync(modules)) continue
      symlinkSync(modules, join(this.folder, 'packages', name, 'node_modules'), 'dir')
    }
  }

  /** Paths of the edited or created files, sorted. */
  get touched(): readonly string[] {
    return [...this.#touched].toSorted()
  }

  /** Resets the list of changed files for the next addition. */
  begin(): void {
    this.#touched.clear()
  }

  /** Inserts `text` before the first `before` in a file. */
  insert(path: string, before: string, text: string): void {
    const source = this.read(path)
    const at = source.indexOf(before)
    if (at < 0) throw new Error(`${path} has no ${JSON.stringify(before)}: the template is out of date`)
    writeFileSync(join(this.folder, path), source.slice(0, at) + text + source.slice(at))
    this.#touched.add(path)
  }

  /** Creates a file that must not exist. */
  create(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text, { flag: 'wx' })
    this.#touched.add(path)
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
    if (this.#bundle !== null) rmSync(this.#bundle.folder, { recursive: true, force: true })
  }

  /** Runs Node in the tree; the output is stdout and stderr. */
  run(...args: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: this.folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    return { status, output: stdout + stderr }
  }

  /** Bundles the command line from the current sources of the tree. */
  bundle(): void {
    const module = pathToFileURL(join(this.folder, 'scripts', 'bundled-command.ts')).href
    const program = `const { bundledCommand } = await import(${JSON.stringify(module)}); console.log(JSON.stringify(await bundledCommand()))`
    const { status, output } = this.run('--import', 'tsx', '--input-type=module', '--eval', program)
    if (status !== 0) throw new Error(output)
    this.#bundle = JSON.parse(output) as { readonly path: string; readonly folder: string }
  }

  /** Runs the bundled command line. */
  bridle(...args: string[]): { status: number | null; output: string } {
    if (this.#bundle === null) throw new Error('nothing was bundled')
    return this.run(this.#bundle.path, ...args)
  }

  /** Settings by which `listTypeErrors` checks the given folders, without tests. */
  writeProject(...folders: string[]): void {
    const compilerOptions = {
      composite: false,
      incremental: false,
      emitDeclarationOnly: false,
      noEmit: true,
      rootDir: '.',
      types: ['node'],
      useDefineForClassFields: false,
    }
    const project = {
      extends: './tsconfig.base.json',
      compilerOptions,
      include: [...folders, 'types/web-globals.d.ts'],
      exclude: ['packages/*/src/**/*.test.ts', 'packages/*/src/**/test-support/**'],
    }
    writeFileSync(join(this.folder, 'tsconfig.json'), JSON.stringify(project))
  }

  /** Files with type errors, sorted. */
  listTypeErrors(): string[] {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { status, output } = this.run(tsc, '-p', 'tsconfig.json', '--pretty', 'false')
    const files = output.split('\n').flatMap((line) => /^([^\s(]+\.ts)\(/.exec(line)?.[1] ?? [])
    if (status !== 0 && files.length === 0) throw new Error(output)
    return [...new Set(files)].toSorted()
  }
}
