// Powers by squaring modulo a number, Miller-Rabin tests, Pollard's rho and greatest common divisors.

function powerMod(base, exponent, modulus) {
  let result = 1n
  let square = BigInt(base % modulus)
  const m = BigInt(modulus)
  for (let left = exponent; left > 0; left = Math.trunc(left / 2)) {
    if (left % 2 === 1) result = (result * square) % m
    square = (square * square) % m
  }
  return Number(result)
}

/** Below 2 ** 26 a square of a number is exact. */
function smallPowerMod(base, exponent, modulus) {
  let result = 1
  let square = base % modulus
  for (let left = exponent; left > 0; left = Math.trunc(left / 2)) {
    if (left % 2 === 1) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

function passes(witness, n, odd, twos) {
  let x = smallPowerMod(witness, odd, n)
  if (x === 1 || x === n - 1) return true
  for (let i = 1; i < twos; i++) {
    x = (x * x) % n
    if (x === n - 1) return true
  }
  return false
}

function isProbablePrime(n) {
  for (const small of [2, 3, 5, 7]) if (n % small === 0) return n === small
  let odd = n - 1
  let twos = 0
  while (odd % 2 === 0) {
    odd /= 2
    twos++
  }
  return [2, 3, 5].every((witness) => passes(witness, n, odd, twos))
}

function gcd(a, b) {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}

function findFactor(n) {
  if (n % 2 === 0) return 2
  for (let c = 1; c <= 20; c++) {
    let slow = 2
    let fast = 2
    let divisor = 1
    while (divisor === 1) {
      slow = (slow * slow + c) % n
      fast = (fast * fast + c) % n
      fast = (fast * fast + c) % n
      divisor = gcd(Math.abs(slow - fast), n)
    }
    if (divisor !== n) return divisor
  }
  let d = 3
  while (n % d !== 0) d += 2
  return d
}

function factorize(n) {
  if (n === 1) return []
  if (isProbablePrime(n)) return [n]
  const factor = findFactor(n)
  return [...factorize(factor), ...factorize(n / factor)].sort((a, b) => a - b)
}

function orderOf(base, modulus) {
  let value = base % modulus
  let count = 1
  while (value !== 1 && count < 400) {
    value = (value * base) % modulus
    count++
  }
  return count
}

export function run(n) {
  let primes = 0
  let factors = 0
  let sum = 0
  let seed = 31337
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    const number = (seed % 2000000) + 1001 + (i % 2)
    if (isProbablePrime(number)) {
      primes++
      sum = (sum * 31 + orderOf(2, number)) % 1000003
    } else {
      const found = factorize(number)
      factors += found.length
      if (found.reduce((product, factor) => product * factor, 1) !== number) throw new Error(`${number} is not ${found}`)
      sum = (sum * 31 + found.at(-1)) % 1000003
    }
  }
  return `prime_tests ${primes} ${factors} ${sum} ${powerMod(3, 1000000, 1000000007)}`
}
