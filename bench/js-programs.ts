// The plain JavaScript twins as one script for other JavaScript engines: bundled, it defines `run(name)`.

import { WORKLOADS } from './workloads.js'

;(globalThis as { run?: (name: string) => string }).run = (name) => {
  const workload = WORKLOADS.find((each) => each.name === name)
  if (workload === undefined) throw new Error(`no workload ${name}`)
  return workload.js()
}
