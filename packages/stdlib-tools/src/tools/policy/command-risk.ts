// Risk labels for commands and their output, found by fixed patterns. A label is a hint for policies and people,
// not a boundary: a command can do harm without looking like it.

import { HarnDict, HarnFloat, HarnList, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { matchesGlob } from './tool-policy.js'
import { isAbsolutePath, normalizePath } from '../../library/files/lexical-path.js'

interface RiskRow {
  readonly label: string
  readonly rationale: string
  readonly matches: (command: string) => boolean
}

// The patterns are those of the reference, to the letter: scripts print the labels, and policies are written against them.
// Texts are compared in lower case.

const SECRETS = ['.env', 'token', 'secret', 'credentials', 'id_rsa', 'id_ed25519', 'api_key', 'apikey', '.netrc', '.npmrc']
const READERS = ['cat ', 'less ', 'head ', 'tail ', 'grep ']
const DESTRUCTIVE = ['rm -rf /', 'rm -fr /', 'mkfs', 'dd if=', 'chmod -r 777 /', 'chown -r ', ':(){']
const WRITES = [' >', '>>', 'truncate ', 'sed -i', 'perl -pi']
const INSTALLS = ['npm', 'pip', 'brew', 'cargo', 'apt', 'apt-get'].map((manager) => `${manager} install`)
const PACKAGES = [...INSTALLS, 'yarn add', 'pnpm add']

const hasAny = (text: string, pieces: readonly string[]): boolean => pieces.some((piece) => text.includes(piece))

/** A program at the start or after a space, with a space behind it. */
const hasWord = (text: string, words: readonly string[]): boolean =>
  words.some((word) => text.startsWith(`${word} `) || text.includes(` ${word} `))

/** In the order in which their rationales are joined. */
const RISKS: readonly RiskRow[] = [
  {
    label: 'destructive',
    rationale: 'destructive shell token or command detected',
    matches: (command) => hasAny(command, DESTRUCTIVE),
  },
  {
    label: 'write_intent',
    rationale: 'output redirection or write-intent command detected',
    matches: (command) => hasAny(command, WRITES) || hasWord(command, ['tee']),
  },
  {
    label: 'curl_pipe_shell',
    rationale: 'download piped into shell detected',
    matches: (command) =>
      hasAny(command, ['curl ', 'wget ']) && command.includes('|') && hasAny(command, [' sh', ' bash', ' zsh']),
  },
  {
    label: 'credential_file_read',
    rationale: 'credential-like file read detected',
    matches: (command) => hasAny(command, READERS) && hasAny(command, SECRETS),
  },
  {
    label: 'network_exfil',
    rationale: 'network transfer primitive detected',
    matches: (command) => hasWord(command, ['curl', 'wget', 'scp', 'rsync', 'nc', 'ncat']),
  },
  {
    label: 'sudo',
    rationale: 'privilege escalation via sudo detected',
    matches: (command) => command.startsWith('sudo') || command.includes('sudo '),
  },
  {
    label: 'package_install',
    rationale: 'package installation command detected',
    matches: (command) => hasAny(command, PACKAGES),
  },
  {
    label: 'git_force_push',
    rationale: 'git force-push detected',
    matches: (command) => command.includes('git push') && command.includes('-f'),
  },
  {
    label: 'process_kill',
    rationale: 'process kill command detected',
    matches: (command) => hasWord(command, ['kill', 'killall', 'pkill']),
  },
]

const DENYING: ReadonlySet<string> = new Set(['destructive', 'curl_pipe_shell', 'credential_file_read', 'network_exfil'])

export interface RiskScan {
  readonly labels: readonly string[]
  readonly action: string
  readonly rationale: string
  readonly confidence: number
}

export interface ScannedCommand {
  readonly text: string
  /** The words that may be paths: the arguments, or the words of a shell line. */
  readonly words: readonly string[]
  readonly cwd: string | null
  readonly roots: readonly string[]
  readonly denyPatterns: readonly string[]
}

/** One star as prefix or suffix, several pieces found in order, or without a star a piece of the text. */
export function matchesCommand(pattern: string, command: string): boolean {
  if (!pattern.includes('*')) return command.includes(pattern)
  if (matchesGlob(pattern, command)) return true
  let from = 0
  for (const piece of pattern.split('*')) {
    if (piece === '') continue
    const at = command.indexOf(piece, from)
    if (at < 0) return false
    from = at + piece.length
  }
  return true
}

/** A relative word is no path to this scan; a relative folder to work in is one that no root is known to hold. */
function isOutside(path: string, roots: readonly string[]): boolean {
  const normal = normalizePath(path)
  return !roots.some((root) => normal === root || normal.startsWith(root.endsWith('/') ? root : `${root}/`))
}

export function scanRisk(command: ScannedCommand): RiskScan {
  const lower = command.text.toLowerCase()
  const found = RISKS.filter((row) => row.matches(lower)).map(({ label, rationale }) => ({ label, rationale }))
  if (
    command.roots.length > 0 &&
    ((command.cwd !== null && isOutside(command.cwd, command.roots)) ||
      command.words.some((each) => isAbsolutePath(each) && isOutside(each, command.roots)))
  ) {
    found.push({ label: 'outside_workspace', rationale: 'cwd or absolute path is outside workspace roots' })
  }
  if (command.denyPatterns.some((pattern) => matchesCommand(pattern, command.text))) {
    found.push({ label: 'deny_pattern', rationale: 'command matched a configured deny pattern' })
  }
  const labels = found.map(({ label }) => label).sort()
  const denied = labels.some((label) => DENYING.has(label))
  return {
    labels,
    action: denied ? 'deny' : labels.length > 0 ? 'require_approval' : 'allow',
    rationale: found.length === 0 ? 'no high-risk command patterns detected' : found.map(({ rationale }) => rationale).join('; '),
    confidence: found.length === 0 ? 0.45 : 0.86,
  }
}

export function scanDict(scan: RiskScan): HarnDict {
  return HarnDict.of({
    action: scan.action,
    recommended_action: scan.action,
    risk_labels: new HarnList([...scan.labels]),
    confidence: new HarnFloat(scan.confidence),
    rationale: scan.rationale,
  })
}

/** What the output of a command gives away. */
export function scanOutput(output: string): HarnDict {
  const labels: string[] = []
  const text = output.toLowerCase()
  if (hasAny(text, SECRETS)) labels.push('credential_output')
  if (hasAny(text, ['error:', 'fatal:'])) labels.push('error_output')
  if (text.includes('permission denied') || text.includes('operation not permitted')) labels.push('permission_boundary_hit')
  const unsafe = labels.includes('credential_output')
  return scanDict({
    labels,
    action: unsafe ? 'mark_unsafe' : 'allow',
    rationale: unsafe
      ? 'command output appears to contain credential-like material'
      : 'no high-risk command output patterns detected',
    confidence: unsafe ? 0.82 : 0.35,
  })
}

/** The command of a request dict, which is what would run: argv joined by spaces, or the shell text, as the mode says. */
export function formatCommand(request: HarnDict): string {
  const argv = request.get('argv')
  const command = request.get('command') ?? null
  const mode = request.get('mode') ?? 'shell'
  if (argv instanceof HarnList && (mode === 'argv' || command === null)) return argv.view().map(display).join(' ')
  return command === null ? '' : display(command)
}

/** What a scan looks at, from the context that policy hooks get. */
export function makeScannedCommand(ctx: HarnDict): ScannedCommand {
  const toDict = (value: Value | undefined): HarnDict => (value instanceof HarnDict ? value : new HarnDict())
  const listTexts = (value: Value | undefined): string[] => (value instanceof HarnList ? value.view().map(display) : [])
  const request = toDict(ctx.get('request'))
  const argv = request.get('argv')
  const text = formatCommand(request)
  const cwd = request.get('cwd') ?? null
  return {
    text,
    words: argv instanceof HarnList ? argv.view().map(display) : text.split(/\s+/).map((word) => word.replace(/^["']+/, '')),
    cwd: typeof cwd === 'string' ? cwd : null,
    roots: listTexts(ctx.get('workspace_roots')),
    denyPatterns: listTexts(toDict(ctx.get('policy')).get('deny_patterns')),
  }
}
