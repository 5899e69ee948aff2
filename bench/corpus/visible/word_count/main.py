STEMS = ["the", "agent", "tool", "a", "call", "report", "of", "file", "and", "error", "to", "server"]
ENDINGS = ["", "s", "", "ing", "", "ed", ""]
MARKS = ["", "", "", ",", "", ".", "", "!", ""]


def make_text(count):
    seed = 31
    lines = []
    line = []
    for _ in range(count):
        seed = seed * 16807 % 2147483647
        word = STEMS[seed % 1000 * (seed % 7) % len(STEMS)] + ENDINGS[seed % 7] + MARKS[seed % 9]
        line.append(word.upper() if seed % 5 == 0 else word)
        if len(line) == 12:
            lines.append(" ".join(line))
            line = []
    lines.append(" ".join(line))
    return "\n".join(lines)


def words_of(text):
    words = []
    for line in text.split("\n"):
        for raw in line.split(" "):
            word = raw.lower().rstrip(".,!")
            if word:
                words.append(word)
    return words


def count_words(text):
    counts = {}
    for word in words_of(text):
        counts[word] = counts.get(word, 0) + 1
    return counts


def count_pairs(text):
    counts = {}
    before = None
    for word in words_of(text):
        if before is not None:
            key = f"{before}-{word}"
            counts[key] = counts.get(key, 0) + 1
        before = word
    return counts


def top(counts, limit):
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return " ".join(f"{key}={count}" for key, count in rows[:limit])


def work(n):
    text = make_text(n)
    words = count_words(text)
    pairs = count_pairs(text)
    long = sum(1 for word in words if len(word) > 6)
    return f"word_count {len(words)} {len(pairs)} {long} {top(words, 4)} {top(pairs, 2)}"
