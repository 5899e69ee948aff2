import json


def make_answer(count):
    issues = []
    for i in range(count):
        issues.append(
            {
                "number": i,
                "title": f"Issue {i}: {'crash' if i % 3 == 0 else 'question'}",
                "user": {"login": f"user{i % 17}"},
                "labels": [{"name": f"label-{(i + k) % 6}", "color": f"#{k}{k}{k}"} for k in range(i % 4)],
                "state": "closed" if i % 4 == 0 else "open",
                "comments": i * 7 % 12,
                "body": None if i % 5 == 0 else f"Some text about {i}",
            }
        )
    users = [{"login": f"user{u}", "name": f"Name {u}", "team": ["core", "docs", "web"][u % 3]} for u in range(15)]
    return json.dumps({"issues": issues, "users": users, "next": None})


def group_issues(issues, users):
    groups = {}
    for issue in issues:
        user = users.get(issue["user"]["login"])
        entry = {
            "number": issue["number"],
            "author": user["name"] if user else issue["user"]["login"],
            "labels": [label["name"] for label in issue["labels"]],
            "is_open": issue["state"] == "open",
            "comments": issue["comments"],
            "length": len(issue["body"] or ""),
        }
        groups.setdefault(user["team"] if user else "none", []).append(entry)
    return groups


def busiest(entries):
    by_author = {}
    for entry in entries:
        by_author[entry["author"]] = by_author.get(entry["author"], 0) + entry["comments"]
    best = {"author": "", "comments": -1}
    for author in sorted(by_author):
        if by_author[author] > best["comments"]:
            best = {"author": author, "comments": by_author[author]}
    return best


def to_report(groups):
    teams = []
    labels = {}
    total = 0
    for name in sorted(groups):
        entries = groups[name]
        shown = [entry for entry in entries if entry["is_open"]]
        total += sum(entry["comments"] for entry in entries)
        for entry in entries:
            for label in entry["labels"]:
                labels[label] = labels.get(label, 0) + 1
        teams.append(
            {
                "busiest": busiest(entries),
                "length": sum(entry["length"] for entry in entries),
                "name": name,
                "numbers": [entry["number"] for entry in sorted(shown, key=lambda e: -e["comments"])[:5]],
                "open": len(shown),
            }
        )
    return {"labels": len(labels), "teams": sorted(teams, key=lambda team: -team["open"]), "total": total}


def work(n):
    answer = json.loads(make_answer(n))
    users = {user["login"]: user for user in answer["users"]}
    text = json.dumps(to_report(group_issues(answer["issues"], users)), separators=(",", ":"))
    again = json.loads(text)
    return f"json_reshape {len(text)} {len(again['teams'])} {again['teams'][0]['name']} {again['total']} {again['labels']}"
