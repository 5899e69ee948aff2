// Data for the scripts of hostile.ts: about the largest of each kind that scripts can have without being stopped.

/** The longest list of ints that scripts can have without being stopped. */
export const LONG = 'var xs = []\nfor i in 1 to 200000 { xs = xs.push((i * 7919) % 200003) }\n'
export const WORDS = 'var ws = []\nfor i in 1 to 80000 { ws = ws.push("word ${(i * 7919) % 80021}") }\n'
export const TEXT = 'let text = "lorem ipsum dolor sit amet, " * 60000\n'
export const RECORDS = 'var rs = []\nfor i in 1 to 50000 { rs = rs.push({id: i, name: "n${i}", tags: ["a", "b"]}) }\n'
export const DICT = 'var d = {}\nfor i in 1 to 60000 { d["k${i}"] = i }\n'
