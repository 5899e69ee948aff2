// Completions for shells, made from the table of commands: names of commands and subcommands, options, and the values of
// options. Everything else completes to a path.

import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

interface Place {
  /** Words of the command, without the program: `tools list`. */
  readonly path: string
  readonly description: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly Flag[]
  /** Values of its first argument; null: a path, or anything. */
  readonly values: readonly string[] | null
}

interface Flag {
  readonly long: string
  readonly short: string | null
  readonly description: string
  readonly takesValue: boolean
  /** Null: any value, possibly a path. */
  readonly values: readonly string[] | null
}

/** The completion script for a shell. `values`: by command, further values of its first argument. */
export function makeCompletions(
  program: Command,
  shell: Shell,
  values: { readonly [command: string]: readonly string[] } = {},
): string {
  const places = listPlaces(program, '').map((place) => ({ ...place, values: values[place.path] ?? place.values }))
  return { bash: makeBash, zsh: makeZsh, fish: makeFish }[shell](program.name(), places)
}

function listPlaces(command: Command, path: string): readonly Place[] {
  const own: Place = {
    path,
    description: command.description(),
    commands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
    values: command.registeredArguments[0]?.argChoices ?? null,
    options: command.options.flatMap(({ long, short, description, required, optional, argChoices, hidden }) =>
      hidden || long === undefined || long === null
        ? []
        : [{ long, short: short ?? null, description, takesValue: required || optional, values: argChoices ?? null }],
    ),
  }
  return [own, ...command.commands.flatMap((each) => listPlaces(each, path === '' ? each.name() : `${path} ${each.name()}`))]
}

const listWords = ({ commands, values }: Place): readonly string[] => [...commands.map(({ name }) => name), ...(values ?? [])]

/** A group of commands, and a command with a list of values, take no path. */
const takesPath = ({ commands, values }: Place): boolean => commands.length === 0 && values === null

const listFlags = (place: Place): readonly string[] => [
  ...place.options.flatMap(({ long, short }) => (short === null ? [long] : [short, long])),
  '--help',
]

// -------------------------------------------------------------------------------------------------------------- bash

/** https://www.gnu.org/software/bash/manual/html_node/Programmable-Completion.html */
function makeBash(program: string, places: readonly Place[]): string {
  const cases = places.map(
    (place) =>
      `    ${quote(place.path)}) words=${quote([...listWords(place), ...listFlags(place)].join(' '))}${takesPath(place) ? '' : ' path=""'} ;;\n`,
  )
  const values = places.flatMap(({ path, options }) =>
    options.flatMap(({ long, values: choices }) =>
      choices === null ? [] : [`    ${quote(`${path}|${long}`)}) words=${quote(choices.join(' '))} ;;\n`],
    ),
  )
  return `# Completions of ${program} for bash: put \`eval "$(${program} completions bash)"\` into ~/.bashrc.
_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place="" words="" path=1 at
  local known=${quote(`|${places.map(({ path }) => path).join('|')}|`)}
  for ((at = 1; at < COMP_CWORD; at++)); do
    local longer="\${place:+$place }\${COMP_WORDS[at]}"
    [[ "$known" == *"|$longer|"* ]] && place="$longer"
  done
  case "$place|$before" in
${values.join('')}    *) ;;
  esac
  if [[ -z "$words" ]]; then
    case "$place" in
${cases.join('')}    esac
    [[ "$current" != -* && -n "$path" ]] && COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current")) && return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _${program} ${program}
`
}

// --------------------------------------------------------------------------------------------------------------- zsh

/** https://zsh.sourceforge.io/Doc/Release/Completion-System.html */
function makeZsh(program: string, places: readonly Place[]): string {
  const cases = places.map((place) => {
    const commands = place.commands.map(({ name, description }) => quote(`${escapeColons(name)}:${description}`))
    const options = place.options.map(({ long, description }) => quote(`${long}:${escapeColons(description)}`))
    const values = (place.values ?? []).map(quote)
    return `    ${quote(place.path)}) commands=(${[...commands, ...values].join(' ')}) options=(${options.join(' ')} '--help:show the options')${takesPath(place) ? '' : ' path=""'} ;;\n`
  })
  const choices = places.flatMap(({ path, options }) =>
    options.flatMap(({ long, values }) =>
      values === null ? [] : [`    ${quote(`${path}|${long}`)}) compadd -- ${values.map(quote).join(' ')}; return ;;\n`],
    ),
  )
  return `#compdef ${program}
# Completions of ${program} for zsh: put \`eval "$(${program} completions zsh)"\` into ~/.zshrc, behind compinit.
_${program}() {
  local place="" path=1 at longer known=${quote(`|${places.map(({ path }) => path).join('|')}|`)}
  local -a commands options
  for ((at = 2; at < CURRENT; at++)); do
    longer="\${place:+$place }\${words[at]}"
    [[ "$known" == *"|$longer|"* ]] && place="$longer"
  done
  case "$place|\${words[CURRENT-1]}" in
${choices.join('')}  esac
  case "$place" in
${cases.join('')}  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe option options
  else
    (( \${#commands} )) && _describe command commands
    [[ -n "$path" ]] && _files
  fi
}
compdef _${program} ${program}
`
}

// -------------------------------------------------------------------------------------------------------------- fish

/** https://fishshell.com/docs/current/completions.html */
function makeFish(program: string, places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const condition =
      place.path === ''
        ? '__fish_use_subcommand'
        : place.path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ')
    const begin = `complete -c ${program} -n ${quote(condition)}`
    return [
      ...place.commands.map(({ name, description }) => `${begin} -f -a ${name} -d ${quote(description)}`),
      ...(place.values === null ? [] : [`${begin} -f -a ${quote(place.values.join(' '))}`]),
      ...place.options.map(
        ({ long, short, description, takesValue, values }) =>
          `${begin} -l ${long.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`}${takesValue ? ' -r' : ''}${
            values === null ? '' : ` -f -a ${quote(values.join(' '))}`
          } -d ${quote(description)}`,
      ),
    ]
  })
  return `# Completions of ${program} for fish: \`${program} completions fish > ~/.config/fish/completions/${program}.fish\`\n${lines.join('\n')}\n`
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
const escapeColons = (text: string): string => text.replaceAll(':', String.raw`\:`)
