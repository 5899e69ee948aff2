// Variables that make a program run other code, passed to children of a run that may only start `echo`.

import { rows } from '../../rows.js'

const VARIABLES: readonly string[] = [
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'DYLD_INSERT_LIBRARIES',
  'NODE_OPTIONS',
  'PATH',
  'GIT_SSH_COMMAND',
  'GIT_CONFIG_GLOBAL',
  'BASH_ENV',
  'ENV',
  'PYTHONPATH',
  'PERL5OPT',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  'IFS',
  'BASH_FUNC_echo%%',
  'ld_preload',
]

const ROUTES: Readonly<Record<string, string>> = {
  'a program of programs': 'exec("env", "NAME=./evil", "echo", "a")',
  'the shell': 'shell("NAME=./evil echo a")',
  'an MCP server': 'mcp_connect({command: "echo", args: [], env: {"NAME": "./evil"}})',
}

export const cases = rows(
  'grants-are-exact',
  VARIABLES.flatMap((name) =>
    Object.entries(ROUTES).map(([route, text]) => ({
      name: `${name} by ${route}`,
      source: `fn attempt() {\n${text.replaceAll('NAME', name)}\n}\ntry {\n  attempt()\n  println("ran")\n} catch (e) {\n  println("refused")\n}\n`,
      runtime: { grants: ['process', 'mcp'], toolGrants: { 'process.exec': { program: ['echo'] }, 'env.set': {}, 'mcp.*': {} } },
      prints: 'refused\n',
    })),
  ),
)
