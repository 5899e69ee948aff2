// The files of a gateway: its configuration (JSON of desktop clients, or TOML) and the accepted tools.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import { GatewayConfigError, parseGatewayConfig } from '@bridle/stdlib-tools/gateway'
import type { AcceptedStore, AcceptedTools, GatewayConfig } from '@bridle/stdlib-tools/gateway'
import { CommandError, makeUnreadableError } from '../errors.js'

/** Throws CommandError for an invalid file, with the position in it. */
export function readGatewayConfig(path: string): GatewayConfig {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
  let data: unknown
  try {
    data = path.endsWith('.toml') ? parseToml(text) : JSON.parse(text)
  } catch (cause) {
    throw new CommandError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  try {
    return parseGatewayConfig(data, process.env)
  } catch (cause) {
    throw cause instanceof GatewayConfigError ? new CommandError(`${path}: ${cause.message}`) : cause
  }
}

const FORMAT = 3

/** A lock file as `bridle tools lock` writes it (docs/tools/lock.md). An invalid file is refused: it must not count as an empty one. */
export function fileAccepted(path: string): AcceptedStore {
  return {
    load() {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw makeUnreadableError(path, cause)
      }
      const problem = new CommandError(
        `${path} is no lock file of format ${FORMAT}: delete it to accept all tools as they are now`,
      )
      try {
        const { format, tools } = JSON.parse(text) as { readonly format?: unknown; readonly tools?: unknown }
        if (format !== FORMAT || typeof tools !== 'object' || tools === null) throw problem
        return tools as AcceptedTools
      } catch {
        throw problem
      }
    },
    save(tools) {
      const written = `${path}.${process.pid}`
      writeFileSync(written, `${JSON.stringify({ format: FORMAT, tools }, null, 2)}\n`)
      renameSync(written, path)
    },
  }
}
