// The door of this room: what other rooms use. They import the files that are named here; types may come from here (scripts/doors.ts).

export { listenForAbort } from './abort.js'

export { codecsFamily } from './codecs/codecs.js'

export { compressFamily } from './compression/compress.js'
export { decodeZstd } from './compression/zstd.js'

export { cryptoFamily } from './crypto/crypto.js'
export { hmacDigesting, isSameText, sha256 } from './crypto/hashes.js'

export { postgresFamily } from './databases/postgres.js'

export {
  EFFECTS,
  SIDE_EFFECTS,
  describeModelOptionsProblem,
  effectProblem,
  isServerAddress,
  listUses,
  withArguments,
  withModelOptions,
} from './effects/index.js'
export type { HostCapabilities, LogLevel, NestedOutcome, Report, SideEffect, Use } from './effects/index.js'
export { placeEffect } from './effects/execution-root.js'
export { LOG_LEVELS } from './effects/reports.js'

export { fsFamily } from './files/fs.js'
export { isAbsolutePath, normalizePath } from './files/lexical-path.js'
export { memoryFamily } from './files/memory.js'
export { metadataFamily } from './files/metadata.js'
export { pathFamily } from './files/path.js'
export { stringifyPretty } from './files/state-files.js'
export { storeFamily } from './files/store.js'

export { flowFamily } from './flow/flow.js'

export { dataFormatsFamily } from './formats/data-formats.js'
export { compareShapes, formatDrift, inferShape, readSchemaShape, readShape, showShape } from './formats/data-shapes.js'
export type { Drift, Shape } from './formats/data-shapes.js'
export { jqFamily } from './formats/jq.js'
export { findJson } from './formats/json-extract.js'
export { diffLines } from './formats/line-diff.js'
export { readRecord, recordData } from './formats/record-shapes.js'
export type { RecordShape } from './formats/record-shapes.js'
export { cutToVisible, parseTagged } from './formats/tagged-response.js'
export type { TaggedResponse } from './formats/tagged-response.js'
export { parseTomlText } from './formats/toml.js'
export { FormatError, parseYaml } from './formats/yaml.js'

export { findHarnModule } from './harn/modules.js'
export { packedJson, packedTexts } from './harn/packed.js'
export { definePrimitive } from './harn/primitive.js'

export { checkEgress, makeEgressRefusal } from './http/egress.js'
export { httpFamily } from './http/http.js'
export { REQUEST_DEFAULTS } from './http/request-defaults.js'
export type { RequestDefaults } from './http/request-defaults.js'
export { httpServerFamily } from './http/server.js'
export { sseFamily } from './http/sse.js'
export { websocketFamily } from './http/websocket.js'

export { eventLogFamily, listEvents } from './logging/event-log.js'
export { logLevelState, loggingFamily } from './logging/logging.js'
export { PRINTS_REPORTS, REPORT_LISTENER } from './logging/reports.js'
export type { ReportListener } from './logging/reports.js'
export { secretsFamily } from './logging/secret-scan.js'
export { EVENT_LOG_PLACE } from './logging/log-place.js'
export type { EventLogPlace } from './logging/log-place.js'
export { STAND_INS } from './logging/stand-ins.js'
export type { StandIns } from './logging/stand-ins.js'
export { tracingFamily, usageState } from './logging/tracing.js'

export { isSecretVariable, processFamily } from './processes/process.js'
export { terminalFamily } from './processes/terminal.js'
export { visionFamily } from './processes/vision.js'

export { projectFamily } from './project/project.js'

export { compileRegex, searchRegex, testRegex } from './regex/engine.js'
export type { Regex } from './regex/machines/search.js'
export { regexFamily } from './regex/regex.js'
export { RegexSyntaxError } from './regex/syntax.js'

export { checkSchema } from './schema/check.js'
export { SchemaError, canonicalizeSchema } from './schema/normal.js'
export { schemaFamily } from './schema/schema.js'

export { findInnermostIn, findInnermostScope, listScopes, popScope, pushScope } from './task-scopes.js'
export type { ScopeKind } from './task-scopes.js'

export { TemplateError, parseTemplate } from './templates/syntax.js'
export { templateFamily } from './templates/template.js'

export { formatIsoNow } from './time/dates.js'
export { LONGEST_TIMER_MS, VirtualClock, awaitNextTurn, clampTimer, delay, systemClock } from './time/host-clock.js'
export type { Clock } from './time/host-clock.js'
export { timeFamily } from './time/time.js'

export {
  TOOL_ERROR_CODES,
  findCode,
  findCodeRow,
  isInterruption,
  isToolError,
  isToolErrorCode,
  makeToolError,
  parseErrorText,
  toToolError,
} from './tool-errors.js'
export type { CallFacts, ToolErrorCode } from './tool-errors.js'
