// Families of everyday scripts beside the core: text formats, files, processes, HTTP, time, tasks and locks.
// Loaded when a script names one of them (later-families.ts).

import { bytesFamily, randomFamily, sharedFamily, syncFamily, tasksFamily, withCharges } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { codecsFamily } from '../../library/codecs/codecs.js'
import { compressFamily } from '../../library/compression/compress.js'
import { cryptoFamily } from '../../library/crypto/crypto.js'
import { dataFormatsFamily } from '../../library/formats/data-formats.js'
import { fsFamily } from '../../library/files/fs.js'
import { httpFamily } from '../../library/http/http.js'
import { jqFamily } from '../../library/formats/jq.js'
import { loggingFamily } from '../../library/logging/logging.js'
import { pathFamily } from '../../library/files/path.js'
import { processFamily } from '../../library/processes/process.js'
import { regexFamily } from '../../library/regex/regex.js'
import { runtimeContextFamily } from '../../agents/workers/runtime-context.js'
import { schemaFamily } from '../../library/schema/schema.js'
import { templateFamily } from '../../library/templates/template.js'
import { terminalFamily } from '../../library/processes/terminal.js'
import { timeFamily } from '../../library/time/time.js'
import { withOptionShapes } from './option-shapes.js'

export function makeCommonFamilies(): readonly BuiltinFamily[] {
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
  ]).map(withOptionShapes)
}
