// Questions that nobody can answer, and waits for events that cannot occur.

import { rows } from '../../rows.js'

const QUESTIONS: Readonly<Record<string, string>> = {
  ask_user: 'ask_user("who")',
  'ask_user with a kind': 'ask_user("how many", {kind: "int"})',
  request_approval: 'request_approval("deploy")',
  'request_approval of two': 'request_approval("deploy", {quorum: 2, reviewers: ["ann", "bob"]})',
  'request_approval for a year': 'request_approval("deploy", {deadline: 31536000s})',
  dual_control: 'dual_control(1, 2, { -> println("both agreed") })',
  escalate_to: 'escalate_to("oncall", "fire")',
  'in a task': 'await(spawn { ask_user("who") })',
  'side by side': 'parallel each [1, 2] { n -> ask_user("who") }',
}

const STUCK: Readonly<Record<string, string>> = {
  'a channel that nobody sends to': 'receive(channel("c"))',
  'a channel that nobody reads': 'let c = channel("c", 1)\nsend(c, 1)\nsend(c, 2)',
  'two tasks that wait for each other':
    'let a = channel("a", 1)\nlet b = channel("b", 1)\nlet t = spawn { receive(a)\nsend(b, 1) }\nreceive(b)\nsend(a, 1)',
}

export const cases = rows('nothing-waits-for-nobody', [
  ...Object.entries(QUESTIONS).map(([name, call]) => ({
    name,
    source: `${call}\nprintln("answered")\n`,
    runtime: { grants: ['approval'], enforceManifest: false, world: 'node' as const },
    verdict: 'failed' as const,
    says: ['nobody can answer'],
    lacks: ['answered\n', 'both agreed'],
  })),
  ...Object.entries(STUCK).map(([name, source]) => ({
    name,
    source: `${source}\nprintln("went on")\n`,
    verdict: 'failed' as const,
    says: ['wait'],
    lacks: ['went on'],
  })),
])
