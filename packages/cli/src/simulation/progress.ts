// Shows the progress of a simulation: one terminal line that is overwritten, or an occasional line of a log.

const TERMINAL_EVERY_MS = 100
const LOG_EVERY_MS = 10_000

export class Progress {
  private readonly seeds: number
  private readonly isTerminal = process.stderr.isTTY === true
  private shownAt = performance.now()
  private isShown = false

  constructor(seeds: number) {
    this.seeds = seeds
  }

  /** Usually returns without doing anything. */
  show(runs: number, failures: number): void {
    const now = performance.now()
    if (now - this.shownAt < (this.isTerminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS)) return
    this.shownAt = now
    const text = `simulate: ${runs} runs for ${this.seeds} seeds, ${failures} failures`
    process.stderr.write(this.isTerminal ? `\r\u001b[K${text}` : `${text}\n`)
    this.isShown = this.isTerminal
  }

  /** Clears the line of the terminal. */
  clear(): void {
    if (this.isShown) process.stderr.write('\r\u001b[K')
    this.isShown = false
  }
}
