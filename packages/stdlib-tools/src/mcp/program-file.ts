// Which file a program's name stands for. It is looked up once, when the program is judged, and that file is started: a search at the
// start could find another one.

import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

/**
 * The file that a program's name stands for. Relative entries of PATH are left out: they name other files in other folders, among them
 * files that the script has written.
 */
export function findProgramFile(program: string, path: string, cwd: string): string | null {
  // The system has its own rules for what a name without its ending stands for.
  if (process.platform === 'win32') return program
  if (program.includes('/')) return resolve(cwd, program)
  for (const folder of path.split(delimiter)) {
    const file = isAbsolute(folder) ? join(folder, program) : ''
    if (file !== '' && program !== '' && isExecutable(file)) return file
  }
  return null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
