// Sources of the standard modules, apart from what runs need: the bundle of the command reads them on demand.

import { STD_MODULES } from '../std.generated.js'

export function findStdText(name: string): string | undefined {
  return STD_MODULES.get(name)
}
