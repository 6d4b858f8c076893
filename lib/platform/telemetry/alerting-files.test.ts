/** Reads the scrape configuration, the rules, Alertmanager's files and compose.yaml together. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const ROOT = new URL("../../../", import.meta.url);
const RULES = "ops/prometheus/rules.yml";
const SCRAPING = "ops/prometheus/prometheus.yml";
const RECEIVERS = ["ops/alertmanager/alertmanager.yml", "ops/alertmanager/mail.yml"];
const TOKEN_FILE = "/etc/causeway/metrics-token";
const SECRET_FILE = "/etc/causeway/alert-secret";
/** Metrics of Prometheus itself and of exporters of others that compose.yaml starts. */
const OF_OTHERS = ["up", "node_filesystem_avail_bytes", "node_filesystem_size_bytes"];
/** A busy machine takes seconds for the tests of the rules. */
const TOOL_MS = 60_000;
const WORDS = new Set(["and", "or", "unless", "by", "without", "on"]);

const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const firsts = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, first = ""]) => first);
const without = (found: readonly string[], known: readonly string[]): string[] =>
  found.filter((each) => !known.includes(each));

/** The services of compose.yaml with their texts. */
const services = (): ReadonlyMap<string, string> => {
  const [, listed = ""] = /^services:\n([\s\S]*?)^configs:$/m.exec(read("compose.yaml")) ?? [];
  const parts = listed.split(/^ {2}(?=[a-z-]+:$)/m).filter((part) => part.trim() !== "");
  return new Map(parts.map((part) => [part.slice(0, part.indexOf(":")), part]));
};

interface Scraped {
  readonly job: string;
  /** The addresses that Prometheus asks, each as `host:port`. */
  readonly targets: readonly string[];
}

const targetsOf = (text: string): string[] => [
  ...firsts(text, /targets: \[([^\]]*)\]/g).flatMap((list) => firsts(list, /"([^"]+)"/g)),
  ...Array.from(
    text.matchAll(/names: \[([a-z-]+)\], type: A, port: (\d+)/g),
    ([, name = "", port = ""]) => `${name}:${port}`,
  ),
];

const scraped = (): Scraped[] => {
  const [, configured = ""] = read(SCRAPING).split("scrape_configs:");
  return configured
    .split("- job_name: ")
    .slice(1)
    .map((text) => ({ job: text.split("\n", 1)[0] ?? "", targets: targetsOf(text) }));
};

