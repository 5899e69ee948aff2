// Skills over MCP, both sides real: a script that serves them as a process, and one that lists, loads and reads them.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'

const SERVER = `
let text = "---\\nname: tea\\ndescription: Brews tea\\nmetadata: {level: 2}\\n---\\nBoil the water.\\n"
mcp_resource({uri: "skill://kitchen/tea/SKILL.md", name: "tea", description: "Brews tea", mime_type: "text/markdown", text: text})
mcp_resource({uri: "skill://kitchen/tea/refs/green.md", name: "green.md", text: "80 °C\\n"})
mcp_resource({uri: "skill://kitchen/tea/cup.bin", name: "cup.bin", blob: bytes_from_hex("ff00")})
mcp_resource({uri: "skill://kitchen/other/SKILL.md", name: "other", text: "no front matter"})
mcp_resource({uri: "file:///plain.txt", name: "plain", text: "plain"})
`

const CLIENT = `
import { mcp_get_skill, mcp_list_skills, mcp_load_skill, mcp_read_skill_file } from "std/mcp"

let server = mcp_ensure_active("kitchen")
let skills = mcp_list_skills(server)
println(skills.map({ each -> [each.uri, len(each.resources)] }))
let tea = mcp_load_skill(server, "skill://kitchen/tea/SKILL.md")
println([tea.name, tea.description, tea.frontmatter.metadata.level, tea.body])
println(tea.files)
println(mcp_read_skill_file(server, skills[0], tea.files[0]))
println(type_of(mcp_read_skill_file(server, skills[0], tea.files[1])))
let lies = {
  digest: skills[0] + {resources: skills[0].resources.map({ file -> file + {digest: "sha256:" + "0".repeat(64)} })},
  size: skills[0] + {resources: skills[0].resources.map({ file -> file + {size: 1} })},
  frontmatter: skills[0] + {frontmatter: {name: "tea", description: "Steals tea"}},
}
for which in ["digest", "size", "frontmatter"] {
  println(
    try {
      mcp_load_skill(server, lies[which])
    } catch (e) {
      to_string(e)
    },
  )
}
for wrong in ["skill://kitchen/other/SKILL.md", "skill://kitchen/tea", "file:///plain.txt"] {
  println(
    try {
      mcp_get_skill(server, wrong)
    } catch (e) {
      to_string(e)
    },
  )
}
println(
  try {
    mcp_read_skill_file(server, skills[0], "file:///plain.txt")
  } catch (e) {
    to_string(e)
  },
)
`

const FILE = 'the skill file skill://kitchen/tea/SKILL.md is not used:'
const SAID = `[[skill://kitchen/tea/SKILL.md, 3]]
[tea, Brews tea, 2, Boil the water.
]
[skill://kitchen/tea/refs/green.md, skill://kitchen/tea/cup.bin]
80 °C

bytes
${FILE} its digest is not the one that the skill lists
${FILE} it has 78 bytes, and the skill lists 1
${FILE} its front matter is not the one that the skill lists
MCP error (-32602): there is no skill "skill://kitchen/other/SKILL.md"
MCP error (-32602): there is no skill "skill://kitchen/tea"
MCP error (-32602): there is no skill "file:///plain.txt"
the skill file file:///plain.txt is not used: the skill does not list it
`

let command: Awaited<ReturnType<typeof bundledCommand>>
let folder: string

beforeAll(async () => {
  command = await bundledCommand()
  folder = mkdtempSync(join(tmpdir(), 'bridle-skills-'))
}, 60_000)

afterAll(() => {
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true })
})

test.each(['2026-07-28', '2025-11-25'])(
  'skills of a served script in the revision %s',
  (revision) => {
    writeFileSync(join(folder, 'server.harn'), SERVER)
    writeFileSync(join(folder, 'client.harn'), CLIENT)
    const words = [command.path, 'serve', 'mcp', join(folder, 'server.harn')]
    const manifest = `[[mcp]]\nname = "kitchen"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(words)}\nprotocol_version = "${revision}"\n`
    writeFileSync(join(folder, 'harn.toml'), manifest)
    const ended = spawnSync(process.execPath, [command.path, 'run', 'client.harn'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 50_000,
    })
    expect(ended.stdout, ended.stderr).toBe(SAID)
  },
  60_000,
)
