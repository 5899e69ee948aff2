// Requests go through a chain of closures: logging, limits, caching and routes with parameters.

const compose = (layers, last) => layers.reduceRight((next, layer) => layer(next), last)

const counting = (counter) => (next) => (request) => {
  counter.value++
  return next(request)
}

const limiting = (limit) => (next) => (request) =>
  request.at % limit === 4 && request.user === 'u3' ? { status: 429, body: `slow down, ${request.user}` } : next(request)

const memo = (misses) => {
  const remembered = new Map()
  return (next) => (request) => {
    const known = request.method === 'GET' ? remembered.get(request.path) : undefined
    if (known !== undefined) return known
    misses.value++
    const response = next(request)
    remembered.set(request.path, response)
    return response
  }
}

const showUser = (params) => ({ status: 200, body: `user ${params.id}` })

const showPost = (params, request) =>
  request.method === 'POST'
    ? { status: 201, body: `made ${params.post} of ${params.id}` }
    : { status: 200, body: `post ${params.post} of ${params.id}` }

function search(params, request) {
  const hits = []
  for (let k = 0; k < 8; k++) hits.push(`hit ${(k * 7) % 5} for ${request.user}`)
  return { status: 200, body: hits.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).join('\n') }
}

function matchPath(pattern, parts) {
  if (pattern.length !== parts.length) return null
  const params = {}
  for (let i = 0; i < parts.length; i++) {
    if (pattern[i].startsWith(':')) params[pattern[i].slice(1)] = parts[i]
    else if (pattern[i] !== parts[i]) return null
  }
  return params
}

function makeRouter() {
  const routes = [
    { pattern: '/users/:id', handle: showUser },
    { pattern: '/users/:id/posts/:post', handle: showPost },
    { pattern: '/search', handle: search },
    { pattern: '/static/:file', handle: (params) => ({ status: 200, body: `file ${params.file}` }) },
  ].map(({ pattern, handle }) => ({ pattern: pattern.split('/'), handle }))
  return (request) => {
    const parts = request.path.split('/')
    for (const route of routes) {
      const params = matchPath(route.pattern, parts)
      if (params !== null) return route.handle(params, request)
    }
    return { status: 404, body: `nothing at ${request.path}` }
  }
}

function makePath(i, seed) {
  switch (seed % 5) {
    case 0:
      return `/users/${seed % 40}`
    case 1:
      return `/users/${seed % 40}/posts/${i % 10}`
    case 2:
      return '/search'
    case 3:
      return '/static/app.js'
    default:
      return `/missing/${seed % 3}`
  }
}

export function run(n) {
  const seen = { value: 0 }
  const slow = { value: 0 }
  const handler = compose([counting(seen), limiting(5), memo(slow)], makeRouter())
  const codes = new Map()
  let sum = 0
  let seed = 4242
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    const request = { method: seed % 11 === 0 ? 'POST' : 'GET', path: makePath(i, seed), user: `u${seed % 6}`, at: i }
    const response = handler(request)
    codes.set(response.status, (codes.get(response.status) ?? 0) + 1)
    sum = (sum * 31 + response.body.length) % 1000003
  }
  const parts = [...codes].sort(([a], [b]) => a - b).map(([code, count]) => `${code}:${count}`)
  return `middleware ${seen.value} ${slow.value} ${parts.join(' ')} ${sum}`
}
