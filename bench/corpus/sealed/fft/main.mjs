// A fast Fourier transform over structs of complex numbers, used to multiply polynomials and to filter a signal.

class Complex {
  constructor(re, im) {
    this.re = re
    this.im = im
  }

  plus(other) {
    return new Complex(this.re + other.re, this.im + other.im)
  }

  minus(other) {
    return new Complex(this.re - other.re, this.im - other.im)
  }

  times(other) {
    return new Complex(this.re * other.re - this.im * other.im, this.re * other.im + this.im * other.re)
  }

  conjugate() {
    return new Complex(this.re, 0 - this.im)
  }
}

const TAU = 6.283185307179586

function fft(values) {
  const count = values.length
  if (count === 1) return values
  const low = fft(values.filter((_, i) => i % 2 === 0))
  const high = fft(values.filter((_, i) => i % 2 === 1))
  const half = count / 2
  const front = []
  const back = []
  for (let k = 0; k < half; k++) {
    const angle = 0 - (TAU * k) / count
    const turned = new Complex(Math.cos(angle), Math.sin(angle)).times(high[k])
    front.push(low[k].plus(turned))
    back.push(low[k].minus(turned))
  }
  return [...front, ...back]
}

function inverse(values) {
  const count = values.length
  return fft(values.map((value) => value.conjugate())).map((value) => value.re / count)
}

function padded(signal, size) {
  const values = signal.map((x) => new Complex(x, 0))
  while (values.length < size) values.push(new Complex(0, 0))
  return values
}

function convolve(a, b) {
  const size = a.length * 2
  const left = fft(padded(a, size))
  const right = fft(padded(b, size))
  return inverse(left.map((value, i) => value.times(right[i])))
}

function lowPass(signal, keep) {
  const spectrum = fft(padded(signal, signal.length))
  for (let k = keep; k <= spectrum.length - keep; k++) spectrum[k] = new Complex(0, 0)
  return inverse(spectrum)
}

const makeSignal = (size, step) => Array.from({ length: size }, (_, i) => ((i * step) % 23) + (i % 5) * 2)

export function run(n) {
  const size = 64
  let sum = 0
  let rough = 0
  for (let k = 0; k < n; k++) {
    const a = makeSignal(size, 37 + k)
    for (const value of convolve(a, makeSignal(size, 41 + k).toReversed())) sum += Math.round(value)
    const smooth = lowPass(a, size / 8)
    for (let i = 1; i < smooth.length; i++) rough += Math.abs(smooth[i] - smooth[i - 1])
  }
  return `fft ${sum} ${Math.floor(rough * 1000)}`
}
