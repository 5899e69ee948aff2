PROGRAM = """
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (map f xs) (if (null? xs) (list) (cons (f (car xs)) (map f (cdr xs)))))
(define (range a b) (if (< a b) (cons a (range (+ a 1) b)) (list)))
(define (sum xs) (if (null? xs) 0 (+ (car xs) (sum (cdr xs)))))
(define (compose f g) (lambda (x) (f (g x))))
(define square (lambda (x) (* x x)))
(define twice (compose square (lambda (x) (+ x 1))))
(list (fib SIZE) (sum (map square (range 0 (* SIZE 3)))) (sum (map twice (range 0 SIZE))))
"""


class Closure:
    def __init__(self, params, body, scope):
        self.params = params
        self.body = body
        self.scope = scope


class Scope:
    def __init__(self, names, outer):
        self.names = names
        self.outer = outer

    def look_up(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        raise KeyError(name)


PRIMITIVES = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "null?": lambda a: not a,
    "car": lambda a: a[0],
    "cdr": lambda a: a[1:],
    "cons": lambda a, b: [a] + b,
    "list": lambda *args: list(args),
}


def read_all(text):
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    at = 0

    def read():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "(":
            items = []
            while tokens[at] != ")":
                items.append(read())
            at += 1
            return items
        return int(token) if token.lstrip("-").isdigit() else token

    forms = []
    while at < len(tokens):
        forms.append(read())
    return forms


def value_of(form, scope):
    if isinstance(form, int):
        return form
    if isinstance(form, str):
        return scope.look_up(form)
    head = form[0]
    if head == "if":
        return value_of(form[2] if value_of(form[1], scope) else form[3], scope)
    if head == "lambda":
        return Closure(form[1], form[2], scope)
    if head == "define":
        target = form[1]
        if isinstance(target, list):
            scope.names[target[0]] = Closure(target[1:], form[2], scope)
        else:
            scope.names[target] = value_of(form[2], scope)
        return None
    function = value_of(head, scope)
    args = [value_of(each, scope) for each in form[1:]]
    if not isinstance(function, Closure):
        return function(*args)
    return value_of(function.body, Scope(dict(zip(function.params, args)), function.scope))


def work(n):
    total = count = 0
    for round in range(n):
        forms = read_all(PROGRAM.replace("SIZE", str(5 + round % 5)))
        scope = Scope({}, Scope(PRIMITIVES, None))
        last = None
        for form in forms:
            last = value_of(form, scope)
        count += len(forms)
        total = (total * 31 + sum(last)) % 1000003
    return f"lisp {count} {total}"
