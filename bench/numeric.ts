// Plain JavaScript twins of the numeric programs, and of the trees; the others are in workloads.ts.

export function nbody(): string {
  const x = [0, 4.84143144246472, 8.34336671824458, 12.894369562139131, 15.379697114850917]
  const y = [0, -1.16032004402742, 4.1247985641243, -15.11115140169863, -25.919314609987964]
  const z = [0, -0.10362204447112, -0.40352341711432, -0.22330757889265, 0.17925877295037]
  const vx = [0, 0.606326392995832, -1.01077434617879, 1.08279100644153, 0.979090732243898]
  const vy = [0, 2.81198684491626, 1.82566237123041, 0.868713018169608, 0.594698998647676]
  const vz = [0, -0.02521836165988, 0.008415761376584, -0.010832637401363, -0.034755955504078]
  const mass = [39.47841760435743, 0.03769367487038949, 0.011286326131968767, 0.0017237240570597112, 0.0020336868699246304]
  for (let step = 0; step < 2000; step++) {
    for (let i = 0; i < 5; i++) {
      for (let j = i + 1; j < 5; j++) {
        const dx = x[i]! - x[j]!
        const dy = y[i]! - y[j]!
        const dz = z[i]! - z[j]!
        const d2 = dx * dx + dy * dy + dz * dz
        const mag = 0.01 / (d2 * Math.sqrt(d2))
        const mi = mass[i]! * mag
        const mj = mass[j]! * mag
        vx[i] = vx[i]! - dx * mj
        vy[i] = vy[i]! - dy * mj
        vz[i] = vz[i]! - dz * mj
        vx[j] = vx[j]! + dx * mi
        vy[j] = vy[j]! + dy * mi
        vz[j] = vz[j]! + dz * mi
      }
    }
    for (let i = 0; i < 5; i++) {
      x[i] = x[i]! + 0.01 * vx[i]!
      y[i] = y[i]! + 0.01 * vy[i]!
      z[i] = z[i]! + 0.01 * vz[i]!
    }
  }
  return `${Math.trunc(x[0]! * 1e9)} ${Math.trunc(y[1]! * 1e6)} ${Math.trunc(z[4]! * 1e6)}`
}

function element(i: number, j: number): number {
  return 1 / (Math.trunc(((i + j) * (i + j + 1)) / 2) + i + 1)
}

function times(v: readonly number[], n: number): number[] {
  const out: number[] = []
  for (let i = 0; i < n; i++) {
    let sum = 0
    for (let j = 0; j < n; j++) sum += element(i, j) * v[j]!
    out.push(sum)
  }
  return out
}

function timesTransposed(v: readonly number[], n: number): number[] {
  const out: number[] = []
  for (let i = 0; i < n; i++) {
    let sum = 0
    for (let j = 0; j < n; j++) sum += element(j, i) * v[j]!
    out.push(sum)
  }
  return out
}

export function spectralNorm(): string {
  const n = 60
  let u: number[] = Array.from({ length: n }, () => 1)
  let v = u
  for (let round = 0; round < 10; round++) {
    v = timesTransposed(times(u, n), n)
    u = timesTransposed(times(v, n), n)
  }
  let uv = 0
  let vv = 0
  for (let i = 0; i < n; i++) {
    uv += u[i]! * v[i]!
    vv += v[i]! * v[i]!
  }
  return String(Math.trunc(Math.sqrt(uv / vv) * 1e9))
}

type Tree = readonly [Tree | null, Tree | null]

function build(depth: number): Tree {
  return depth === 0 ? [null, null] : [build(depth - 1), build(depth - 1)]
}

function count(tree: Tree): number {
  const [left, right] = tree
  return left === null || right === null ? 1 : 1 + count(left) + count(right)
}

export function binaryTrees(): string {
  let nodes = 0
  for (let round = 0; round < 20; round++) nodes += count(build(11))
  return String(nodes)
}
