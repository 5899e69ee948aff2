// The page on which a person answers for clients without forms: what waits, with exact arguments and the script, and tools that changed. It listens
// on this machine only, under an unguessable address.

import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Plain } from '@bridle/vm'
import { LOOPBACK, readHostName } from '../mcp/http-rules.js'
import { listen } from '../mcp/server-http.js'
import { toJson } from '../mcp/server-protocol.js'
import type { Answer } from '../tools/policy/answers.js'
import type { ApprovalRequest } from '../tools/policy/approval-request.js'
import type { WaitingRun } from './decisions.js'
import { renderChange } from './gateway.js'
import type { Gateway } from './gateway.js'
import { renderCalls } from './script-lines.js'

export interface ApprovalPage {
  readonly url: string
  readonly close: () => Promise<void>
}

const MOST_BYTES = 64 << 10
/** No script, no frame, nothing from elsewhere; forms go back here. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
}

export async function serveApprovalPage(gateway: Gateway, { port = 0 }: { readonly port?: number } = {}): Promise<ApprovalPage> {
  const secret = Array.from(globalThis.crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
  const path = `/${secret}`
  const server = createServer((request, response) => {
    answer(gateway, path, request, response).catch((cause: unknown) => {
      if (response.headersSent) response.destroy()
      else send(response, 500, cause instanceof Error ? cause.message : String(cause))
    })
  })
  await listen(server, port, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(gateway: Gateway, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { host = '', origin } = request.headers
  // Under a name of its own a page of a stranger could reach this one; the path is the secret.
  if (!LOOPBACK.has(readHostName(host)) || request.url !== path) return send(response, 404, 'Not found')
  if (request.method === 'GET') return send(response, 200, await renderPage(gateway, path))
  if (request.method !== 'POST') return send(response, 405, 'Method not allowed')
  if (origin !== undefined && origin !== 'null' && origin !== `http://${host}`)
    return send(response, 403, 'Invalid Origin header')
  const form = new URLSearchParams(await readForm(request))
  const problem = await take(gateway, form)
  if (problem !== null) return send(response, 409, escapeHtml(problem))
  response.writeHead(303, { location: path })
  response.end()
}

/** Null when it is done. */
async function take(gateway: Gateway, form: URLSearchParams): Promise<string | null> {
  const change = form.get('change')
  if (change !== null) {
    const found = gateway.listChanges().find(({ key }) => key === change)
    if (found === undefined) return 'the tool has changed again, or was accepted: look at the page anew'
    gateway.lock?.accept([found])
    return null
  }
  const token = form.get('token') ?? ''
  const run = await gateway.decisions.find(token)
  if (run === null) return 'no run waits under this token any more'
  const answers: { [id: string]: Answer } = {}
  for (const request of run.requests) {
    const said = form.get(request.id)
    if (said === null || said === '') continue
    // An answer is for the arguments that were shown.
    answers[request.id] =
      request.kind === 'question'
        ? { answer: said }
        : {
            approved: said === 'yes',
            reviewer: 'page',
            ...(request.call === undefined ? {} : { binding: request.call.binding }),
          }
  }
  if (Object.keys(answers).length === 0) return 'nothing was answered'
  await gateway.decisions.decide(token, answers)
  return null
}

async function renderPage(gateway: Gateway, path: string): Promise<string> {
  const runs = await gateway.decisions.list()
  const changes = gateway.listChanges()
  const parts = [
    ...runs.map((run) => renderRun(run, path)),
    ...changes.map(
      (change) =>
        `<section><h2>A tool changed</h2><pre>${escapeHtml(renderChange(change))}</pre>
<form method="post" action="${path}"><input type="hidden" name="change" value="${escapeHtml(change.key)}"><button>Offer it as it is now</button></form></section>`,
    ),
  ]
  // Do not reload while a form is being filled in.
  const refresh = parts.length === 0 ? '<meta http-equiv="refresh" content="15">' : ''
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh}
<title>Approvals</title><style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{background:#f4f4f4;padding:1rem;overflow:auto}section{border-top:1px solid #ccc}</style>
<h1>Approvals</h1>${parts.length === 0 ? '<p>Nothing waits for you.</p>' : parts.join('\n')}</html>`
}

function renderRun({ token, requests, source }: WaitingRun, path: string): string {
  const asked = requests.map(
    (request) => `<h2>${escapeHtml(request.prompt)}</h2>${renderRequest(request)}
${request.call === undefined ? '' : `<details><summary>The script</summary><pre>${escapeHtml(renderCalls(source, request.call.tool))}</pre></details>`}
${renderField(request)}`,
  )
  return `<section><form method="post" action="${path}"><input type="hidden" name="token" value="${escapeHtml(token)}">${asked.join('\n')}
<p><button>Answer</button></p></form></section>`
}

function renderRequest({ call, payload }: ApprovalRequest): string {
  const shown = call === undefined ? payload : { calls: call.identity, arguments: call.args, until: call.expiresAt }
  return `<pre>${escapeHtml(JSON.stringify(toJson(shown as unknown as Plain), null, 2))}</pre>`
}

function renderField({ id, kind }: ApprovalRequest): string {
  const name = escapeHtml(id)
  if (kind === 'question') return `<p><label>Answer <input name="${name}" autocomplete="off"></label></p>`
  return `<p><label><input type="radio" name="${name}" value="yes"> Approve</label> <label><input type="radio" name="${name}" value="no"> Deny</label></p>`
}

async function readForm(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('the form is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, HEADERS)
  response.end(body)
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
