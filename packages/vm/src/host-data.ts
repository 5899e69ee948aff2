// What a host tells the families of builtins that it adds to the machine: one slot a family, declared where the family lives. The
// machine keeps the values and never looks at them. They are given again with a restore and a replay, and are in no snapshot.

/** `absent` is what a family reads where the host said nothing. */
export interface HostSlot<T> {
  readonly name: string
  readonly absent: T
}

export function defineHostSlot<T>(name: string, absent: T): HostSlot<T> {
  return { name, absent }
}

export class HostData {
  private readonly values = new Map<string, unknown>()

  /** Leaves the slot empty for undefined, so that options of a host can be handed on as they are. */
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
