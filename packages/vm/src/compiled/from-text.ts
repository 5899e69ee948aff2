// The one place where source becomes code. We generate the source; scripts contribute only numbers and JSON to it.

let canGenerate: boolean | null = null

/** Whether the host allows functions made from source. */
export function canGenerateCode(): boolean {
  if (canGenerate === null) {
    try {
      canGenerate = fromText('return 1')() === 1
    } catch {
      canGenerate = false
    }
  }
  return canGenerate
}

/** A function with the parameters named first and the body that comes last. */
export function fromText(...parts: string[]): (...args: unknown[]) => unknown {
  // oxlint-disable-next-line no-implied-eval -- what this tier is about; hosts that forbid it run the base tier
  return new Function(...parts) as (...args: unknown[]) => unknown
}
