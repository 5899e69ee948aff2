// Twelve servers of the npm registry in a typical user configuration. Servers of online services get an invalid key: their tools are listed, and
// not called.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface ServerPackage {
  readonly package: string
  readonly version: string
  readonly args?: (folder: string) => readonly string[]
  readonly env?: (folder: string) => { readonly [name: string]: string }
}

export interface ServerEntry {
  readonly command: string
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string }
}

const NO_KEY = 'no-key'

export const SERVERS: { readonly [name: string]: ServerPackage } = {
  filesystem: {
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    args: (folder) => [folder],
  },
  memory: {
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    env: (folder) => ({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
  },
  everything: { package: '@modelcontextprotocol/server-everything', version: '2026.8.31', args: () => ['stdio'] },
  git: { package: '@cyanheads/git-mcp-server', version: '2.15.3' },
  thinking: { package: '@modelcontextprotocol/server-sequential-thinking', version: '2026.8.31' },
  github: {
    package: '@modelcontextprotocol/server-github',
    version: '2025.4.8',
    env: () => ({ GITHUB_PERSONAL_ACCESS_TOKEN: NO_KEY }),
  },
  gitlab: {
    package: '@modelcontextprotocol/server-gitlab',
    version: '2025.4.25',
    env: () => ({ GITLAB_PERSONAL_ACCESS_TOKEN: NO_KEY }),
  },
  slack: {
    package: '@modelcontextprotocol/server-slack',
    version: '2025.4.25',
    env: () => ({ SLACK_BOT_TOKEN: NO_KEY, SLACK_TEAM_ID: NO_KEY }),
  },
  notion: { package: '@notionhq/notion-mcp-server', version: '2.5.2', env: () => ({ NOTION_TOKEN: NO_KEY }) },
  playwright: { package: '@playwright/mcp', version: '0.0.83' },
  devtools: { package: 'chrome-devtools-mcp', version: '1.11.0', args: () => ['--no-usage-statistics'] },
  fetch: { package: 'mcp-fetch-server', version: '1.1.2' },
}

/** Installs missing servers, without scripts of packages. Throws when npm fails. */
export function installServers(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const dependencies = Object.fromEntries(Object.values(SERVERS).map((each) => [each.package, each.version]))
  const manifest = `${JSON.stringify({ name: 'servers', private: true, dependencies }, null, 2)}\n`
  const file = join(folder, 'package.json')
  const isThere =
    existsSync(file) && readFileSync(file, 'utf8') === manifest && existsSync(join(folder, 'node_modules/.package-lock.json'))
  if (isThere) return
  writeFileSync(file, manifest)
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`npm install failed in ${folder}`)
}

/** As `mcpServers` of a client's configuration; `folder` is their working folder. */
export function listServers(installed: string, folder: string): { readonly [name: string]: ServerEntry } {
  return Object.fromEntries(
    Object.entries(SERVERS).map(([name, { package: id, args, env }]) => {
      const at = join(installed, 'node_modules', id)
      const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { bin: string | { [name: string]: string } }
      const program = join(at, typeof bin === 'string' ? bin : Object.values(bin)[0]!)
      const home = { HOME: folder, PATH: process.env['PATH'] ?? '' }
      return [name, { command: process.execPath, args: [program, ...(args?.(folder) ?? [])], env: { ...home, ...env?.(folder) } }]
    }),
  )
}
