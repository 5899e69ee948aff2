def make_csv(count):
    lines = ['id,region,"product, name",amount,price']
    seed = 101
    for i in range(count):
        seed = seed * 16807 % 2147483647
        region = ["north", "south", "east", "west"][seed % 4]
        product = f'"nut, hex ""M{seed % 5}"""' if seed % 3 == 0 else f"bolt {seed % 8}"
        lines.append(f"{i},{region},{product},{seed % 50},{seed % 90}.{seed % 10}")
    return "\n".join(lines) + "\n"


def parse_csv(text):
    rows = []
    row = []
    cell = ""
    quoted = False
    at = 0
    while at < len(text):
        c = text[at]
        if quoted:
            if c != '"':
                cell += c
            elif text[at + 1] == '"':
                cell += '"'
                at += 1
            else:
                quoted = False
        elif c == '"':
            quoted = True
        elif c == ",":
            row.append(cell)
            cell = ""
        elif c == "\n":
            row.append(cell)
            rows.append(row)
            row = []
            cell = ""
        else:
            cell += c
        at += 1
    return rows


def summarize(records):
    groups = {}
    for record in records:
        groups.setdefault(record["region"], []).append(record)
    rows = []
    for region in sorted(groups):
        amount = revenue = 0
        best = None
        for record in groups[region]:
            count = int(record["amount"])
            worth = count * int(float(record["price"]) * 10 + 0.5)
            amount += count
            revenue += worth
            if best is None or worth > best[0]:
                best = (worth, record["id"])
        rows.append({"region": region, "rows": len(groups[region]), "amount": amount, "revenue": revenue, "best": best[1]})
    return sorted(rows, key=lambda row: -row["revenue"])


def render_table(rows):
    out = ["region".ljust(8) + "rows".rjust(6) + "amount".rjust(8) + "revenue".rjust(12)]
    for row in rows:
        cells = [str(row["rows"]).rjust(6), str(row["amount"]).rjust(8), str(row["revenue"]).rjust(12)]
        out.append(row["region"].ljust(8) + "".join(cells))
    return "\n".join(out)


def work(n):
    names, *lines = parse_csv(make_csv(n))
    records = [dict(zip(names, line)) for line in lines]
    rows = summarize(records)
    table = render_table(rows)
    products = {record["product, name"] for record in records}
    return f"csv_report {len(records)} {len(table)} {len(products)} {rows[0]['region']} {rows[0]['revenue']} {rows[1]['best']}"
