// A host's configuration for the families of builtins that it adds to the machine: one slot per family, declared by the family. The
// machine keeps the values and never reads them. A host passes them again for a restore and a replay; snapshots do not contain them.

/** `absent` is the value that a family reads when the host set none. */
export interface HostSlot<T> {
  readonly name: string
  readonly absent: T
}

export function defineHostSlot<T>(name: string, absent: T): HostSlot<T> {
  return { name, absent }
}

export class HostData {
  private readonly values = new Map<string, unknown>()

  /** Undefined leaves the slot empty, so that a host's options can be passed on unchanged. */
  set<T>({ name }: HostSlot<T>, value: T | undefined): this {
    if (value !== undefined) this.values.set(name, value)
    return this
  }

  get<T>({ name, absent }: HostSlot<T>): T {
    const value = this.values.get(name)
    // No slot is set to undefined.
    return value === undefined ? absent : (value as T)
  }
}

export const NO_HOST_DATA: HostData = new HostData()
