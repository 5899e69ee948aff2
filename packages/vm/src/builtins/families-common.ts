// Families of everyday scripts beside the core: text formats, files, processes, HTTP, time, tasks and locks.
// Loaded when a script names one of them (later-families.ts).

import { bytesFamily } from './bytes.js'
import { codecsFamily } from './codecs.js'
import { compressFamily } from './compress.js'
import { cryptoFamily } from './crypto.js'
import { dataFormatsFamily } from './data-formats.js'
import { fsFamily } from './fs.js'
import { httpFamily } from './http.js'
import { jqFamily } from './jq.js'
import { loggingFamily } from './logging.js'
import { pathFamily } from './path.js'
import { processFamily } from './process.js'
import { randomFamily } from './random.js'
import { regexFamily } from './regex.js'
import { runtimeContextFamily } from './runtime-context.js'
import { schemaFamily } from './schema.js'
import { sharedFamily } from './shared.js'
import { syncFamily } from './sync.js'
import { tasksFamily } from './tasks.js'
import { templateFamily } from './template.js'
import { terminalFamily } from './terminal.js'
import { timeFamily } from './time.js'
import { withCharges } from './family-charges.js'
import type { BuiltinFamily } from './registry.js'

export function commonFamilies(): readonly BuiltinFamily[] {
  return withCharges([
    bytesFamily,
    codecsFamily,
    compressFamily,
    cryptoFamily,
    dataFormatsFamily,
    fsFamily,
    httpFamily,
    jqFamily,
    loggingFamily,
    pathFamily,
    processFamily,
    randomFamily,
    regexFamily,
    runtimeContextFamily,
    schemaFamily,
    sharedFamily,
    syncFamily,
    tasksFamily,
    templateFamily,
    terminalFamily,
    timeFamily,
  ])
}
