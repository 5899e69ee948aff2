// Ten tasks, each solved twice: by single calls, as a model without scripts makes them, and by one script. Both give the same value.

import { join } from 'node:path'

/** A call of a server's tool, under its own name. */
export interface SingleCall {
  readonly server: string
  readonly tool: string
  readonly args: { readonly [name: string]: unknown }
}

/** Parallel calls of a model; returns the texts of their results. */
export type Turn = (...calls: readonly SingleCall[]) => Promise<readonly string[]>

export interface Task {
  readonly prompt: string
  /** The calls of a model without scripts: as few turns as the results allow. Its reasoning costs nothing here. */
  readonly single: (turn: Turn, folder: string) => Promise<unknown>
  /** What the model looks up before it writes the script. */
  readonly search: readonly string[]
  readonly describe: readonly string[]
  readonly script: (folder: string) => string
}

const files = (tool: string, args: SingleCall['args']): SingleCall => ({ server: 'filesystem', tool, args })
const git = (tool: string, args: SingleCall['args']): SingleCall => ({ server: 'git', tool, args })
const memory = (tool: string, args: SingleCall['args']): SingleCall => ({ server: 'memory', tool, args })

const countBy = (items: readonly string[]): { [key: string]: number } => {
  const counts: { [key: string]: number } = {}
  for (const item of items) counts[item] = (counts[item] ?? 0) + 1
  return counts
}

interface Commit {
  readonly author: string
  readonly subject: string
}
const readCommits = (text: string): readonly Commit[] => (JSON.parse(text) as { commits: readonly Commit[] }).commits

