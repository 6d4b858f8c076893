import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { listAuditLog } from "@/lib/contracts/audit";
import {
  getReportingCurrency,
  listCurrencyRates,
  setReportingCurrency,
} from "@/lib/contracts/reporting";
import { testApi, type TestApi } from "@/lib/dev/testing/api";

const FEED = { source: "chainlink", at: expect.any(String) as string };
const EUR = { usd: "1.08", ...FEED };

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});

/** A service whose rates come from a file. Returns it with a function that writes the file. */
const withRateFile = async (content: string) => {
  const folder = mkdtempSync(join(tmpdir(), "rates-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rates.json");
  writeFileSync(file, content);
  return testApi({ devnet: false, variables: { FX_RATES_FILE: file } });
};

test("a project begins with US dollars, and an owner chooses a currency that has a rate", async () => {
  const { client } = await api.signIn();
  expect(await client.call(getReportingCurrency)).toEqual({ currency: "USD", rate: null });
  expect(await client.call(listCurrencyRates)).toEqual({
    data: [
      { currency: "EUR", rate: EUR },
      { currency: "GBP", rate: { usd: "1.27", ...FEED } },
      { currency: "CHF", rate: { usd: "1.13", ...FEED } },
    ],
  });
  const chosen = { currency: "EUR", rate: EUR };
  const body = { currency: "EUR" } as const;
  expect(await client.call(setReportingCurrency, { body })).toEqual(chosen);
  expect(await client.call(setReportingCurrency, { body })).toEqual(chosen);
  expect(await client.call(getReportingCurrency)).toEqual(chosen);
  const { data } = await client.call(listAuditLog, {
    query: { action: "project.reporting_currency" },
  });
  expect(data.map((entry) => entry.data)).toEqual([{ currency: "EUR", before: "USD" }]);
  const stranger = await api.signIn();
  expect(await stranger.client.call(getReportingCurrency)).toMatchObject({ currency: "USD" });
});

test("two people who change it at once leave one of their currencies, with one record each", async () => {
  const { client } = await api.signIn();
  const answers = await Promise.allSettled(
    (["EUR", "GBP", "CHF"] as const).map((currency) =>
      client.call(setReportingCurrency, { body: { currency } }),
    ),
  );
  const made = answers.filter(({ status }) => status === "fulfilled").length;
  expect(made).toBeGreaterThan(0);
  const { data } = await client.call(listAuditLog, {
    query: { action: "project.reporting_currency" },
  });
  expect(data).toHaveLength(made);
  const { currency } = await client.call(getReportingCurrency);
  expect(data[0]?.data).toMatchObject({ currency });
});

test("a file gives the rates in place of feeds, and a new file is read without a restart", async () => {
  const at = "2026-12-01T16:00:00.000Z";
  const own = await withRateFile(JSON.stringify({ CHF: { usd: "1.1301", at } }));
  const { client } = await own.signIn();
  expect(await client.call(listCurrencyRates)).toEqual({
    data: [
      { currency: "EUR", rate: null },
      { currency: "GBP", rate: null },
      { currency: "CHF", rate: { usd: "1.1301", at, source: "file" } },
    ],
  });
  const refused = client.call(setReportingCurrency, { body: { currency: "EUR" } });
  await expect(refused).rejects.toMatchObject({
    status: 400,
    code: "invalid_request",
    details: [{ path: "currency" }],
  });
  await client.call(setReportingCurrency, { body: { currency: "CHF" } });
  expect(await client.call(getReportingCurrency)).toMatchObject({
    currency: "CHF",
    rate: { usd: "1.1301" },
  });
});

test.each([
  ["is no JSON", "{"],
  ["has a rate of zero", '{"EUR": {"usd": "0.00", "at": "2026-12-01T16:00:00Z"}}'],
  ["has an unknown currency", '{"JPY": {"usd": "1", "at": "2026-12-01T16:00:00Z"}}'],
  ["has a rate without a time", '{"EUR": {"usd": "1.08"}}'],
])("while the file %s, no rate is known and pages stay in US dollars", async (_, content) => {
  const own = await withRateFile(content);
  const { client } = await own.signIn();
  const { data } = await client.call(listCurrencyRates);
  expect(data.map(({ rate }) => rate)).toEqual([null, null, null]);
  expect(await client.call(getReportingCurrency)).toEqual({ currency: "USD", rate: null });
});
