// Listening to a signal that many may share. Node warns of a leak when a signal has more than ten listeners, and a program that gives one signal to
// fifty runs has no leak: a signal has one listener here, which calls all the others.

/** What is needed of an AbortSignal. */
export interface Abortable {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void
}

/** Ended by the listener itself, and weak, so that neither outlives the signal. */
const listening = new WeakMap<Abortable, Set<() => void>>()

/** Calls back once when the signal is aborted, at once if it is; gives the way to stop listening. */
export function listenForAbort(signal: Abortable | null | undefined, callback: () => void): () => void {
  if (signal === null || signal === undefined) return () => {}
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const callbacks = listening.get(signal) ?? attach(signal)
  // Two who give the same function are two listeners.
  const own = (): void => callback()
  callbacks.add(own)
  return () => {
    callbacks.delete(own)
  }
}

function attach(signal: Abortable): Set<() => void> {
  const callbacks = new Set<() => void>()
  listening.set(signal, callbacks)
  signal.addEventListener(
    'abort',
    () => {
      listening.delete(signal)
      // One that stops listening meanwhile is not called; what one of them adds is called at once by itself.
      for (const callback of callbacks) callback()
    },
    { once: true },
  )
  return callbacks
}
