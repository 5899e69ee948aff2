def typed(text):
    if text in ("yes", "no"):
        return text == "yes"
    if text.startswith('"'):
        return text[1:-1]
    return int(text) if text.lstrip("-").isdigit() else text


def read_settings(text):
    sections = {}
    current = "global"
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare == "" or bare.startswith(";"):
            continue
        if bare.startswith("[") and bare.endswith("]"):
            current = bare[1:-1]
            sections.setdefault(current, {})
            continue
        at = bare.find("=")
        if at < 0:
            raise ValueError(f"{number}: no = in {bare}")
        sections[current][bare[:at].strip()] = typed(bare[at + 1 :].strip())
    return sections


def make_test(words):
    field = words[0]
    if len(words) == 1:
        return lambda section: section.get(field) is True
    operator, wanted = words[1], words[2]
    if operator == "contains":
        return lambda section: wanted in str(section.get(field, ""))
    if operator == "<":
        return lambda section: section.get(field, 0) < int(wanted)
    if operator == ">":
        return lambda section: section.get(field, 0) > int(wanted)
    raise ValueError(f"no test {operator}")


def answer(settings, query):
    words = query.split(" ")
    test = make_test(words[2:])
    return [section[words[0]] for section in settings.values() if words[0] in section and test(section)]


def work(n):
    lines = ["; a comment", "[global]", "level = 3", 'name = "main host"']
    for i in range(n):
        active = "yes" if i % 3 == 0 else "no"
        lines += ["", f"[server.{i}]", f"port = {8000 + i}", f"host = h{i % 10}.example", f"weight = {i % 4}", f"active = {active}"]
    settings = read_settings("\n".join(lines))
    results = []
    for query in ["port where active", "weight where host contains h3", "port where weight > 1", "weight where port < 8020"]:
        values = answer(settings, query)
        results.append(f"{len(values)}/{sum(values)}")
    return f"ini_query {len(settings)} {' '.join(results)}"
