WORDS = ["the", "file", "was", "read", "and", "token=abc", "changed", "by", "key=s3cret", "a", "tool"]
ROLES = ["user", "assistant", "tool", "assistant", "assistant"]


def sentence(at, count):
    words = []
    for _ in range(count):
        words.append(WORDS[at % len(WORDS)])
        at = (at * 7 + 3) % 1009
    return " ".join(words)


def make_transcript(number, count):
    messages = [{"role": "system", "text": f"You are number {number}.", "at": 0}]
    for i in range(1, count + 1):
        seed = number * 31 + i * 17
        messages.append({"role": ROLES[seed % 5], "text": sentence(seed, seed % 23 + 4), "at": i})
    return messages


def estimate_tokens(message):
    return len(message["text"]) // 4 + 3


def total_tokens(messages):
    return sum(estimate_tokens(message) for message in messages)


def join_turns(messages):
    out = []
    for message in messages:
        if out and out[-1]["role"] == message["role"] and message["role"] != "tool":
            out[-1]["text"] += "\n" + message["text"]
        else:
            out.append(dict(message))
    return out


def redact_text(text):
    return "\n".join(
        " ".join(word.split("=")[0] + "=***" if "=" in word else word for word in line.split(" "))
        for line in text.split("\n")
    )


def redact(messages):
    return [{**message, "text": redact_text(message["text"])} for message in messages]


def fit(messages, budget):
    out = [dict(message) for message in messages]
    total = total_tokens(out)
    for message in out:
        if total <= budget:
            return out
        if message["role"] == "tool":
            size = estimate_tokens(message)
            message["text"] = f"[masked {size} tokens]"
            total += estimate_tokens(message) - size
    while total > budget and len(out) > 2:
        total -= estimate_tokens(out[1])
        del out[1]
    return out


def work(n):
    before = after = masked = kept = 0
    for i in range(n):
        messages = make_transcript(i, 12 + i % 9)
        before += total_tokens(messages)
        short = fit(redact(join_turns(messages)), 120)
        after += total_tokens(short)
        masked += sum(1 for message in short if message["text"].startswith("[masked"))
        kept += len(short)
    return f"transcript_filter {before} {after} {masked} {kept}"
