// Rate limits of deliveries: one bucket for all, and one for each source. Both fill at the same rate.

interface Bucket {
  tokens: number
  at: number
}

const MOST_SOURCES = 10_000

export class IngestLimits {
  private readonly globalCapacity: number
  private readonly sourceCapacity: number
  private readonly refill: number
  private readonly global: Bucket
  private readonly sources = new Map<string, Bucket>()
  private readonly now: () => number

  constructor(env: { readonly [name: string]: string | undefined }, now: () => number = Date.now) {
    const read = (name: string, absent: number): number => {
      const value = Number(env[`HARN_ORCHESTRATOR_INGEST_${name}`] ?? '')
      return Number.isFinite(value) && value > 0 ? value : absent
    }
    this.globalCapacity = read('GLOBAL_CAPACITY', 4096)
    this.sourceCapacity = read('PER_SOURCE_CAPACITY', 1024)
    this.refill = read('REFILL_PER_SEC', 1024)
    this.now = now
    this.global = { tokens: this.globalCapacity, at: now() }
  }

  /** Null: the delivery is admitted. Otherwise milliseconds to wait before the next try. */
  take(source: string): number | null {
    let own = this.sources.get(source)
    if (own === undefined) {
      if (this.sources.size >= MOST_SOURCES) this.sources.clear()
      own = { tokens: this.sourceCapacity, at: this.now() }
      this.sources.set(source, own)
    }
    this.fill(this.global, this.globalCapacity)
    this.fill(own, this.sourceCapacity)
    const least = Math.min(this.global.tokens, own.tokens)
    if (least < 1) return ((1 - least) / this.refill) * 1000
    this.global.tokens--
    own.tokens--
    return null
  }

  private fill(bucket: Bucket, capacity: number): void {
    const now = this.now()
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.at) / 1000) * this.refill)
    bucket.at = now
  }
}
