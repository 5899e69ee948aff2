// An interpreter for a small Lisp: reader, environments as linked dicts, closures and recursion.

const PROGRAM = `
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (map f xs) (if (null? xs) (list) (cons (f (car xs)) (map f (cdr xs)))))
(define (range a b) (if (< a b) (cons a (range (+ a 1) b)) (list)))
(define (sum xs) (if (null? xs) 0 (+ (car xs) (sum (cdr xs)))))
(define (compose f g) (lambda (x) (f (g x))))
(define square (lambda (x) (* x x)))
(define twice (compose square (lambda (x) (+ x 1))))
(list (fib SIZE) (sum (map square (range 0 (* SIZE 3)))) (sum (map twice (range 0 SIZE))))
`

function readAll(text) {
  const tokens = text.replaceAll('(', ' ( ').replaceAll(')', ' ) ').replaceAll('\n', ' ').split(' ').filter(Boolean)
  let at = 0
  const read = () => {
    const token = tokens[at++]
    if (token === '(') {
      const items = []
      while (tokens[at] !== ')') items.push(read())
      at++
      return items
    }
    return /^-?\d+$/.test(token) ? Number(token) : { name: token }
  }
  const forms = []
  while (at < tokens.length) forms.push(read())
  return forms
}

const PRIMITIVES = new Map([
  ['+', (args) => args[0] + args[1]],
  ['-', (args) => args[0] - args[1]],
  ['*', (args) => args[0] * args[1]],
  ['<', (args) => args[0] < args[1]],
  ['null?', (args) => args[0].length === 0],
  ['car', (args) => args[0][0]],
  ['cdr', (args) => args[0].slice(1)],
  ['cons', (args) => [args[0], ...args[1]]],
  ['list', (args) => args],
])

class Scope {
  constructor(names, outer) {
    this.names = names
    this.outer = outer
  }

  lookUp(name) {
    for (let scope = this; scope !== null; scope = scope.outer) if (scope.names.has(name)) return scope.names.get(name)
    throw new Error(`no value ${name}`)
  }
}

function valueOf(form, scope) {
  if (typeof form === 'number') return form
  if (!Array.isArray(form)) return scope.lookUp(form.name)
  const [head] = form
  if (head.name === 'if') return valueOf(valueOf(form[1], scope) ? form[2] : form[3], scope)
  if (head.name === 'lambda') return { params: form[1].map((each) => each.name), body: form[2], scope }
  if (head.name === 'define') {
    const target = form[1]
    if (Array.isArray(target))
      scope.names.set(target[0].name, { params: target.slice(1).map((each) => each.name), body: form[2], scope })
    else scope.names.set(target.name, valueOf(form[2], scope))
    return null
  }
  const called = valueOf(head, scope)
  const args = []
  for (let i = 1; i < form.length; i++) args.push(valueOf(form[i], scope))
  if (typeof called === 'function') return called(args)
  const names = new Map()
  called.params.forEach((param, i) => names.set(param, args[i]))
  return valueOf(called.body, new Scope(names, called.scope))
}

export function run(n) {
  let sum = 0
  let count = 0
  for (let round = 0; round < n; round++) {
    const forms = readAll(PROGRAM.replaceAll('SIZE', String(5 + (round % 5))))
    const scope = new Scope(new Map(), new Scope(PRIMITIVES, null))
    let last = null
    for (const form of forms) last = valueOf(form, scope)
    count += forms.length
    sum = (sum * 31 + last.reduce((a, b) => a + b, 0)) % 1000003
  }
  return `lisp ${count} ${sum}`
}
