// Primitives of the modules that keep state in files (state-files.harn): data as JSON, and names of folders.

import { HarnDict, builtin, display, parseJson, stringifyJson } from '@bridle/vm/families'
import type { BuiltinDef } from '@bridle/vm/families'
import { decodeFolderName, describeFolderNameProblem, encodeFolderName } from './lexical-path.js'
import { toJsonData, stringifyPretty } from './state-files.js'

export const statePrimitives: readonly BuiltinDef[] = [
  builtin(
    '__json_data(value: any) -> any',
    { doc: 'What of a value survives as JSON; what is no data becomes nil.' },
    (_ctx, value) => toJsonData(value ?? null),
  ),
  builtin('__pretty_json(value: any) -> string', { doc: 'A value as JSON over several lines.' }, (_ctx, value) =>
    stringifyPretty(value ?? null),
  ),
  builtin('__json_line(value: any) -> string', { doc: 'A value as JSON on one line.' }, (_ctx, value) =>
    stringifyJson(value ?? null, { interchange: true }),
  ),
  builtin('__parse_json(text: string) -> dict?', { doc: '{value} of a JSON text; nil for any other.' }, (_ctx, text) => {
    const parsed = parseJson(display(text ?? null))
    return parsed.ok ? HarnDict.of({ value: parsed.value }) : null
  }),
  builtin(
    '__folder_name_problem(name: string) -> string?',
    { doc: 'Why a name cannot be a folder below another one; nil when it can.' },
    (_ctx, name) => describeFolderNameProblem(name as string),
  ),
  builtin('__folder_of_id(id: string) -> string', { doc: 'The name of the folder that an id has.' }, (_ctx, id) =>
    encodeFolderName(id as string),
  ),
  builtin('__id_of_folder(name: string) -> string', { doc: 'The id that a folder is named for.' }, (_ctx, name) =>
    decodeFolderName(name as string),
  ),
]
