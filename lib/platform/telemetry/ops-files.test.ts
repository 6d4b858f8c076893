import { readFileSync } from "node:fs";
import { register } from "prom-client";
import { expect, test } from "vitest";
import "@/lib/composition/metrics/metrics";
import "@/lib/http/metrics";
import "@/lib/composition/metrics/backlog-sampler";
import "@/lib/composition/metrics/call-metrics";
import "@/lib/composition/metrics/samplers";
import "@/lib/composition/metrics/gas-samplers";
import "@/lib/composition/metrics/upkeep-samplers";
import "./otlp";
import { anchorsOf } from "@/lib/dev/testing/documents";
import { createMetrics } from "./registry";

const RULES = "ops/prometheus/rules.yml";
const RULE_TESTS = "ops/prometheus/rules.test.yml";
const DASHBOARD = "ops/grafana/causeway.json";
const OPERATIONS = "docs/operations.md";

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const own = (name: string): boolean => name.startsWith("causeway_");

/** Metric names of an expression, without the endings of a histogram's series. */
const metricsOf = (expression: string): string[] => [
  ...new Set(
    [...expression.matchAll(/\b(?:causeway|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
      register.getSingleMetric(name) === undefined
        ? name.replace(/_(bucket|count|sum)$/, "")
        : name,
    ),
  ),
];

const expressions = (): string[] => {
  const text = read(RULES);
  const rules = [...text.matchAll(/expr: (['"])(.*)\1/g)].map(
    ([, , expression]) => expression ?? "",
  );
  expect(rules).toHaveLength(text.match(/- alert:/g)?.length ?? 0);
  const { panels } = JSON.parse(read(DASHBOARD)) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return [...rules, ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))];
};

createMetrics({
  samplers: {},
  clock: { now: () => new Date(0) },
  log: { warn: () => undefined },
});

test("every metric that rules and dashboard name exists, with the labels that they select by", async () => {
  const known = new Map(
    (await register.getMetricsAsJSON()).map((metric) => [metric.name, metric]),
  );
  const all = expressions();
  expect(all.length).toBeGreaterThan(40);
  expect(all.flatMap(metricsOf).filter((name) => !known.has(name))).toEqual([]);
  const selected = all.flatMap((expression) =>
    [...expression.matchAll(/(causeway_[a-z_]+)\{([^}]*)\}/g)].flatMap(
      ([, name = "", selectors = ""]) =>
        [...selectors.matchAll(/([a-z_]+)=/g)].map(
          ([, label = ""]) => [metricsOf(name)[0] ?? "", label] as const,
        ),
    ),
  );
  expect(selected.length).toBeGreaterThan(3);
  const labelsOf = (name: string): readonly string[] =>
    (register.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames;
  expect(selected.filter(([name, label]) => !labelsOf(name).includes(label))).toEqual([]);
});

test("every alert has a row and a chapter in the documentation, and a test", () => {
  const rules = read(RULES);
  const anchors = anchorsOf(read(OPERATIONS));
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name ?? "");
  const runbooks = [...rules.matchAll(/runbook: docs\/operations\.md#([a-z0-9-]+)/g)].map(
    ([, anchor]) => anchor ?? "",
  );
  expect(alerts.length).toBeGreaterThan(12);
  expect(runbooks).toHaveLength(alerts.length);
  expect(runbooks.filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  const rows = [
    ...read(OPERATIONS).matchAll(
      /^\| `(Causeway\w+)` \| (\w+) \| .+ \| \[.+\]\(#([a-z0-9-]+)\) \|$/gm,
    ),
  ].map(([, name, severity, anchor]) => [name, severity, anchor]);
  const written = [
    ...rules.matchAll(
      /alert: (\w+)[\s\S]*?severity: (\w+)[\s\S]*?runbook: docs\/operations\.md#([a-z0-9-]+)/g,
    ),
  ].map(([, name, severity, anchor]) => [name, severity, anchor]);
  expect(rows).toEqual(written);
  const tested = new Set(
    [...read(RULE_TESTS).matchAll(/alertname: (\w+)/g)].map(([, name]) => name ?? ""),
  );
  expect(alerts.filter((name) => !tested.has(name))).toEqual([]);
});

test("the documentation names every metric", async () => {
  const documented = `${read(OPERATIONS)}\n${read("docs/webhooks.md")}`;
  const names = (await register.getMetricsAsJSON()).map(({ name }) => name).filter(own);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !documented.includes(`\`${name}`))).toEqual([]);
});

test("names follow Prometheus: a counter ends in _total, and nothing else does", async () => {
  const metrics = (await register.getMetricsAsJSON()).filter(({ name }) => own(name));
  const wrong = metrics.filter(
    ({ name, type }) => name.endsWith("_total") !== (String(type) === "counter"),
  );
  expect(wrong.map(({ name }) => name)).toEqual([]);
});
