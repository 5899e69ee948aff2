// Large numbers as lists of digits: factorials, powers of two, Fibonacci numbers and their digit sums.

const BASE = 10000

function fromInt(n) {
  const digits = []
  for (let left = n; left > 0; left = Math.trunc(left / BASE)) digits.push(left % BASE)
  return digits
}

function add(a, b) {
  const result = []
  let carry = 0
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const sum = (a[i] ?? 0) + (b[i] ?? 0) + carry
    result.push(sum % BASE)
    carry = Math.trunc(sum / BASE)
  }
  if (carry > 0) result.push(carry)
  return result
}

function multiplySmall(a, factor) {
  const result = [...a]
  let carry = 0
  for (let i = 0; i < a.length; i++) {
    const product = a[i] * factor + carry
    result[i] = product % BASE
    carry = Math.trunc(product / BASE)
  }
  while (carry > 0) {
    result.push(carry % BASE)
    carry = Math.trunc(carry / BASE)
  }
  return result
}

function multiply(a, b) {
  const result = Array(a.length + b.length).fill(0)
  for (let i = 0; i < a.length; i++) {
    let carry = 0
    for (let j = 0; j < b.length; j++) {
      const sum = result[i + j] + a[i] * b[j] + carry
      result[i + j] = sum % BASE
      carry = Math.trunc(sum / BASE)
    }
    result[i + b.length] += carry
  }
  while (result.length > 0 && result.at(-1) === 0) result.pop()
  return result
}

function toText(a) {
  if (a.length === 0) return '0'
  return a
    .toReversed()
    .map((digit) => String(digit).padStart(4, '0'))
    .join('')
    .replace(/^0+/, '')
}

const digitSum = (a) => [...toText(a)].reduce((sum, c) => sum + Number(c), 0)

function power(base, exponent) {
  let result = fromInt(1)
  let square = fromInt(base)
  for (let left = exponent; left > 0; left >>= 1) {
    if (left % 2 === 1) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

export function run(n) {
  let f = fromInt(1)
  for (let i = 2; i <= n; i++) f = multiplySmall(f, i)
  let a = fromInt(0)
  let b = fromInt(1)
  for (let i = 0; i < n * 4; i++) [a, b] = [b, add(a, b)]
  const text = toText(f)
  return `big_factorial ${text.length} ${digitSum(f)} ${digitSum(a)} ${digitSum(power(7, n * 3))} ${text.slice(0, 12)}`
}
