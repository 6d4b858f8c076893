import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { VERIFY_SNIPPETS } from "./verify-snippets";

const folder = mkdtempSync(join(tmpdir(), "causeway-snippets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = `whsec_${Buffer.from("a signing key of thirty-two bytes").toString("base64")}`;
const body = '{"type":"payout.completed","data":{"name":"Bücher"}}';
const signedAt = (at: Date) => ({
  "webhook-id": "evt_1",
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": `v1,d3Jvbmc= ${new Webhook(secret).sign("evt_1", at, body)}`,
});
const now = new Date();
const CASES = [
  { what: "a right one", headers: signedAt(now), body, expected: true },
  { what: "another body", headers: signedAt(now), body: `${body} `, expected: false },
  {
    what: "six minutes old",
    headers: signedAt(new Date(now.getTime() - 360_000)),
    body,
    expected: false,
  },
  {
    what: "another signature",
    headers: { ...signedAt(now), "webhook-signature": "v1,d3Jvbmc=" },
    body,
    expected: false,
  },
];
const codeOf = (id: string): string =>
  VERIFY_SNIPPETS.find((snippet) => snippet.id === id)?.code ?? "";
const isInstalled = (command: string, flag: string): boolean =>
  spawnSync(command, [flag]).status === 0;
const input = JSON.stringify({ secret, cases: CASES });

const answersOf = (command: string, args: readonly string[], cwd = folder): unknown => {
  const run = spawnSync(command, [...args], { input, encoding: "utf8", cwd });
  expect(run.stderr).toBe("");
  return JSON.parse(run.stdout);
};
const EXPECTED = CASES.map(({ expected }) => expected);

const runTypeScript = (): unknown => {
  writeFileSync(join(folder, "verify.mjs"), codeOf("ts"));
  const main = `import { verify } from "./verify.mjs";
let text = "";
for await (const part of process.stdin) text += part;
const { secret, cases } = JSON.parse(text);
console.log(JSON.stringify(cases.map((one) => verify(secret, one.headers, one.body))));`;
  writeFileSync(join(folder, "main.mjs"), main);
  return answersOf(process.execPath, ["main.mjs"]);
};

const runPython = (): unknown => {
  writeFileSync(join(folder, "verify.py"), codeOf("python"));
  const main = `import json, sys
from verify import verify
given = json.load(sys.stdin)
print(json.dumps([verify(given["secret"], one["headers"], one["body"]) for one in given["cases"]]))`;
  writeFileSync(join(folder, "main.py"), main);
  return answersOf("python3", ["main.py"]);
};

const runGo = (): unknown => {
  const module = join(folder, "go");
  mkdirSync(join(module, "webhooks"), { recursive: true });
  writeFileSync(join(module, "go.mod"), "module check\n\ngo 1.19\n");
  writeFileSync(join(module, "webhooks", "verify.go"), codeOf("go"));
  const main = `package main
import ("check/webhooks"; "encoding/json"; "net/http"; "os")
func main() {
	var given struct { Secret string; Cases []struct { Headers map[string]string; Body string } }
	if json.NewDecoder(os.Stdin).Decode(&given) != nil { os.Exit(1) }
	answers := []bool{}
	for _, one := range given.Cases {
		header := http.Header{}
		for name, value := range one.Headers { header.Set(name, value) }
		answers = append(answers, webhooks.Verify(given.Secret, header, []byte(one.Body)))
	}
	_ = json.NewEncoder(os.Stdout).Encode(answers)
}`;
  writeFileSync(join(module, "main.go"), main);
  return answersOf("go", ["run", "."], module);
};

const RUNTIMES = [
  { name: "TypeScript", run: runTypeScript, present: true },
  { name: "Python", run: runPython, present: isInstalled("python3", "--version") },
  { name: "Go", run: runGo, present: isInstalled("go", "version") },
].filter(({ present }) => present);

test.each(RUNTIMES)(
  "the code that receivers copy accepts right signatures and no others, in $name",
  ({ run }) => {
    expect(run()).toEqual(EXPECTED);
  },
);
