// Output of the orchestrator commands: blocks of lines, with `-` for missing values.

import { tell } from '../printable.js'

export function orDash(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** `- name=value` lines under a title. */
export function renderFields(title: string, fields: { readonly [name: string]: unknown }): string {
  return [title, ...Object.entries(fields).map(([name, value]) => `- ${name}=${orDash(value)}`)].join('\n')
}

/** A title and its lines; `- none` without any. */
export function renderList(title: string, lines: readonly string[]): string {
  return [title, ...(lines.length === 0 ? ['- none'] : lines.map((line) => `- ${line}`))].join('\n')
}

export function tellBlocks(...blocks: readonly string[]): void {
  tell(`${blocks.join('\n\n')}\n`)
}

export function tellPretty(value: unknown): void {
  tell(`${JSON.stringify(value, null, 2)}\n`)
}

/** `name=value` after each other. */
export function joinFields(fields: { readonly [name: string]: unknown }): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${orDash(value)}`)
    .join(' ')
}
