// Base tier against a plain stack switch, on the same compiled programs, interleaved in one process.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureTiming } from '../timing.js'
import { runPlainStack } from './plain-stack.js'
import { linkProgram } from '@bridle/vm'
import type { Engine } from '../engine.js'
import type { Timing } from '../timing.js'

export interface ShapeTimes {
  readonly plain: Timing
  readonly linked: Timing
}

export function measureShapes(engine: Engine, folder: string): Record<string, ShapeTimes> {
  const times: Record<string, ShapeTimes> = {}
  for (const name of ['fib', 'int_loop']) {
    const compiled = engine.compile(readFileSync(join(folder, 'scripts', `${name}.harn`), 'utf8'))
    const program = linkProgram(compiled, engine.registry)
    const wanted = engine.run(program)
    const output = runPlainStack(compiled)
    if (output !== wanted) throw new Error(`${name}: the plain switch printed ${output}, the engine ${wanted}`)
    times[name] = {
      plain: measureTiming(() => void runPlainStack(compiled)),
      linked: measureTiming(() => void engine.run(program)),
    }
  }
  return times
}
