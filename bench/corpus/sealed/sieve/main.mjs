// Sieves of primes, factor tables and perfect numbers, with lists of booleans and lists of lists.

function sieve(limit) {
  const isPrime = Array.from({ length: limit + 1 }, (_, n) => n > 1)
  for (let p = 2; p * p <= limit; p++)
    if (isPrime[p]) for (let multiple = p * p; multiple <= limit; multiple += p) isPrime[multiple] = false
  const primes = []
  for (let n = 2; n <= limit; n++) if (isPrime[n]) primes.push(n)
  return primes
}

function segments(primes, low, high, size) {
  const found = []
  for (let start = low; start < high; start += size) {
    const isFree = Array(size).fill(true)
    for (const p of primes) {
      if (p * p >= start + size) break
      for (let multiple = Math.trunc((start + p - 1) / p) * p; multiple < start + size; multiple += p)
        isFree[multiple - start] = false
    }
    for (let i = 0; i < size; i++) if (isFree[i]) found.push(start + i)
  }
  return found
}

function factorTable(limit) {
  const table = Array.from({ length: limit + 1 }, () => [])
  for (let n = 2; n <= limit; n++) {
    if (table[n].length > 0) continue
    for (let power = n; power <= limit; power *= n)
      for (let multiple = power; multiple <= limit; multiple += power) table[multiple].push(n)
  }
  return table
}

function divisorSums(limit) {
  const sums = Array(limit + 1).fill(1)
  for (let d = 2; d <= limit / 2; d++) for (let multiple = d * 2; multiple <= limit; multiple += d) sums[multiple] += d
  return sums
}

export function run(n) {
  const quarter = Math.trunc(n / 4)
  const primes = sieve(n)
  const far = segments(primes, n, n + 2000, 500)
  const sums = divisorSums(quarter)
  const perfect = []
  for (let k = 2; k <= quarter; k++) if (sums[k] === k) perfect.push(k)
  let longest = []
  for (const list of factorTable(quarter)) if (list.length > longest.length) longest = list
  let twins = 0
  for (let i = 1; i < primes.length; i++) if (primes[i] - primes[i - 1] === 2) twins++
  return `sieve ${primes.length} ${twins} ${far.length} ${far.at(-1) ?? 0} ${longest.join('x')} ${perfect.join('+')}`
}
