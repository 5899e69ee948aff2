import { expect, test } from 'vitest'
import { FewMap } from './few-map.js'

test('does what a map does, with none, one and many entries', () => {
  // Every sequence of six steps over three keys: set, delete and set again in all orders.
  const steps = ['a', 'b', 'c'].flatMap((key) => [
    (map: Map<string, number> | FewMap<string, number>, value: number) => void map.set(key, value),
    (map: Map<string, number> | FewMap<string, number>) => map.delete(key),
  ])
  const most = steps.length ** 5
  for (let code = 0; code < most; code += 7) {
    const few = new FewMap<string, number>()
    const map = new Map<string, number>()
    for (let rest = code, value = 1; value <= 5; value++, rest = Math.floor(rest / steps.length)) {
      const step = steps[rest % steps.length]!
      step(few, value)
      step(map, value)
      expect([...few]).toEqual([...map])
      expect([[...few.keys()], [...few.values()], few.size]).toEqual([[...map.keys()], [...map.values()], map.size])
      for (const key of ['a', 'b', 'c', 'd']) expect([few.get(key), few.has(key)]).toEqual([map.get(key), map.has(key)])
    }
    expect([...new FewMap(map)]).toEqual([...map])
  }
})
