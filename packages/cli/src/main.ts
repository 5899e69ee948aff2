// The `bridle` command from source: starts like the bundle (start.ts).

import { begin } from './begin.js'

void begin(process.argv.slice(2))
