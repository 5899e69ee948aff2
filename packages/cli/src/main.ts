// The `bridle` command from source: begins where the bundle does (start.ts).

import { begin } from './begin.js'

void begin(process.argv.slice(2))
