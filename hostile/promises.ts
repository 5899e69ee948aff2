// The promises of Bridle to hosts that run untrusted code: id → sentence and part. SECURITY.md cites every id, each case of the suite
// attacks one, and a test compares the three.

export type Part = 'authority' | 'limits' | 'silence' | 'machine'

interface Promised {
  readonly part: Part
  readonly promise: string
}

const table = {
  'nothing-without-grant': {
    part: 'authority',
    promise: 'An embedded script reaches nothing without a provider and a grant of the host.',
  },
  'one-identity': {
    part: 'authority',
    promise: 'Grants, budgets, policies, pins and approvals judge what executes, whatever name and route the script uses.',
  },
  'effects-are-declared': {
    part: 'authority',
    promise:
      'A program that can reach more than allowEffects, imports or @grant_import permit does not start; a run is held to its manifest.',
  },
  'grants-are-exact': {
    part: 'authority',
    promise: 'A grant gives what it names and nothing beside it: no other power, path, host, program or number of calls.',
  },
  'scripts-only-narrow': {
    part: 'authority',
    promise: 'A script can take from its authority and never add to it; what it imports has no more than it has.',
  },
  'files-stay-in-root': {
    part: 'authority',
    promise: 'A confined run reads and writes no file outside of its roots, whatever path or link leads there.',
  },
  'network-stays-named': {
    part: 'authority',
    promise:
      'A confined run reaches no private address and no host that its grants do not name, by redirects and odd spellings neither.',
  },
  'keys-stay-with-origin': {
    part: 'authority',
    promise: 'A key of the host is sent only to the address that the host set for it.',
  },
  'secrets-are-listed': {
    part: 'authority',
    promise: 'A confined run sees the variables that the host lists, and no others.',
  },
  'approvals-cover-the-call': {
    part: 'authority',
    promise: 'An approval covers exactly the call that runs; a refusal stops it, and the script can answer neither.',
  },
  'budgets-are-reserved': {
    part: 'authority',
    promise: 'Budgets and counts hold for calls side by side, and what is unknown counts as the most that is possible.',
  },
  'resume-narrows': {
    part: 'authority',
    promise: 'A resumed, replayed or recovered run has at most the authority under which it was written down.',
  },
  'results-are-data': {
    part: 'authority',
    promise: 'What tools, servers, models and files answer is data: it grants nothing and runs nothing.',
  },
  'no-javascript-objects': {
    part: 'authority',
    promise: "JavaScript's object model is out of reach of scripts and of what hosts are given by them.",
  },
  'limits-end-runs': {
    part: 'limits',
    promise: 'Fuel, heap, depth, tasks, output, deadline and abort end a run, and no script can catch that end.',
  },
  'thread-is-free': {
    part: 'limits',
    promise: "No operation of a script keeps the host's thread long.",
  },
  'memory-is-metered': {
    part: 'limits',
    promise: 'What a run makes the process keep is counted against its heap limit, outside of the machine too.',
  },
  'compile-is-bounded': {
    part: 'limits',
    promise: 'Compiling and checking any text ends soon, with a diagnostic where a bound is passed.',
  },
  'patterns-are-linear': {
    part: 'limits',
    promise: 'No pattern and no text from outside makes matching slow.',
  },
  'failures-are-results': {
    part: 'limits',
    promise: 'Every failure is a status of the run or an error of the product, never an error of JavaScript itself.',
  },
  'damage-is-refused': {
    part: 'limits',
    promise: 'A changed snapshot, journal, recording or manifest is loaded or refused and never crashes the host.',
  },
  'peers-are-bounded': {
    part: 'limits',
    promise: 'A server, client or service that misbehaves costs a bounded time and memory, and only its own tools.',
  },
  'nothing-waits-for-nobody': {
    part: 'silence',
    promise: 'A run that needs an answer nobody can give fails at once and says so.',
  },
  'failures-are-said': {
    part: 'silence',
    promise: 'Every failure has a message and an exit code, in JSON where JSON was asked for; an unknown word is an error.',
  },
  'prompts-go-where-said': {
    part: 'silence',
    promise: 'A prompt goes to the service that the script names, or nowhere.',
  },
  'arguments-arrive-unchanged': {
    part: 'silence',
    promise: 'Arguments and results arrive as they were given, or the call fails.',
  },
  'terminal-stays-clean': {
    part: 'silence',
    promise: 'Text from outside moves no cursor and hides nothing in the messages of the command.',
  },
  'same-anywhere': {
    part: 'machine',
    promise: 'Folder, user, locale, time zone and environment change no result that a script did not ask them for.',
  },
  'nothing-is-left-behind': {
    part: 'machine',
    promise: 'A run that ends leaves no process, no lock and no temporary file behind.',
  },
} as const satisfies Readonly<Record<string, Promised>>

export type PromiseId = keyof typeof table

export const PROMISES: Readonly<Record<PromiseId, Promised>> = table

export function isPromise(id: string): id is PromiseId {
  return Object.hasOwn(table, id)
}
