import { execFileSync } from "node:child_process";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { toCurl, toPython, toTypeScript } from "./snippets";

const BASE = "http://localhost:3000/api";
const awkward = { name: `it's "$HOME" \`id\` \\ end` };

test("a shell hands every body to curl unchanged", () => {
  const command = toCurl(BASE, {
    method: "POST",
    path: "/auth/api-keys",
    body: awkward,
    auth: "bearer",
  });
  const out = execFileSync("sh", ["-c", command.replace(/^curl/, "printf '%s\\n'")], {
    encoding: "utf8",
  });
  expect(out.split("\n")).toContain(JSON.stringify(awkward));
});

test("the TypeScript call sends the same request", async () => {
  const code = toTypeScript(BASE, { method: "POST", path: "/swap/quote", body: awkward });
  const seen: unknown[] = [];
  const fake = (url: string, options: { body: string; method: string }): unknown => {
    seen.push(url, options.method, JSON.parse(options.body));
    return { ok: true, json: () => ({}) };
  };
  // Running the text of the example is the only proof that it works.
  const run = runInNewContext(`(async (fetch, process) => { ${code} })`) as (
    fetch: unknown,
    process: unknown,
  ) => Promise<void>;
  await run(fake, { env: {} });
  expect(seen).toEqual([`${BASE}/swap/quote`, "POST", awkward]);
});

test("a call without body has no content type", () => {
  expect(toCurl(BASE, { method: "GET", path: "/wallets" })).toBe(
    `curl 'http://localhost:3000/api/wallets' \\\n  -H "x-api-key: $CAUSEWAY_API_KEY"`,
  );
});

test("the Python call names the request in Python's words, with secrets from the environment", () => {
  const body = {
    name: `it's "so"`,
    amounts: ["1", { deep: null }],
    yes: true,
    empty: [],
    missing: undefined,
  };
  expect(toPython(BASE, { method: "POST", path: "/swap/quote", body, auth: "bearer" })).toBe(
    `import json
import os
import urllib.request

request = urllib.request.Request(
    "${BASE}/swap/quote",
    method="POST",
    headers={"authorization": "Bearer " + os.environ["ACCESS_TOKEN"], "content-type": "application/json"},
    data=json.dumps({
        "name": "it's \\"so\\"",
        "amounts": [
            "1",
            {
                "deep": None,
            },
        ],
        "yes": True,
        "empty": [],
    }).encode(),
)
with urllib.request.urlopen(request) as response:
    result = json.load(response)`,
  );
  expect(toPython(BASE, { method: "GET", path: "/chains", auth: "none" })).not.toMatch(
    /import os|headers|data=/,
  );
});