export const TASKS: { readonly [name: string]: Task } = {
  deprecated: {
    prompt: 'Count the deprecated places of each file in src.',
    single: async (turn, folder) => {
      const [found] = await turn(files('search_files', { path: join(folder, 'src'), pattern: '*.js' }))
      const paths = found!.split('\n')
      const texts = await turn(...paths.map((path) => files('read_text_file', { path })))
      return Object.fromEntries(paths.map((path, at) => [path.split('/').at(-1), texts[at]!.split('@deprecated').length - 1]))
    },
    search: ['search and read files'],
    describe: [],
    script: (folder) => `import { search_files, read_text_file } from "host/filesystem"

pipeline main() {
  var counts = {}
  for path in search_files({path: "${folder}/src", pattern: "*.js"}).content.lines() {
    let name = path.split("/").last()
    counts[name] = len(read_text_file({path: path}).content.split("@deprecated")) - 1
  }
  return counts
}
`,
  },
  sales: {
    prompt: 'What did each region sell, by orders.csv?',
    single: async (turn, folder) => {
      const [text] = await turn(files('read_text_file', { path: join(folder, 'orders.csv') }))
      const totals: { [region: string]: number } = {}
      for (const line of text!.trim().split('\n').slice(1)) {
        const [, region, pieces, price] = line.split(',')
        totals[region!] = (totals[region!] ?? 0) + Number(pieces) * Number(price)
      }
      return totals
    },
    search: ['read a file'],
    describe: [],
    script: (folder) => `import { read_text_file } from "host/filesystem"

pipeline main() {
  var totals = {}
  for row in csv_parse(read_text_file({path: "${folder}/orders.csv"}).content, {headers: true}) {
    totals[row.region] = (totals[row.region] ?? 0) + to_int(row.pieces) * to_int(row.price)
  }
  return totals
}
`,
  },
  rename: {
    prompt: 'Rename the notes to the slug of their titles.',
    single: async (turn, folder) => {
      const [found] = await turn(files('search_files', { path: join(folder, 'notes'), pattern: '*.md' }))
      const paths = found!.split('\n')
      const heads = await turn(...paths.map((path) => files('read_text_file', { path, head: 1 })))
      const names = heads.map((head) => `${head.replace(/^# /, '').trim().toLowerCase().replaceAll(' ', '-')}.md`)
      await turn(...paths.map((path, at) => files('move_file', { source: path, destination: join(folder, 'notes', names[at]!) })))
      return names.sort()
    },
    search: ['search, read and move files'],
    describe: [],
    script: (folder) => `import { move_file, read_text_file, search_files } from "host/filesystem"

pipeline main() {
  var names = []
  for path in search_files({path: "${folder}/notes", pattern: "*.md"}).content.lines() {
    let title = read_text_file({path: path, head: 1}).content.replace("# ", "").trim()
    let name = title.lowercase().replace(" ", "-") + ".md"
    move_file({source: path, destination: "${folder}/notes/" + name})
    names = names.push(name)
  }
  return names.sort()
}
`,
  },
  authors: {
    prompt: 'Who made how many of the last 40 commits in repo, and of which kind?',
    single: async (turn, folder) => {
      const commits = readCommits((await turn(git('git_log', { path: join(folder, 'repo'), maxCount: 40 })))[0]!)
      return {
        authors: countBy(commits.map(({ author }) => author)),
        kinds: countBy(commits.map(({ subject }) => subject.split(':')[0]!)),
      }
    },
    search: ['git log'],
    describe: [],
    script: (folder) => `import { git_log } from "host/git"

pipeline main() {
  var authors = {}
  var kinds = {}
  for commit in git_log({path: "${folder}/repo", maxCount: 40}).commits {
    let author = commit.author ?? "unknown"
    authors[author] = (authors[author] ?? 0) + 1
    let kind = commit.subject.split(":")[0]
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }
  return {authors: authors, kinds: kinds}
}
`,
  },
  changelog: {
    prompt: 'Write CHANGELOG.md of repo from the fixes and features of its last 40 commits, and commit it.',
    single: async (turn, folder) => {
      const repo = join(folder, 'repo')
      const commits = readCommits((await turn(git('git_log', { path: repo, maxCount: 40 })))[0]!)
      const lines = commits.filter(({ subject }) => /^(?:feat|fix):/.test(subject)).map(({ subject }) => `- ${subject}`)
      await turn(files('write_file', { path: join(repo, 'CHANGELOG.md'), content: `# Changes\n\n${lines.join('\n')}\n` }))
      await turn(git('git_add', { path: repo, paths: ['CHANGELOG.md'] }))
      const [done] = await turn(git('git_commit', { path: repo, message: 'docs: changelog' }))
      return { lines: lines.length, committed: (JSON.parse(done!) as { success: boolean }).success }
    },
    search: ['git log add commit', 'write a file'],
    describe: [],
    script: (folder) => `import { git_add, git_commit, git_log } from "host/git"
import { write_file } from "host/filesystem"

pipeline main() {
  let repo = "${folder}/repo"
  let subjects = git_log({path: repo, maxCount: 40}).commits.map({ each -> each.subject })
  let wanted = subjects.filter({ each -> each.starts_with("feat:") || each.starts_with("fix:") })
  let text = wanted.map({ each -> "- " + each }).join("\\n")
  write_file({path: repo + "/CHANGELOG.md", content: "# Changes\\n\\n" + text + "\\n"})
  git_add({path: repo, paths: ["CHANGELOG.md"]})
  let done = git_commit({path: repo, message: "docs: changelog"})
  return {lines: len(wanted), committed: done.success}
}
`,
  },
  people: {
    prompt: 'Put the people of people.json into the graph, with who leads whom, and say how large it is.',
    single: async (turn, folder) => {
      const [text] = await turn(files('read_text_file', { path: join(folder, 'people.json') }))
      const people = JSON.parse(text!) as readonly { name: string; role: string; team: string; lead: string }[]
      const entities = people.map(({ name, role, team }) => ({
        name,
        entityType: 'person',
        observations: [`${role} in ${team}`],
      }))
      await turn(memory('create_entities', { entities }))
      const led = people.filter(({ name, lead }) => name !== lead)
      await turn(
        memory('create_relations', { relations: led.map(({ name, lead }) => ({ from: lead, to: name, relationType: 'leads' })) }),
      )
      return { people: people.length, relations: led.length }
    },
    search: ['create entities and relations', 'read a file'],
    describe: [],
    script: (folder) => `import { create_entities, create_relations } from "host/memory"
import { read_text_file } from "host/filesystem"

pipeline main() {
  let people = json_parse(read_text_file({path: "${folder}/people.json"}).content)
  create_entities({entities: people.map({ each ->
    {name: each.name, entityType: "person", observations: ["\${each.role} in \${each.team}"]}
  })})
  let led = people.filter({ each -> each.name != each.lead })
  create_relations({relations: led.map({ each -> {from: each.lead, to: each.name, relationType: "leads"} })})
  return {people: len(people), relations: len(led)}
}
`,
  },
  leads: {
    prompt: 'Who in the graph leads the most people?',
    single: async (turn) => {
      const [text] = await turn(memory('read_graph', {}))
      const { relations } = JSON.parse(text!) as { relations: readonly { from: string; relationType: string }[] }
      const counts = Object.entries(countBy(relations.filter((each) => each.relationType === 'leads').map(({ from }) => from)))
      const most = Math.max(...counts.map(([, count]) => count))
      return {
        most,
        names: counts
          .filter(([, count]) => count === most)
          .map(([name]) => name)
          .sort(),
      }
    },
    search: ['read the graph'],
    describe: [],
    script: () => `import { read_graph } from "host/memory"

pipeline main() {
  var counts = {}
  for each in read_graph({}).relations.filter({ each -> each.relationType == "leads" }) {
    counts[each.from] = (counts[each.from] ?? 0) + 1
  }
  let most = counts.values().reduce(0, { a, b -> max(a, b) })
  let names = counts.entries().filter({ each -> each.value == most }).map({ each -> each.key })
  return {most: most, names: names.sort()}
}
`,
  },
  settings: {
    prompt: 'Which options differ between staging.json and production.json?',
    single: async (turn, folder) => {
      const [one, other] = (
        await turn(
          files('read_text_file', { path: join(folder, 'staging.json') }),
          files('read_text_file', { path: join(folder, 'production.json') }),
        )
      ).map((text) => JSON.parse(text) as { [name: string]: unknown })
      const names = [...new Set([...Object.keys(one!), ...Object.keys(other!)])]
      return names.filter((name) => JSON.stringify(one![name]) !== JSON.stringify(other![name])).sort()
    },
    search: ['read a file'],
    describe: [],
    script: (folder) => `import { read_text_file } from "host/filesystem"

fn load(name: string) -> dict {
  return json_parse(read_text_file({path: "${folder}/" + name + ".json"}).content)
}

pipeline main() {
  let staging = load("staging")
  let production = load("production")
  let names = (staging.keys() + production.keys()).unique()
  return names.filter({ each -> staging[each] != production[each] }).sort()
}
`,
  },
  branches: {
    prompt: 'Make a branch in repo for each open issue of issues.json.',
    single: async (turn, folder) => {
      const [text] = await turn(files('read_text_file', { path: join(folder, 'issues.json') }))
      const issues = (JSON.parse(text!) as readonly { id: number; open: boolean }[]).filter(({ open }) => open)
      const names = issues.map(({ id }) => `issue-${id}`)
      await turn(...names.map((name) => git('git_branch', { path: join(folder, 'repo'), mode: 'create', branchName: name })))
      return names
    },
    search: ['create git branch', 'read a file'],
    describe: [],
    script: (folder) => `import { git_branch } from "host/git"
import { read_text_file } from "host/filesystem"

pipeline main() {
  let issues = json_parse(read_text_file({path: "${folder}/issues.json"}).content)
  let names = issues.filter({ each -> each.open }).map({ each -> "issue-\${each.id}" })
  for name in names {
    git_branch({path: "${folder}/repo", mode: "create", branchName: name})
  }
  return names
}
`,
  },
  weather: {
    prompt: 'Write the mean temperature of New York, Chicago and Los Angeles to weather.txt.',
    single: async (turn, folder) => {
      const cities = ['New York', 'Chicago', 'Los Angeles']
      const ask = (location: string): SingleCall => ({ server: 'everything', tool: 'get-structured-content', args: { location } })
      const texts = await turn(...cities.map(ask))
      const sum = texts.reduce((total, text) => total + (JSON.parse(text) as { temperature: number }).temperature, 0)
      const mean = Math.round(sum / cities.length)
      await turn(files('write_file', { path: join(folder, 'weather.txt'), content: String(mean) }))
      return mean
    },
    search: ['weather of a city', 'write a file'],
    describe: [],
    script: (folder) => `import { get_structured_content } from "host/everything"
import { write_file } from "host/filesystem"

pipeline main() {
  var sum = 0.0
  for city in ["New York", "Chicago", "Los Angeles"] {
    sum = sum + get_structured_content({location: city}).temperature
  }
  let mean = to_int(round(sum / 3))
  write_file({path: "${folder}/weather.txt", content: to_string(mean)})
  return mean
}
`,
  },
}
