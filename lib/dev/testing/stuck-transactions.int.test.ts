import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { numberToHex, parseEther, type Address } from "viem";
import { expect, test, vi } from "vitest";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { startGatedChain } from "@/lib/dev/devnet/journal/gated-chain";
import { createNoJournal } from "@/lib/dev/devnet/journal/no-journal";
import { rpc, rpcBatch } from "@/lib/dev/devnet/json-rpc";
import { afterFile } from "./after-file";
import { startBareAnvil } from "./bare-anvil";

const CHAIN_ID = 31337;
const ROUNDS = 40;
const AT_ONCE = 20;
const WAIT = { timeout: 15_000, interval: 20 };
const SIGNED = devAddress("faucet");
/** A sender whose transactions have no signature. */
const IMPERSONATED: Address = "0x00000000000000000000000000000000000000ee";
const SENDERS = [SIGNED, devAddress("relayer"), IMPERSONATED];

const startGated = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-gated-"));
  const chain = await startGatedChain({
    chainId: CHAIN_ID,
    port: 0,
    openJournal: () => createNoJournal({ chainId: CHAIN_ID, logFile: join(folder, "log") }),
    log: () => undefined,
    onNode: () => undefined,
  });
  afterFile(async () => {
    await chain.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return chain.rpcUrl;
};

const startBare = async (): Promise<string> => {
  const anvil = await startBareAnvil(CHAIN_ID);
  afterFile(() => anvil.stop());
  return anvil.url;
};

const urls = { gated: await startGated(), bare: await startBare() };
for (const url of Object.values(urls)) {
  await rpc(url, "anvil_impersonateAccount", [IMPERSONATED]);
  for (const address of SENDERS)
    await rpc(url, "anvil_setBalance", [address, numberToHex(parseEther("1000"))]);
}

const countOf = async (
  url: string,
  from: Address,
  block: "latest" | "pending",
): Promise<number> => Number(await rpc(url, "eth_getTransactionCount", [from, block]));

const callWith = (from: Address, nonce: number) => ({
  method: "eth_sendTransaction",
  params: [
    { from, to: from, value: "0x1", gas: numberToHex(50_000), nonce: numberToHex(nonce) },
  ],
});

const sendAtOnce = async (url: string, from: Address): Promise<void> => {
  const nonce = await countOf(url, from, "pending");
  await rpcBatch(
    url,
    Array.from({ length: AT_ONCE }, (_, index) => callWith(from, nonce + index)),
  );
  await vi.waitFor(
    async () =>
      expect(await countOf(url, from, "latest"), "Transactions are stuck.").toBe(
        nonce + AT_ONCE,
      ),
    WAIT,
  );
};

test.each(["gated", "bare"] as const)(
  "every transaction of a %s chain is mined, however many of one account arrive at once",
  async (kind) => {
    const url = urls[kind];
    for (let round = 0; round < ROUNDS; round += 1)
      await Promise.all(SENDERS.map((from) => sendAtOnce(url, from)));
    expect(await rpc(url, "txpool_status")).toMatchObject({ pending: "0x0", queued: "0x0" });
  },
);

/**
 * Puts a transaction into the state in which anvil forgets it: it waits for a nonce that is already
 * used.
 * @returns its hash
 */
const forgetOne = async (url: string, from: Address): Promise<unknown> => {
  const nonce = (await countOf(url, from, "latest")) + 1;
  const [hash] = await rpcBatch(url, [callWith(from, nonce)]);
  await rpc(url, "anvil_setNonce", [from, numberToHex(nonce)]);
  return hash;
};

test.each([
  ["signed", SIGNED],
  ["impersonated", IMPERSONATED],
])(
  "a transaction that a bare chain forgot, and that is %s, is mined under its own hash",
  async (_, from) => {
    const hash = await forgetOne(urls.bare, from);
    await vi.waitFor(
      async () =>
        expect(await rpc(urls.bare, "eth_getTransactionReceipt", [hash])).toMatchObject({
          status: "0x1",
        }),
      WAIT,
    );
  },
);
