// A collector of OpenTelemetry: accepts OTLP over HTTP, as protobuf or JSON, and returns spans and metrics as plain records. Written from the
// protocol's field numbers, independent of the SDK that sends.

import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly attributes: Attributes
  readonly status: { readonly code: number; readonly message: string }
}

export interface Metric {
  readonly name: string
  readonly unit: string
  readonly points: readonly {
    readonly count: number
    readonly sum: number
    readonly bounds: readonly number[]
    readonly attributes: Attributes
  }[]
}

export interface Attributes {
  readonly [name: string]: unknown
}

export interface Received {
  readonly spans: Span[]
  readonly metrics: Metric[]
  readonly resources: Attributes[]
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[]
}

export async function startCollector(): Promise<{ readonly url: string; readonly received: Received; close(): Promise<void> }> {
  const received: Received = { spans: [], metrics: [], resources: [], requests: [] }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const path = request.url ?? ''
      received.requests.push({ path, headers: request.headers })
      const sent = Buffer.concat(pieces)
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      if (request.headers['content-type'] === 'application/x-protobuf') takeProtobuf(received, path, body)
      else takeJson(received, path, JSON.parse(body.toString()) as Json)
      response.writeHead(200, { 'content-type': request.headers['content-type'] ?? '' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

// ------------------------------------------------------------------------------------------------------------------- JSON

type Json = { readonly [key: string]: unknown }

function takeJson(received: Received, path: string, body: Json): void {
  if (!path.endsWith('/v1/traces')) return
  for (const resource of body['resourceSpans'] as readonly Json[])
    for (const scope of resource['scopeSpans'] as readonly Json[])
      for (const span of scope['spans'] as readonly Json[])
        received.spans.push({
          traceId: String(span['traceId']),
          spanId: String(span['spanId']),
          parentSpanId: String(span['parentSpanId'] ?? ''),
          name: String(span['name']),
          kind: Number(span['kind']),
          attributes: {},
          status: { code: Number((span['status'] as Json)['code'] ?? 0), message: '' },
        })
}

// --------------------------------------------------------------------------------------------------------------- protobuf

type Fields = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>

/** Fields of a message by number: varints and fixed numbers as bits, all others as bytes. */
function readFields(bytes: Uint8Array): Fields {
  const fields = new Map<number, (bigint | Uint8Array)[]>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const readVarint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(readVarint())
    let value: bigint | Uint8Array
    if ((tag & 7) === 0) value = readVarint()
    else if ((tag & 7) === 1) {
      value = view.getBigUint64(at, true)
      at += 8
    } else if ((tag & 7) === 5) {
      value = BigInt(view.getUint32(at, true))
      at += 4
    } else {
      const length = Number(readVarint())
      value = bytes.subarray(at, at + length)
      at += length
    }
    const number = tag >> 3
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

const listMessages = (fields: Fields, number: number): readonly Fields[] =>
  (fields.get(number) ?? []).map((value) => readFields(value as Uint8Array))
const readBytes = (fields: Fields, number: number): Uint8Array =>
  (fields.get(number)?.[0] as Uint8Array | undefined) ?? new Uint8Array()
const readText = (fields: Fields, number: number): string => Buffer.from(readBytes(fields, number)).toString()
const readHex = (fields: Fields, number: number): string => Buffer.from(readBytes(fields, number)).toString('hex')
const readCount = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0)

function toDouble(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, bits)
  return view.getFloat64(0)
}

function readAttributes(entries: readonly Fields[]): Attributes {
  return Object.fromEntries(entries.map((entry) => [readText(entry, 1), readValue(listMessages(entry, 2)[0]!)]))
}

/** AnyValue. */
function readValue(value: Fields): unknown {
  const [number, found] = [...value][0] ?? [0, []]
  const first = found[0]
  if (number === 1) return readText(value, 1)
  if (number === 2) return first === 1n
  if (number === 3) return Number(BigInt.asIntN(64, first as bigint))
  if (number === 4) return toDouble(first as bigint)
  return number === 5 ? listMessages(readFields(first as Uint8Array), 1).map(readValue) : null
}

function takeProtobuf(received: Received, path: string, body: Uint8Array): void {
  for (const group of listMessages(readFields(body), 1)) {
    received.resources.push(readAttributes(listMessages(listMessages(group, 1)[0]!, 1)))
    for (const scope of listMessages(group, 2))
      for (const item of listMessages(scope, 2))
        if (path.endsWith('/v1/traces')) received.spans.push(readSpan(item))
        else received.metrics.push(readMetric(item))
  }
}

function readSpan(span: Fields): Span {
  const status = listMessages(span, 15)[0] ?? new Map<number, never>()
  return {
    traceId: readHex(span, 1),
    spanId: readHex(span, 2),
    parentSpanId: readHex(span, 4),
    name: readText(span, 5),
    kind: readCount(span, 6),
    attributes: readAttributes(listMessages(span, 9)),
    status: { code: readCount(status, 3), message: readText(status, 2) },
  }
}

/** Histograms only. */
function readMetric(metric: Fields): Metric {
  const points = listMessages(metric, 9).flatMap((histogram) => listMessages(histogram, 1))
  return {
    name: readText(metric, 1),
    unit: readText(metric, 3),
    points: points.map((point) => ({
      attributes: readAttributes(listMessages(point, 9)),
      count: readCount(point, 4),
      sum: toDouble((point.get(5)?.[0] as bigint | undefined) ?? 0n),
      bounds: readDoubles(readBytes(point, 7)),
    })),
  }
}

function readDoubles(packed: Uint8Array): readonly number[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  return Array.from({ length: packed.byteLength / 8 }, (_, at) => view.getFloat64(at * 8, true))
}
