import { register } from "prom-client";
import { expect, test } from "vitest";
import { DomainError } from "@/lib/core/errors";
import { WaitsForTurnError, type Bundler, type UserOperation } from "@/lib/chain/ports/bundler";
import { observedBundler } from "./metrics";

const CHAIN = 77_001;
const operation = { sender: "0x01", nonce: 5n } as unknown as UserOperation;

const refusing = (error: Error) => {
  const lines: object[] = [];
  const bundler = {
    submit: () => Promise.reject(error),
    estimateGas: () => Promise.reject(error),
  } as unknown as Bundler;
  return {
    lines,
    observed: observedBundler(bundler, { warn: (fields) => void lines.push(fields) }),
  };
};

const counted = async (stage: string, code: string): Promise<number> => {
  const metric = await register.getSingleMetric("causeway_bundler_refusals_total")?.get();
  const found = metric?.values.find(
    ({ labels }) =>
      labels.chain === String(CHAIN) && labels.stage === stage && labels.code === code,
  );
  return found?.value ?? 0;
};

test("a refusal is logged and counted with its code of ERC-4337, and thrown on", async () => {
  const error = new DomainError("simulation_failed", "No.", {
    extra: { reason: "AA21 no prefund", entryPointCode: "AA21" },
  });
  const { lines, observed } = refusing(error);
  await expect(observed.submit(CHAIN, operation)).rejects.toBe(error);
  expect(lines).toEqual([
    {
      chainId: CHAIN,
      stage: "submit",
      sender: "0x01",
      nonce: "5",
      entryPointCode: "AA21",
      reason: "AA21 no prefund",
    },
  ]);
  expect(await counted("submit", "AA21")).toBe(1);
});

test("calls that revert in an estimate are counted and not logged; an operation that waits for its turn is neither", async () => {
  const { lines, observed } = refusing(
    new DomainError("simulation_failed", "No.", { extra: { reason: "reverted" } }),
  );
  await observed.estimateGas(CHAIN, operation).catch(() => undefined);
  expect(await counted("estimate", "other")).toBe(1);
  const waiting = refusing(new WaitsForTurnError());
  await waiting.observed.submit(CHAIN, operation).catch(() => undefined);
  expect(await counted("submit", "other")).toBe(0);
  expect([...lines, ...waiting.lines]).toEqual([]);
});
