// A Restate server for this machine, without Docker: `node examples/order/restate-server.mjs [DATA_FOLDER]`. Its program comes from the npm registry, into
// node_modules/.cache beside this checkout's packages. It listens on loopback only, and its telemetry and that of its package are off.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const VERSION = '1.7.12'
const CONFIG = `roles = ["http-ingress", "admin", "worker", "log-server", "metadata-server"]
node-name = "node"
cluster-name = "bridle"
disable-telemetry = true
bind-ip = "127.0.0.1"
bind-port = 5122
log-filter = "warn"
[admin]
bind-address = "127.0.0.1:9070"
[ingress]
bind-address = "127.0.0.1:8080"
`

const cache = fileURLToPath(new URL(`../../node_modules/.cache/restate-${VERSION}`, import.meta.url))
const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
const program = join(cache, 'node_modules', name, 'bin', 'restate-server')
if (!existsSync(program)) {
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'package.json'), '{"private": true}')
  process.stdout.write(`installing ${name} ${VERSION} …\n`)
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${VERSION}`], {
    cwd: cache,
    env: { ...process.env, SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}
const data = resolve(process.argv[2] ?? 'restate-data')
mkdirSync(data, { recursive: true })
const config = join(dirname(program), '..', 'bridle.toml')
writeFileSync(config, CONFIG)
const server = spawn(program, ['--no-logo', '-c', config, '--base-dir', data], { stdio: 'inherit' })
process.stdout.write('ingress http://127.0.0.1:8080, admin http://127.0.0.1:9070\n')
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => void server.kill(signal))
server.on('exit', (code) => process.exit(code ?? 1))
