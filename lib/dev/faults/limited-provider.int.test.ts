/** A provider that answers few calls a second, without `RPC_BUDGET_<id>`. */
import { expect, test, vi } from "vitest";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testApi } from "@/lib/dev/testing/api";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { sharedDevnet } from "@/lib/dev/testing/hub";
import { balanceOnChain } from "@/lib/dev/testing/journey";
import { idOf, newPayer, pay, read, row, someone } from "@/lib/dev/testing/payout-requests";

const CHAIN = 31337;
const CALLS_A_SECOND = 25;
const ROWS = 200;
const WAIT = { timeout: 240_000, interval: 500 };

const { rpcUrls } = await sharedDevnet();
const nodeUrl = rpcUrls[CHAIN] ?? "";
const proxy = await startFaultProxy(nodeUrl);
afterFile(() => proxy.close());
const api = await testApi({
  worker: true,
  variables: { [`RPC_URL_${String(CHAIN)}`]: proxy.url },
});
const { registry } = api.services;

/**
 * Whether a call is one too many in the current second. Each tenth call is refused too, because a
 * loaded machine may send fewer calls than the provider allows.
 */
const isTooMany = (() => {
  let second = 0;
  let calls = 0;
  let all = 0;
  return (): boolean => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) [second, calls] = [now, 0];
    calls += 1;
    all += 1;
    return calls > CALLS_A_SECOND || all % 10 === 0;
  };
})();

test("a payout of 200 rows over a provider of 25 calls a second is paid whole and once", async () => {
  const { key } = await newPayer(api, "1000");
  const recipients = Array.from({ length: ROWS }, () => someone());
  let refusals = 0;
  // Providers say it with an error of JSON-RPC, or with a status alone.
  const refused = (kind: number) => () => {
    if (refusals % 2 !== kind || !isTooMany()) return false;
    refusals += 1;
    return true;
  };
  proxy.on({
    fault: { kind: "error", code: -32005, message: "daily request count exceeded" },
    when: refused(0),
  });
  proxy.on({ fault: { kind: "status", status: 429 }, when: refused(1) });
  const paid = await vi.waitFor(
    () =>
      pay(
        key,
        recipients.map((address) => row(address, "1")),
      ),
    WAIT,
  );
  await vi.waitFor(async () => {
    expect(await read(key, idOf(paid))).toMatchObject({ status: "completed" });
  }, WAIT);
  expect(refusals).toBeGreaterThan(0);
  proxy.clear();
  const { address: token } = registry.resolveToken(CHAIN, "USDC");
  for (const recipient of recipients)
    expect(await balanceOnChain(nodeUrl, token, recipient)).toBe(1_000_000n);
});
