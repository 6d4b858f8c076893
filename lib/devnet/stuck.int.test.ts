import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { numberToHex } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startAnvil, type AnvilProcess } from "./anvil-process";
import { devAddress } from "./accounts";
import { rpc, rpcBatch } from "./json-rpc";

const ROUNDS = 150;
const AT_ONCE = 20;
const ROUND_TIMEOUT_MS = 15_000;
const folder = mkdtempSync(join(tmpdir(), "causeway-stuck-"));
const senders = [devAddress("faucet"), devAddress("relayer")];

let chain: AnvilProcess;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 31337, port: 0, minesItself: true, logFile: join(folder, "log") });
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
});

const sendAtOnce = async (from: string): Promise<void> => {
  const nonce = Number(await rpc(chain.rpcUrl, "eth_getTransactionCount", [from, "pending"]));
  await rpcBatch(
    chain.rpcUrl,
    Array.from({ length: AT_ONCE }, (_, index) => ({
      method: "eth_sendTransaction",
      params: [{ from, to: from, value: "0x1", gas: numberToHex(50_000), nonce: numberToHex(nonce + index) }],
    })),
  );
  await vi.waitFor(
    async () => {
      const mined = Number(await rpc(chain.rpcUrl, "eth_getTransactionCount", [from, "latest"]));
      expect(mined, "Transactions are stuck.").toBe(nonce + AT_ONCE);
    },
    { timeout: ROUND_TIMEOUT_MS, interval: 20 },
  );
};

test("every transaction is mined, however many of one account arrive at once", async () => {
  for (let round = 0; round < ROUNDS; round += 1) await Promise.all(senders.map(sendAtOnce));
  expect(await rpc(chain.rpcUrl, "txpool_status")).toMatchObject({ pending: "0x0", queued: "0x0" });
});
