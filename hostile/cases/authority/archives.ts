// Untrusted archives, unpacked by the catalogue's tool: no file outside the target is written, and nothing is left of an
// archive that is refused.

import { rows } from '../../rows.js'

const BAD: readonly string[] = [
  '../made',
  'a/../../made',
  '../../outside/made',
  '/made',
  '..\\made',
  'a\\..\\..\\made',
  '\\made',
  'C:/made',
  'C:made',
  'file:stream',
  'nul\0made',
  '.',
  './good',
  'good',
  '..',
]

export const cases = rows(
  'files-stay-in-root',
  BAD.map((path) => ({
    name: `an entry of a zip named ${JSON.stringify(path)}`,
    source: `import { std_tools } from "std/catalogue"
import { tool_call } from "std/tools"
let bad = json_parse(${JSON.stringify(JSON.stringify(path))})
// zip_create refuses duplicate names: one gets another name of the same length.
let other = if bad == "good" { "bood" } else { bad }
let packed = zip_create([{path: "good", content: "x"}, {path: other, content: "x"}])
write_file_bytes("a.zip", bytes_from_hex(regex_replace("626f6f64", "676f6f64", bytes_to_hex(packed))))
let args = {operation: "extract", path: "a.zip", format: "zip", target_path: "out"}
let answer = to_string(try { tool_call("archive_handler", args, {registry: std_tools(["archive_handler"])}) } catch (e) { e })
println(if contains(answer, "archive ") { "refused" } else { answer })
println(list_dir("."))
`,
    runtime: { grants: ['fs'], world: 'node' as const },
    verdict: 'done' as const,
    prints: 'refused\n[a.zip]\n',
  })),
)
