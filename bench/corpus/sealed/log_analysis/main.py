def make_log(count):
    lines = []
    seed = 17
    time = 0
    for i in range(count):
        seed = seed * 16807 % 2147483647
        time += seed % 7
        level = ["INFO", "INFO", "WARN", "INFO", "ERROR"][seed % 5]
        service = ["api", "db", "mail"][seed % 3]
        text = f"{time // 60:02d}:{time % 60:02d} {level} [{service}] took {seed % 900}ms id={i} user=u{seed % 13}"
        lines.append("-- rotated --" if i % 41 == 40 else text)
    return "\n".join(lines)


def parse_line(line):
    words = line.split(" ")
    if len(words) < 5 or not words[2].startswith("["):
        return None
    minute, second = words[0].split(":")
    fields = dict(word.split("=") for word in words[5:] if "=" in word)
    return {
        "minute": int(minute),
        "second": int(second),
        "level": words[1],
        "service": words[2].strip("[]"),
        "took": int(words[4].replace("ms", "")),
        "fields": fields,
    }


def summarize(records):
    rows = {}
    for record in records:
        key = f"{record['service']} {record['minute']:04d}"
        row = rows.get(key)
        if row is None:
            row = rows[key] = {
                "service": record["service"],
                "minute": record["minute"],
                "count": 0,
                "errors": 0,
                "total": 0,
                "worst": 0,
            }
        row["count"] += 1
        row["total"] += record["took"]
        row["worst"] = max(row["worst"], record["took"])
        if record["level"] == "ERROR":
            row["errors"] += 1
    return [rows[key] for key in sorted(rows)]


def alerts(rows):
    found = []
    before = None
    for row in rows:
        if row["errors"] * 3 > row["count"]:
            found.append(f"{row['service']}@{row['minute']}: {row['errors']} of {row['count']}")
        if before and before["service"] == row["service"] and row["total"] > before["total"] * 2:
            found.append(f"{row['service']}@{row['minute']}: {before['total']} to {row['total']}")
        before = row
    return found


def work(n):
    parsed = [parse_line(line) for line in make_log(n).split("\n")]
    records = [record for record in parsed if record]
    rows = summarize(records)
    found = alerts(rows)
    times = sorted(record["took"] for record in records)
    users = {record["fields"]["user"] for record in records}
    slow = times[len(times) * 95 // 100]
    return f"log_analysis {len(records)} {len(parsed) - len(records)} {len(rows)} {len(found)} {slow} {len(users)} {found[-1]}"
