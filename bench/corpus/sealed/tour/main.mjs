// A short round trip: nearest neighbours first, then 2-opt until no exchange helps.

function makeCities(count) {
  let seed = 1009
  const cities = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const x = (seed % 1000) / 10
    seed = (seed * 16807) % 2147483647
    cities.push({ x, y: (seed % 1000) / 10 })
  }
  return cities
}

function distanceTable(cities) {
  return cities.map((a) =>
    cities.map((b) => {
      const dx = a.x - b.x
      const dy = a.y - b.y
      return Math.sqrt(dx * dx + dy * dy)
    }),
  )
}

function lengthOf(tour, distances) {
  return tour.reduce((sum, city, i) => sum + distances[city][tour[(i + 1) % tour.length]], 0)
}

function nearestTour(distances, start) {
  const visited = distances.map(() => false)
  const tour = [start]
  visited[start] = true
  while (tour.length < distances.length) {
    const row = distances[tour.at(-1)]
    let best = -1
    for (let city = 0; city < distances.length; city++) if (!visited[city] && (best < 0 || row[city] < row[best])) best = city
    visited[best] = true
    tour.push(best)
  }
  return tour
}

function reversePart(tour, from, to) {
  for (let low = from, high = to; low < high; low++, high--) [tour[low], tour[high]] = [tour[high], tour[low]]
}

function improve(start, distances, rounds) {
  const tour = [...start]
  let exchanges = 0
  const count = tour.length
  for (let round = 0; round < rounds; round++) {
    let isBetter = false
    for (let i = 0; i < count - 2; i++) {
      for (let j = i + 2; j < count; j++) {
        if (i === 0 && j === count - 1) continue
        const a = tour[i]
        const b = tour[i + 1]
        const c = tour[j]
        const d = tour[(j + 1) % count]
        if (distances[a][c] + distances[b][d] < distances[a][b] + distances[c][d] - 0.000001) {
          reversePart(tour, i + 1, j)
          exchanges++
          isBetter = true
        }
      }
    }
    if (!isBetter) break
  }
  return { tour, exchanges }
}

export function run(n) {
  const distances = distanceTable(makeCities(n))
  const first = nearestTour(distances, 0)
  const { tour, exchanges } = improve(first, distances, 6)
  const sum = tour.reduce((total, city) => (total * 31 + city) % 1000003, 0)
  const [before, after] = [first, tour].map((each) => Math.floor(lengthOf(each, distances) * 100))
  return `tour ${before} ${after} ${exchanges} ${sum}`
}
