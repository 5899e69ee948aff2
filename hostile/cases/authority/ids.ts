// Ids and names that become folders and files: none escapes its folder, inside the root or above it.

import { rows } from '../../rows.js'

const IDS: readonly string[] = [
  '..',
  '.',
  './.',
  '../made',
  '../../outside/made',
  'a/../../made',
  'a/../../../outside/made',
  '/made',
  'a\\..\\..\\made',
  'C:/made',
  'nul\0made',
  '',
]

/** What creates, reads or lists by an id; `made` in a path is visible among the files of the root afterwards. */
const USES: Readonly<Record<string, string>> = {
  'sessions of agent state':
    'let h = agent_state_init(".harn/state", {session_id: ID})\nagent_state_write(h, "made", "x")\nreturn "ok"',
  'handles of agent state':
    'let h = agent_state_init(".harn/state", {session_id: "own"})\nagent_state_write({...h, session_id: ID}, "made", "x")\nreturn "ok"',
  'sessions that go on': 'agent_state_resume(".harn/state", ID)\nreturn "ok"',
  'keys of agent state':
    'let h = agent_state_init(".harn/state", {session_id: "own"})\nagent_state_write(h, ID, "x")\nreturn "ok"',
  'namespaces of memory': 'memory_store(ID, "made", 1)\nreturn "ok"',
  'namespaces of metadata': 'metadata_set("d", ID, {made: 1})\nmetadata_save()\nreturn "ok"',
  'workers that go on': 'resume_agent(ID)\nreturn "ok"',
}

export const cases = rows(
  'files-stay-in-root',
  Object.entries(USES).flatMap(([what, use]) =>
    // A session without an id is given a new one.
    IDS.filter((id) => id !== '' || what !== 'sessions of agent state').map((id) => ({
      name: `${JSON.stringify(id)} for ${what}`,
      source: `import "std/agent_state"
import "std/memory"
let ID = json_parse(${JSON.stringify(JSON.stringify(id))})
fn attempt() {
${use}
}
println(try { attempt() } catch (e) { "refused" })
println(list_dir(".").filter({ name -> name != ".harn" }))
`,
      runtime: { grants: ['fs', 'process', 'clock'], world: 'node' as const },
      verdict: 'done' as const,
      prints: 'refused\n[]\n',
    })),
  ),
)
