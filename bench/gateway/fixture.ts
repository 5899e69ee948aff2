// The files of the tasks: a folder with sources, notes, tables and a repository, always the same.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const AUTHORS = ['Ada', 'Barbara', 'Edsger', 'Grace']
const REGIONS = ['north', 'south', 'east', 'west']
const KINDS = ['feat', 'fix', 'docs', 'chore']

export function makeFixture(folder: string): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (let at = 0; at < 24; at++) {
    const lines = Array.from({ length: 30 + at }, (_, line) =>
      (line * 7 + at) % 19 === 0
        ? `  // @deprecated since case ${line} of part ${at}`
        : `  step(${line}, "part ${at}", total + ${line * at})`,
    )
    write(`src/part${at}.js`, `export function part${at}(total) {\n${lines.join('\n')}\n}\n`)
  }
  const orders = Array.from(
    { length: 300 },
    (_, at) => `${1000 + at},${REGIONS[(at * 7) % 4]},${(at * 37) % 90},${5 + ((at * 13) % 40)}`,
  )
  write('orders.csv', `id,region,pieces,price\n${orders.join('\n')}\n`)
  for (let at = 0; at < 10; at++)
    write(
      `notes/note${at}.md`,
      `# Meeting ${at} about ${REGIONS[at % 4]}\n\n${'We talked about the plan and what is next. '.repeat(6 + at)}\n`,
    )
  const people = Array.from({ length: 16 }, (_, at) => ({
    name: `Person ${at}`,
    role: at % 5 === 0 ? 'lead' : 'engineer',
    team: REGIONS[at % 4],
    lead: `Person ${at - (at % 5)}`,
  }))
  write('people.json', `${JSON.stringify(people, null, 2)}\n`)
  const settings = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`option_${at}`, { value: at * 3, owner: AUTHORS[at % 4] }]),
  )
  write('staging.json', `${JSON.stringify(settings, null, 2)}\n`)
  const changed = {
    ...settings,
    option_7: { value: 1, owner: 'Ada' },
    option_33: { value: 0, owner: 'Grace' },
    extra: { value: 5, owner: 'Ada' },
  }
  write('production.json', `${JSON.stringify(changed, null, 2)}\n`)
  write(
    'issues.json',
    `${JSON.stringify(Array.from({ length: 8 }, (_, at) => ({ id: 40 + at, title: `Issue ${at}`, open: at % 3 !== 1 })))}\n`,
  )
  makeRepository(join(folder, 'repo'))
}

function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const git = (args: readonly string[], author = 'Ada', at = 0): void => {
    const date = `2026-01-01T00:${String(at).padStart(2, '0')}:00Z`
    const who = { GIT_AUTHOR_NAME: author, GIT_AUTHOR_EMAIL: `${author.toLowerCase()}@example.com`, GIT_AUTHOR_DATE: date }
    const whom = { GIT_COMMITTER_NAME: author, GIT_COMMITTER_EMAIL: 'ci@example.com', GIT_COMMITTER_DATE: date }
    execFileSync('git', [...args], {
      cwd: folder,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: folder, ...who, ...whom },
    })
  }
  git(['init', '--initial-branch=main'])
  git(['config', 'user.name', 'Ada'])
  git(['config', 'user.email', 'ada@example.com'])
  for (let at = 0; at < 40; at++) {
    writeFileSync(join(folder, 'log.txt'), `step ${at}\n`)
    git(['add', '.'])
    git(['commit', '-m', `${KINDS[(at * 3) % 4]}: step ${at} of the plan`], AUTHORS[(at * at) % 4]!, at)
  }
}