const expressions = (): string[] =>
  Array.from(read(RULES).matchAll(/expr: (['"])(.*)\1/g), ([, , text = ""]) => text);

/** Names of metrics in an expression, without functions, labels, durations and operators. */
const metricsIn = (expression: string): string[] => {
  const bare = expression
    .replace(/"[^"]*"/g, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replace(/\b(?:by|without|on) \([^)]*\)/g, "");
  return firsts(bare, /\b([a-z_][a-z0-9_]*)\b(?! *\()/g).filter((word) => !WORDS.has(word));
};

const serviceOf = (target: string): string => target.split(":")[0] ?? "";

test("whatever is scraped is a service of compose.yaml, and has a job that the alert on lost instances covers", () => {
  const known = [...services().keys()];
  expect(known).toContain("worker");
  const jobs = scraped();
  expect(jobs.map(({ job }) => job)).toContain("causeway-worker");
  for (const { job, targets } of jobs) {
    expect([job, targets]).toEqual([job, [expect.stringMatching(/^[a-z-]+:\d+$/)]]);
    expect(without(targets.map(serviceOf), known)).toEqual([]);
  }
  const covered = firsts(read(RULES), /up\{job=~"([^"]+)"\}/g);
  expect(covered.length).toBeGreaterThan(0);
  const names = [
    ...jobs.map(({ job }) => job),
    ...firsts(read("docs/operations.md"), /job_name: (\S+)/g),
  ];
  for (const pattern of covered)
    expect(names.filter((job) => !new RegExp(`^(?:${pattern})$`).test(job))).toEqual([]);
});

test("the ports that are scraped are those on which the services answer", () => {
  const all = services();
  const ports = new Map(scraped().map(({ job, targets }) => [job, targets[0]?.split(":")[1]]));
  expect(all.get("worker")).toContain(`METRICS_PORT: "${ports.get("causeway-worker") ?? ""}"`);
  expect(read("Dockerfile")).toMatch(
    new RegExp(`PORT=${ports.get("causeway-web") ?? "none"}\\b`),
  );
});

test("the rules name only jobs that are scraped, and only metrics of the service and of exporters that are started", () => {
  const all = expressions();
  expect(all.length).toBeGreaterThan(30);
  const jobs = scraped().map(({ job }) => job);
  const named = all.flatMap((text) => firsts(text, /\bjob="([^"]+)"/g));
  expect(named).toContain("causeway-web");
  expect(without(named, jobs)).toEqual([]);
  const metrics = all.flatMap(metricsIn);
  // ops-files.test.ts compares the service's own metrics with the registry.
  const others = metrics.filter((name) => !name.startsWith("causeway_"));
  expect(others).toContain("up");
  expect(without(others, OF_OTHERS)).toEqual([]);
  expect(services().get("node-exporter")).toContain("image: prom/node-exporter:v");
});

test("alerts go to a service of compose.yaml, whose route ends at receivers that are complete", () => {
  const [alerting = ""] = read(SCRAPING).split("scrape_configs:");
  expect(targetsOf(alerting).map(serviceOf)).toEqual(["alertmanager"]);
  const alertmanager = services().get("alertmanager") ?? "";
  expect(alertmanager).toContain(RECEIVERS[0]);
  expect(alertmanager).toContain(`target: ${SECRET_FILE}`);
  expect(services().get("prometheus")).toContain(`target: ${TOKEN_FILE}`);
  for (const path of RECEIVERS) {
    const [routes = "", receivers = ""] = read(path).split(/^receivers:$/m);
    const complete = receivers
      .split("- name: ")
      .slice(1)
      .filter((text) => /_configs:\n\s+- (?:url_file|to): \S+/.test(text))
      .map((text) => text.split("\n", 1)[0] ?? "");
    const wanted = firsts(routes, /receiver: (\S+)/g);
    expect(wanted.length).toBeGreaterThan(0);
    expect(without(wanted, complete)).toEqual([]);
    const files = firsts(read(path), /_file: (\S+)/g);
    expect([path, files]).toEqual([path, [SECRET_FILE]]);
    const severities = new Set(firsts(read(RULES), /severity: (\w+)/g));
    expect(without(firsts(routes, /severity="(\w+)"/g), [...severities])).toEqual([]);
    const alerts = firsts(read(RULES), /alert: (\w+)/g);
    const inhibited = firsts(routes, /alertname=~?"([^"]+)"/g).flatMap((names) =>
      names.split("|"),
    );
    expect(without(inhibited, alerts)).toEqual([]);
  }
});

const isInstalled = (tool: string): boolean =>
  spawnSync(tool, ["--version"]).error === undefined;

const run = (tool: string, parameters: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(tool, [...parameters], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return status === 0 ? "accepted" : `${stdout}${stderr}`;
};

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-alerting-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

// Where the tools are not installed, the tests above still compare the files with each other.

test.runIf(isInstalled("promtool"))(
  "promtool loads the scrape configuration with the rules, and their tests pass",
  () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "prometheus"));
    const config = join(folder, "prometheus", "prometheus.yml");
    const token = join(folder, "token");
    writeFileSync(token, "a token");
    writeFileSync(config, read(SCRAPING).replaceAll(TOKEN_FILE, token));
    copyFileSync(new URL(RULES, ROOT), join(folder, "prometheus", "rules.yml"));
    expect(run("promtool", ["check", "config", config])).toBe("accepted");
    expect(run("promtool", ["test", "rules", "ops/prometheus/rules.test.yml"])).toBe(
      "accepted",
    );
  },
  TOOL_MS,
);

/** Whether this version of amtool knows `url_file`, which Alertmanager 0.26 introduced. */
const knowsUrlFile = (): boolean => {
  const { stdout, stderr } = spawnSync("amtool", ["--version"], { encoding: "utf8" });
  const [, minor = "0"] = /version 0\.(\d+)/.exec(`${stdout}${stderr}`) ?? [];
  return Number(minor) >= 26;
};

test.runIf(isInstalled("amtool"))("amtool accepts Alertmanager's files", () => {
  const folder = temporaryFolder();
  for (const [index, path] of RECEIVERS.entries()) {
    const copy = join(folder, `${String(index)}.yml`);
    const text = read(path);
    writeFileSync(
      copy,
      knowsUrlFile() ? text : text.replace(/url_file: \S+/, "url: https://alerts.example.org"),
    );
    expect([path, run("amtool", ["check-config", copy])]).toEqual([path, "accepted"]);
  }
});
