// Redirects and names that lead elsewhere: each hop is judged separately, a name is judged by its resolved addresses, and no credential of a
// request is sent to another origin, whoever set it.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRuntime } from '@bridle/stdlib-tools'
import type { RuntimeOptions } from '@bridle/stdlib-tools'
import { nodeProviders } from '@bridle/stdlib-tools/node'
import { makeCases, must } from '../../attempt.js'

const KEY = 'sk-of-the-host-77310'
const OWN = 'credential-of-the-script-5512'

interface Places {
  readonly here: string
  readonly elsewhere: string
  /** All requests that reached `elsewhere`. */
  readonly seen: readonly string[]
}

/** Two servers of different origins; `here` redirects to `elsewhere`, with any status and through another hop. */
async function between(attack: (places: Places) => Promise<void>): Promise<void> {
  const seen: string[] = []
  const far = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      seen.push(JSON.stringify([request.url, request.headers, body]))
      response.end('far away')
    })
  })
  let elsewhere = ''
  const near = createServer((request, response) => {
    const status = Number(/\d{3}/.exec(request.url ?? '')?.[0] ?? 302)
    const target = request.url?.startsWith('/twice') === true ? `/go/${status}` : `${elsewhere}/taken`
    request.resume()
    response.writeHead(status, { location: target }).end()
  })
  const open = async (server: typeof far): Promise<string> => {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  try {
    elsewhere = await open(far)
    await attack({ here: await open(near), elsewhere, seen })
  } finally {
    for (const server of [near, far]) {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  }
}

async function recordRequests(source: string, here: string, options: RuntimeOptions = {}, denyPrivate = false): Promise<string> {
  const runtime = createRuntime({
    grants: ['*'],
    providers: () =>
      nodeProviders({ http: { policy: { denyPrivate } }, secrets: { KEY: { value: KEY, origins: [here] } }, env: {} }),
    enforceManifest: false,
    ...options,
  })
  const result = await runtime.start(runtime.compile(`println(try { ${source} } catch (e) { "refused: \${e}" })`)).result
  return result.output
}

const STATUSES = [301, 302, 303, 307, 308]
const HOPS = ['go', 'twice']

const CREDENTIALS: Readonly<Record<string, string>> = {
  'a bearer of the host': 'auth: {secret: "KEY"}',
  'a password of the host': 'auth: {basic: {user: "a", password: {secret: "KEY"}}}',
  'a header of the host': 'headers: {"X-Key": {secret: "KEY"}}',
  'a bearer of the script': `auth: {bearer: "${OWN}"}`,
  'a password of the script': `auth: {basic: {user: "a", password: "${OWN}"}}`,
  Authorization: `headers: {Authorization: "Token ${OWN}"}`,
  'authorization in lower case': `headers: {authorization: "${OWN}"}`,
  'a cookie': `headers: {Cookie: "session=${OWN}"}`,
  'a key in a header of its own': `headers: {"X-Api-Key": "${OWN}"}`,
  'a token in a header of its own': `headers: {"X-Auth-Token": "${OWN}"}`,
  'credentials of a proxy': `headers: {"Proxy-Authorization": "${OWN}"}`,
}

const isTold = (texts: readonly string[], secret: string): boolean =>
  texts.some((text) => text.includes(secret) || text.includes(btoa(`a:${secret}`)))

export const cases = [
  ...makeCases(
    'keys-stay-with-origin',
    Object.fromEntries(
      Object.entries(CREDENTIALS).flatMap(([what, option]) =>
        HOPS.map((hops) => [
          `${what}, sent on ${hops === 'twice' ? 'twice' : 'once'}`,
          async () =>
            between(async ({ here, seen }) => {
              for (const status of STATUSES) {
                await recordRequests(`http_get("${here}/${hops}/${status}", {${option}}).body`, here)
                await recordRequests(`http_post("${here}/${hops}/${status}", "x", {${option}}).body`, here)
              }
              must(seen.length > 0, 'no redirect was followed: the case tries nothing')
              must(!isTold(seen, KEY) && !isTold(seen, OWN), `sent elsewhere: ${seen.join()}`)
            }),
        ]),
      ),
    ),
  ),
  ...makeCases(
    'network-stays-named',
    Object.fromEntries([
      ...HOPS.flatMap((hops) =>
        STATUSES.map((status) => [
          `a redirect ${status} to a host that no grant names, ${hops}`,
          async () =>
            between(async ({ here, seen }) => {
              const domain = here.slice('http://'.length)
              const toolGrants = { 'http.*': { domain } }
              const said = await recordRequests(`http_get("${here}/${hops}/${status}").body`, here, { toolGrants })
              must(seen.length === 0, `reached ${seen.join()}`)
              must(said.startsWith('refused: '), `says ${said}`)
            }),
        ]),
      ),
      ...['localhost', 'LOCALHOST', 'localhost.', '127.0.0.1', '[::ffff:127.0.0.1]', '0.0.0.0'].map((name) => [
        `a name that leads to this machine: ${name}`,
        async () =>
          between(async ({ here, elsewhere, seen }) => {
            const url = elsewhere.replace('127.0.0.1', name)
            const said = await recordRequests(`http_get("${url}/").body`, here, {}, true)
            must(seen.length === 0, `reached ${seen.join()}`)
            must(said.startsWith('refused: '), `says ${said}`)
          }),
      ]),
    ]),
  ),
]
