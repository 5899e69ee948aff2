// Instructions for coding assistants: AGENTS.md, which most of them read, and a reference to it for the others.

import { primer } from '@bridle/stdlib-tools/ai'

export const ASSISTANT_FILES = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'] as const

/** By path in the project; `commands` are the commands of the project. */
export function makeAssistantFiles(commands: readonly string[]): { readonly [path in (typeof ASSISTANT_FILES)[number]]: string } {
  return {
    'AGENTS.md': makeGuide(commands),
    'CLAUDE.md': '@AGENTS.md\n',
    '.github/copilot-instructions.md':
      'Read AGENTS.md in the root of this repository before you write or change a `.harn` file.\n',
  }
}

function makeGuide(commands: readonly string[]): string {
  const own = commands.length === 0 ? '' : `\nCommands of this project: ${commands.map((each) => `\`${each}\``).join(', ')}.\n`
  return `# For coding assistants

Files \`*.harn\` are scripts in the Harn language, run by [Bridle](https://www.npmjs.com/package/@bridle/cli). It is not JavaScript: read the primer below.
${own}
After every change of a script:

1. \`npx bridle check --strict FILE\`: types, names, effects. \`npx bridle check --fix FILE\` makes the repairs that are certain.
2. \`npx bridle test tests\`: the tests, pipelines with \`@test\`.
3. \`npx bridle fmt FILE\`: the layout.

\`npx bridle explain CODE\` explains the code of a message, \`npx bridle builtins\` lists the builtins, \`npx bridle run --dry-run FILE\` shows what a script would do. Where the package is installed,
\`node_modules/@bridle/cli/llms-full.txt\` is the whole documentation in one file: search it before you guess.

${primer().trim()}
`
}
